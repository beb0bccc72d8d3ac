import type { Engine } from '../../shared/engine.ts';
import { linesOf } from './archive.ts';
import { jsonLine, type Output } from './output.ts';

/** The key of a subject as it is kept: wrapped by the master key, or destroyed. */
interface WrappedKey {
  subject: string;
  /** Base64; absent once the person was erased. */
  wrapped?: string;
  erasedAt?: string;
}

const ROWS_AT_ONCE = 1_000;

/** Writes the wrapped keys of all subjects, a line each. Without the master key they open nothing. */
export async function exportKeys({ pool }: Engine, out: Output): Promise<number> {
  let written = 0;
  for (let after = ''; ; ) {
    const { rows } = await pool.query<{ subject: string; wrapped: Buffer | null; erased_at: Date | null }>(
      'SELECT subject, wrapped, erased_at FROM subject_keys WHERE subject > $1 ORDER BY subject LIMIT $2',
      [after, ROWS_AT_ONCE],
    );
    for (const { subject, wrapped, erased_at: erasedAt } of rows) {
      const key: WrappedKey = {
        subject,
        ...(wrapped && { wrapped: wrapped.toString('base64') }),
        ...(erasedAt && { erasedAt: erasedAt.toISOString() }),
      };
      await out.stream(jsonLine(key));
    }
    written += rows.length;
    if (rows.length < ROWS_AT_ONCE) return written;
    after = rows.at(-1)!.subject;
  }
}

/**
 * Brings wrapped keys in. One that is there already stays, unless the incoming one was destroyed: an erasure is for good. Throws when
 * they were wrapped by another master key than this deployment's.
 */
export async function importKeys(engine: Engine, source: string | NodeJS.ReadableStream): Promise<number> {
  let imported = 0;
  let batch: WrappedKey[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    await insert(engine, batch);
    imported += batch.length;
    batch = [];
  };
  for await (const line of linesOf(source)) {
    const key = keyIn(line);
    if (!key) throw new Error(`Line ${imported + batch.length + 1} is no key: the file is damaged, or was cut off.`);
    batch.push(key);
    if (batch.length === ROWS_AT_ONCE) await flush();
  }
  await flush();
  return imported;
}

function keyIn(line: string): WrappedKey | undefined {
  try {
    const key: WrappedKey = Object(JSON.parse(line));
    const isKey = typeof key.subject === 'string' && (key.wrapped === undefined) !== (key.erasedAt === undefined);
    return isKey ? key : undefined;
  } catch {
    return undefined;
  }
}

async function insert({ pool, keys }: Engine, batch: readonly WrappedKey[]): Promise<void> {
  const isForeign = batch.some(
    ({ subject, wrapped }) => wrapped !== undefined && !keys.opens(subject, Buffer.from(wrapped, 'base64')),
  );
  if (isForeign) {
    throw new Error(
      'These keys were wrapped by another master key. Set MASTER_KEY to the one of the deployment that they come from.',
    );
  }
  await pool.query(
    `INSERT INTO subject_keys (subject, wrapped, erased_at)
     SELECT subject, decode(wrapped, 'base64'), erased_at
       FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS k(subject, wrapped, erased_at)
     ON CONFLICT (subject) DO UPDATE SET wrapped = NULL, erased_at = excluded.erased_at WHERE excluded.wrapped IS NULL`,
    [
      batch.map(({ subject }) => subject),
      batch.map(({ wrapped }) => wrapped ?? null),
      batch.map(({ erasedAt }) => erasedAt ?? null),
    ],
  );
}
