import type { Engine } from './engine.ts';

/**
 * Whether the master key is the one that the personal data in the database is encrypted with; undefined while nothing is. The first key
 * tells: a later one may be a wrong master key's.
 */
export async function isRightMasterKey({ pool, keys }: Pick<Engine, 'pool' | 'keys'>): Promise<boolean | undefined> {
  const { rows } = await pool.query<{ subject: string; wrapped: Buffer }>(
    'SELECT subject, wrapped FROM subject_keys WHERE wrapped IS NOT NULL ORDER BY created_at LIMIT 1',
  );
  const [first] = rows;
  return first && keys.opens(first.subject, first.wrapped);
}

/** A program with another key than the others would make data that they cannot read, at which read models stop, and read none of theirs. */
export async function requireRightMasterKey(engine: Pick<Engine, 'pool' | 'keys'>): Promise<void> {
  if ((await isRightMasterKey(engine)) !== false) return;
  throw new Error('MASTER_KEY is not the key that the personal data in this database is encrypted with.');
}
