import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { SubjectKeys } from '../../kernel/subject-keys.port.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CACHED_KEYS = 20_000;
/** A key destroyed by another process is forgotten here after this long. */
const CACHED_MS = 1_000;

/** Keys of subjects in Postgres, each wrapped by the master key (AES-256-GCM bound to the subject). */
export class PostgresSubjectKeys implements SubjectKeys {
  private readonly cache = new LRUCache<string, Buffer>({ max: CACHED_KEYS, ttl: CACHED_MS });
  private readonly pool: pg.Pool;
  private readonly masterKey: Buffer;

  constructor(pool: pg.Pool, masterKey: Buffer) {
    this.pool = pool;
    this.masterKey = masterKey;
  }

  async ensure(subjects: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = await this.find(subjects);
    const missing = subjects.filter((subject) => !found.has(subject)).sort();
    if (missing.length === 0) return found;
    await this.pool.query(
      `INSERT INTO subject_keys (subject, wrapped) SELECT * FROM unnest($1::text[], $2::bytea[]) ON CONFLICT (subject) DO NOTHING`,
      [missing, missing.map((subject) => this.wrap(subject, randomBytes(KEY_BYTES)))],
    );
    return this.find(subjects);
  }

  async find(subjects: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    const unknown: string[] = [];
    for (const subject of subjects) {
      const key = this.cache.get(subject);
      if (key) found.set(subject, key);
      else unknown.push(subject);
    }
    if (unknown.length === 0) return found;
    const { rows } = await this.pool.query<{ subject: string; wrapped: Buffer }>({
      name: 'find_subject_keys',
      text: 'SELECT subject, wrapped FROM subject_keys WHERE subject = ANY($1) AND wrapped IS NOT NULL',
      values: [unknown],
    });
    for (const { subject, wrapped } of rows) {
      const key = this.unwrap(subject, wrapped);
      this.cache.set(subject, key);
      found.set(subject, key);
    }
    return found;
  }

  async destroy(subject: string): Promise<void> {
    await this.pool.query(
      `INSERT INTO subject_keys (subject, wrapped, erased_at) VALUES ($1, NULL, now())
       ON CONFLICT (subject) DO UPDATE SET wrapped = NULL, erased_at = now()`,
      [subject],
    );
    this.cache.delete(subject);
  }

  /** Whether a wrapped key is one of this subject's that this master key opens. */
  opens(subject: string, wrapped: Buffer): boolean {
    try {
      return this.unwrap(subject, wrapped).length === KEY_BYTES;
    } catch {
      return false; // another master key, another subject, or damage
    }
  }

  private wrap(subject: string, key: Buffer): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.masterKey, iv).setAAD(Buffer.from(subject));
    const text = Buffer.concat([cipher.update(key), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]);
  }

  private unwrap(subject: string, wrapped: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.masterKey, wrapped.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(subject))
      .setAuthTag(wrapped.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(wrapped.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  }
}
