import type pg from 'pg';
import type { KeyedAnswer, KeyedAnswers } from '../../kernel/event-store.port.ts';

interface Lookup {
  key: string;
  resolve(answer: KeyedAnswer | undefined): void;
  reject(error: unknown): void;
}

/** The remembered answers of keyed requests. Look-ups made at the same moment share one query. */
export class PostgresKeyedAnswers implements KeyedAnswers {
  private readonly pool: pg.Pool;
  private waiting: Lookup[] = [];
  private busy = false;

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  find(key: string): Promise<KeyedAnswer | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (!this.busy) void this.lookUp();
    });
  }

  async remember(answer: KeyedAnswer, stream = ''): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'remember_answer',
      text: `INSERT INTO keyed_answers (key, body_hash, status, body, stream, position) VALUES ($1, $2, $3, $4, $5, 0) ON CONFLICT DO NOTHING`,
      values: [answer.key, answer.bodyHash, answer.status, answer.body, stream],
    });
    return rowCount === 1;
  }

  async forgetOld(hours = 48): Promise<number> {
    const { rowCount } = await this.pool.query(
      `DELETE FROM keyed_answers WHERE created_at < now() - make_interval(hours => $1)`,
      [Math.max(24, hours)],
    );
    return rowCount ?? 0;
  }

  private async lookUp(): Promise<void> {
    this.busy = true;
    await null; // lets the look-ups of this moment gather
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, 500);
      try {
        const { rows } = await this.pool.query<{ key: string; body_hash: string; status: number; body: string }>({
          name: 'find_answers',
          text: 'SELECT key, body_hash, status, body FROM keyed_answers WHERE key = ANY($1)',
          values: [batch.map((one) => one.key)],
        });
        const found = new Map(rows.map((row) => [row.key, row]));
        for (const { key, resolve } of batch) {
          const row = found.get(key);
          resolve(row && { key, bodyHash: row.body_hash, status: row.status, body: row.body });
        }
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    this.busy = false;
  }
}
