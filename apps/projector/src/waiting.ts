import type pg from 'pg';
import type { AnyProjection, StateRow } from '../../../libs/kernel/projection.ts';
import { processes } from '../../../projections/index.ts';
import { insertTimers, type Timer } from './timers.ts';

const ROWS_AT_ONCE = 1_000;

/** The timers that there have to be for the rows of a read model, followed while the rows are made. */
export class Waiting {
  /** By stream. */
  private readonly timers = new Map<string, Timer>();
  private readonly processes: typeof processes;

  constructor(projection: AnyProjection) {
    this.processes = processes.filter((one) => one.projection === projection);
  }

  take(rows: Iterable<object>): void {
    if (this.processes.length === 0) return;
    for (const row of rows as Iterable<StateRow>) {
      for (const { process } of this.processes) {
        const stream = `${process.decider.name}-${row.id}`;
        const at = process.dueAt(row.state);
        const { platform, environment } = row;
        if (at === undefined) this.timers.delete(stream);
        else this.timers.set(stream, { stream, process: process.name, at, platform, environment });
      }
    }
  }

  /** Those that are not there. */
  async *missing(client: Pick<pg.ClientBase, 'query'>): AsyncGenerator<Timer> {
    const all = [...this.timers.values()];
    for (let from = 0; from < all.length; from += ROWS_AT_ONCE) {
      const some = all.slice(from, from + ROWS_AT_ONCE);
      const { rows } = await client.query<{ stream: string }>('SELECT stream FROM timers WHERE stream = ANY($1)', [
        some.map(({ stream }) => stream),
      ]);
      const there = new Set(rows.map(({ stream }) => stream));
      yield* some.filter(({ stream }) => !there.has(stream));
    }
  }

  /** Makes those that are not there. To be called while no projector can change the rows. */
  async makeUp(client: Pick<pg.ClientBase, 'query'>): Promise<void> {
    const missing: Timer[] = [];
    for await (const timer of this.missing(client)) missing.push(timer);
    await insertTimers(client, missing);
  }
}
