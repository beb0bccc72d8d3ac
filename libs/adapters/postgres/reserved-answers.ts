import type pg from 'pg';
import type { KeyedAnswer, KeyedAnswers, Reservation } from '../../kernel/event-store.port.ts';
import { PostgresKeyedAnswers } from './keyed-answers.ts';

interface Waiting {
  key: string;
  bodyHash: string;
  resolve(reservation: Reservation): void;
  reject(error: unknown): void;
}

interface ReservationRow {
  key: string;
  body_hash: string;
  status: number | null;
  body: string | null;
  position: string | null;
  is_first: boolean | null;
}

const AT_ONCE = 500;

/**
 * The answers of keyed requests beside an event store of another kind. A key is reserved before anything is appended; the reservation
 * stays beside the answer, so that nobody can take an answered or a crashed request for a first one. Reservations made at the same moment
 * share one statement.
 */
export class ReservedAnswers implements KeyedAnswers {
  private readonly pool: pg.Pool;
  private readonly reached: () => number;
  private readonly answers: PostgresKeyedAnswers;
  private waiting: Waiting[] = [];
  private busy = false;

  /** `reached`: a position that the log has reached, so that what is appended from now on comes after it. */
  constructor(pool: pg.Pool, reached: () => number) {
    this.pool = pool;
    this.reached = reached;
    this.answers = new PostgresKeyedAnswers(pool);
  }

  find(key: string): Promise<KeyedAnswer | undefined> {
    return this.answers.find(key);
  }

  remember(answer: KeyedAnswer, stream?: string): Promise<boolean> {
    return this.answers.remember(answer, stream);
  }

  reserve(key: string, bodyHash: string): Promise<Reservation> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, bodyHash, resolve, reject });
      if (!this.busy) void this.reserveWaiting();
    });
  }

  /** The position stays: whoever comes next with this key looks from there on. */
  async release(key: string): Promise<void> {
    await this.pool.query({
      name: 'release_key',
      text: 'UPDATE key_reservations SET body_hash = NULL WHERE key = $1',
      values: [key],
    });
  }

  async forgetOld(hours = 48): Promise<number> {
    const forgotten = await this.answers.forgetOld(hours);
    await this.pool.query(`DELETE FROM key_reservations WHERE created_at < now() - make_interval(hours => $1)`, [
      Math.max(24, hours),
    ]);
    return forgotten;
  }

  /** Those of the keys that have an answer. */
  async taken(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.pool.query<{ key: string }>({
      name: 'taken_keys',
      text: 'SELECT key FROM keyed_answers WHERE key = ANY($1)',
      values: [keys],
    });
    return new Set(rows.map((row) => row.key));
  }

  /** Keeps answers; says which of the keys had another one already. */
  async record(answers: readonly (KeyedAnswer & { stream: string; position: number })[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.pool.query<{ key: string }>({
      name: 'record_answers',
      text: `INSERT INTO keyed_answers (key, body_hash, status, body, stream, position)
             SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::bigint[])
             ON CONFLICT DO NOTHING RETURNING key`,
      values: [
        answers.map((a) => a.key),
        answers.map((a) => a.bodyHash),
        answers.map((a) => a.status),
        answers.map((a) => a.body),
        answers.map((a) => a.stream),
        answers.map((a) => a.position),
      ],
    });
    const kept = new Set(rows.map((row) => row.key));
    return new Set(answers.map(({ key }) => key).filter((key) => !kept.has(key)));
  }

  private async reserveWaiting(): Promise<void> {
    this.busy = true;
    await null; // lets the reservations of this moment gather
    while (this.waiting.length > 0) {
      const batch = this.nextBatch();
      try {
        const rows = await this.reserveAll(batch);
        for (const { key, resolve } of batch) resolve(reservationOf(rows.get(key)!));
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    this.busy = false;
  }

  /** A key is in a statement once; whoever comes with the same one at the same moment is in the next. */
  private nextBatch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const one of this.waiting) {
      if (batch.size < AT_ONCE && !batch.has(one.key)) batch.set(one.key, one);
      else later.push(one);
    }
    this.waiting = later;
    return [...batch.values()];
  }

  private async reserveAll(batch: readonly Waiting[]): Promise<Map<string, ReservationRow>> {
    const { rows } = await this.pool.query<ReservationRow>({
      name: 'reserve_keys',
      text: `WITH asked AS (SELECT * FROM unnest($1::text[], $2::text[]) AS a(key, body_hash)),
                  reserved AS (
                    INSERT INTO key_reservations AS r (key, body_hash, position)
                    SELECT key, body_hash, $3 FROM asked ORDER BY key
                    ON CONFLICT (key) DO UPDATE SET body_hash = COALESCE(r.body_hash, excluded.body_hash)
                    RETURNING key, body_hash, position, xmax = 0 AS is_first
                  )
             SELECT r.key, COALESCE(k.body_hash, r.body_hash) AS body_hash, k.status, k.body, r.position, r.is_first
               FROM reserved r LEFT JOIN keyed_answers k USING (key)`,
      values: [batch.map((one) => one.key), batch.map((one) => one.bodyHash), this.reached()],
    });
    return new Map(rows.map((row) => [row.key, row]));
  }
}

function reservationOf(row: ReservationRow): Reservation {
  const { key, body_hash: bodyHash, status, body } = row;
  if (status !== null) return { state: 'answered', answer: { key, bodyHash, status, body: body! } };
  return row.is_first ? { state: 'first' } : { state: 'begun', bodyHash, since: Number(row.position) };
}
