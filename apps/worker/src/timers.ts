import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { timestamp } from '../../../libs/kernel/clock.ts';
import { Rejection } from '../../../libs/kernel/errors.ts';
import { type Environment, streamIdOf } from '../../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { WritePath } from '../../../libs/runtime/execute.ts';
import type { PlatformClock } from '../../../libs/runtime/platform-clock.ts';
import { every } from '../../shared/part.ts';

export interface TimersOptions {
  pool: pg.Pool;
  writePath: WritePath;
  processes: readonly AnyProcess[];
  clock: PlatformClock;
  log: (level: 'warn' | 'error', message: string, error?: unknown) => void;
  pollMs?: number;
}

interface DueTimer {
  stream: string;
  process: string;
  platform: string;
  environment: Environment;
  /** How far the clock of the platform was ahead when the timer was found to be due. */
  ahead_ms: string | null;
}

const BATCH = 200;
/** A timer that was taken comes due again after this long, unless its stream has moved on by then. */
const LEASE_SECONDS = 10;

/** Wakes the streams whose time has come, by the clock of their platform. Any number of programs may do it at once: each due timer is taken by one of them. */
export class Timers {
  private readonly options: TimersOptions;
  private readonly processes: ReadonlyMap<string, AnyProcess>;
  private end: (() => Promise<void>) | undefined;
  private isEnding = false;

  constructor(options: TimersOptions) {
    this.options = options;
    this.processes = new Map(options.processes.map((process) => [process.name, process]));
  }

  start(): void {
    const { log, pollMs = 200 } = this.options;
    this.end = every(
      pollMs,
      () => this.wakeDue(),
      (error) => log('warn', 'due timers could not be taken', error),
    );
  }

  /** Finishes the one it has in hand; those taken with it come due again. */
  async stop(): Promise<void> {
    this.isEnding = true;
    await this.end?.();
  }

  /** Takes what is due and wakes it, earliest first; says how many there were. */
  async wakeDue(): Promise<number> {
    const { rows } = await this.options.pool.query<DueTimer>({
      name: 'take_timers',
      text: `WITH due AS (
               SELECT stream, due_at FROM timers WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
             ), taken AS (
               UPDATE timers t SET due_at = $1::timestamptz + make_interval(secs => $3) FROM due WHERE t.stream = due.stream
               RETURNING t.stream, t.process, t.platform, t.environment, due.due_at AS was_due
             )
             SELECT stream, process, platform, environment, c.ahead_ms FROM taken
               LEFT JOIN sandbox_clocks c USING (platform, environment) ORDER BY was_due`,
      values: [timestamp(this.options.clock.nowMs()), BATCH, LEASE_SECONDS],
    });
    for (const row of rows) {
      if (this.isEnding) break;
      await this.wake(row);
    }
    return rows.length;
  }

  private async wake({ stream, process: name, platform, environment, ahead_ms: aheadMs }: DueTimer): Promise<void> {
    const process = this.processes.get(name);
    if (!process) return this.options.log('error', `a timer of ${stream} is for ${name}, which nobody runs`);
    const commandId = randomUUID();
    const tenant = { platform, environment };
    const { clock, writePath } = this.options;
    if (aheadMs !== null) clock.learn(tenant, Number(aheadMs));
    try {
      const { state } = await writePath.state(process.decider, streamIdOf(stream));
      const command = process.wake(state, timestamp(clock.nowMs(tenant)));
      if (!command) return;
      await writePath.execute(process.decider, command, {
        commandId,
        correlationId: commandId,
        actor: `process:${name}`,
        tenant,
      });
    } catch (error) {
      // The stream moved on between the look and the command; everything else is tried again when the lease is over.
      if (!(error instanceof Rejection && error.status < 500))
        this.options.log('warn', `${stream} could not be woken`, error);
    }
  }
}
