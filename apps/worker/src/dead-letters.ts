import type pg from 'pg';
import { messageOf } from '../../../libs/kernel/errors.ts';
import { type Environment, streamIdOf, type Tenant } from '../../../libs/kernel/messages.ts';
import type { AnyProcess } from '../../../libs/kernel/process.ts';
import type { Calls, Driver } from '../../../libs/runtime/drive.ts';
import { every } from '../../shared/part.ts';

/** Work of a process on a stream that failed until its last try. */
export interface DeadLetter {
  process: string;
  stream: string;
  /** Place of the event that says there is something to do. */
  position: number;
  revision: number;
  tenant: Tenant;
  correlationId: string;
  attempts: number;
  firstFailedAt: Date;
  error: unknown;
}

const ERROR_LENGTH = 2_000;

/** Parks work with its error, so that an operator finds it (`ops dead-letters`). A stream's later work replaces its earlier. */
export async function park(pool: Pick<pg.Pool, 'query'>, letter: DeadLetter): Promise<void> {
  const { process, stream, position, revision, tenant, correlationId, attempts, firstFailedAt, error } = letter;
  await pool.query(
    `INSERT INTO dead_letters (process, stream, position, revision, platform, environment, correlation_id, attempts, first_failed_at, error)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (process, stream) DO UPDATE SET position = excluded.position, revision = excluded.revision,
       correlation_id = excluded.correlation_id, attempts = dead_letters.attempts + excluded.attempts, error = excluded.error,
       parked_at = now(), status = 'PARKED', taken_at = NULL, given_up_at = NULL, given_up_by = NULL, given_up_reason = NULL`,
    [
      process,
      stream,
      position,
      revision,
      tenant.platform,
      tenant.environment,
      correlationId,
      attempts,
      firstFailedAt,
      excerptOf(error),
    ],
  );
}

const excerptOf = (error: unknown): string => messageOf(error).slice(0, ERROR_LENGTH);

export interface RetriesOptions {
  pool: pg.Pool;
  driver: Driver;
  processes: readonly AnyProcess[];
  calls: Calls;
  log: (level: 'info' | 'warn' | 'error', message: string, error?: unknown) => void;
  pollMs?: number;
}

interface ParkedRow {
  process: string;
  stream: string;
  revision: string;
  platform: string;
  environment: Environment;
  correlation_id: string;
}

const BATCH = 20;
const POLL_MS = 1_000;
/** Work that was taken by a worker which has not said what came of it is taken by another one after so long. */
const TAKEN_SECONDS = 60;

/** Takes parked work up again when an operator asks for it: one more try each. Any number of workers may do it at once. */
export class Retries {
  private readonly options: RetriesOptions;
  private readonly processes: ReadonlyMap<string, AnyProcess>;
  private end: (() => Promise<void>) | undefined;

  constructor(options: RetriesOptions) {
    this.options = options;
    this.processes = new Map(options.processes.map((process) => [process.name, process]));
  }

  start(): void {
    const { log, pollMs = POLL_MS } = this.options;
    this.end = every(
      pollMs,
      () => this.takeUp(),
      (error) => log('warn', 'parked work could not be looked for', error),
    );
  }

  /** Finishes what it has in hand. */
  async stop(): Promise<void> {
    await this.end?.();
  }

  private async takeUp(): Promise<void> {
    const { rows } = await this.options.pool.query<ParkedRow>({
      name: 'take_dead_letters',
      text: `UPDATE dead_letters d SET status = 'RETRYING', taken_at = now()
               FROM (SELECT process, stream FROM dead_letters
                      WHERE status LIKE 'RETRY%' AND process = ANY($1)
                        AND (status = 'RETRY' OR taken_at < now() - make_interval(secs => $2))
                      ORDER BY parked_at LIMIT $3 FOR UPDATE SKIP LOCKED) due
              WHERE d.process = due.process AND d.stream = due.stream
             RETURNING d.process, d.stream, d.revision, d.platform, d.environment, d.correlation_id`,
      values: [[...this.processes.keys()], TAKEN_SECONDS, BATCH],
    });
    await Promise.all(rows.map((row) => this.retry(row)));
  }

  private async retry(row: ParkedRow): Promise<void> {
    const { pool, driver, calls, log } = this.options;
    const { process: name, stream, platform, environment } = row;
    const drive = {
      tenant: { platform, environment },
      correlationId: row.correlation_id,
      revision: Number(row.revision),
    };
    try {
      await driver.drive(this.processes.get(name)!, streamIdOf(stream), drive, calls);
      await pool.query(`DELETE FROM dead_letters WHERE process = $1 AND stream = $2`, [name, stream]);
      log('info', `${name} of ${stream}, which was parked, goes on`);
    } catch (error) {
      log('warn', `${name} of ${stream} is parked again`, error);
      await pool.query(
        `UPDATE dead_letters SET status = 'PARKED', attempts = attempts + 1, error = $3, parked_at = now(), taken_at = NULL
          WHERE process = $1 AND stream = $2`,
        [name, stream, excerptOf(error)],
      );
    }
  }
}
