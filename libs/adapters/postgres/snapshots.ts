import type pg from 'pg';
import type { Snapshot } from '../../kernel/event-store.port.ts';

/** The newest snapshot of each stream, in Postgres whatever store holds the events: they can be lost without loss. */
export class PostgresSnapshots {
  private readonly pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  async load(streams: readonly string[]): Promise<Map<string, Snapshot>> {
    const { rows } = await this.pool.query<SnapshotRow>({
      name: 'load_snapshots',
      text: `SELECT stream, revision, position, version, state, command_window FROM snapshots WHERE stream = ANY($1)`,
      values: [streams],
    });
    return new Map(rows.map((row) => [row.stream, snapshotOf(row)]));
  }

  /** An older one does not replace a newer one of the same version. */
  async save(snapshots: readonly Snapshot[]): Promise<void> {
    if (snapshots.length === 0) return;
    await this.pool.query({
      name: 'save_snapshots',
      text: `INSERT INTO snapshots (stream, revision, position, version, state, command_window)
             SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::text[])
             ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, position = excluded.position,
               version = excluded.version, state = excluded.state, command_window = excluded.command_window
             WHERE snapshots.revision < excluded.revision OR snapshots.version <> excluded.version`,
      values: [
        snapshots.map((s) => s.stream),
        snapshots.map((s) => s.revision),
        snapshots.map((s) => s.position),
        snapshots.map((s) => s.version),
        snapshots.map((s) => s.state),
        snapshots.map((s) => s.window),
      ],
    });
  }
}

interface SnapshotRow {
  stream: string;
  revision: string;
  position: string;
  version: number;
  state: string;
  command_window: string;
}

const snapshotOf = (row: SnapshotRow): Snapshot => ({
  stream: row.stream,
  revision: Number(row.revision),
  position: Number(row.position),
  version: row.version,
  state: row.state,
  window: row.command_window,
});
