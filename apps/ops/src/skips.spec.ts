import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { opsOn } from './ops.examples.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);
const sql = (text: string, values: unknown[] = []) => platform.engine.pool.query(text, values);
const skipped = async () => (await json('status', '--sample', '0')).skipped;

/** A token like the platform's own, in an event that nobody can read until `repair` is called. */
async function unreadable(): Promise<{ position: number; tokenId: string; repair: () => Promise<unknown> }> {
  const { store } = platform.engine;
  const issued = (await platform.log()).find(({ type }) => type === 'TokenIssued')!;
  const [tokenId, id] = [randomUUID(), randomUUID()];
  const event = { id, type: issued.type, payload: '{', metadata: issued.metadata };
  await store.append([{ stream: `token-${tokenId}`, expectedRevision: -1, events: [event], answers: [] }]);
  const payload = issued.payload.replaceAll(JSON.parse(issued.payload).tokenId, tokenId);
  const repair = () => sql('UPDATE events SET payload = $1 WHERE id = $2', [payload, id]);
  return { position: await store.head(), tokenId, repair };
}

test('refuses to pass over a healthy event, one that there is not, and to take back what is not passed over', async () => {
  const head = await platform.engine.store.head();
  const refused = (err: string) => ({ code: 2, out: '', err: `${err}\n` });
  expect(await ops('rebuild', '--all', '--skip', '3')).toEqual(
    refused('Nothing is stuck at position 3: only an event that cannot be projected is passed over.'),
  );
  expect(await ops('rebuild', 'tokens', '--skip', `${head + 1}`)).toEqual(
    refused(`The log ends at position ${head}: there is no event at ${head + 1}.`),
  );
  expect(await ops('rebuild', '--all', '--unskip', '3')).toEqual(
    refused('The event at position 3 is not passed over.'),
  );
  expect(await ops('rebuild', 'tokens', '--unskip', '3')).toEqual(
    refused('error: --unskip needs --all: every read model lacks the event'),
  );
  expect(await skipped()).toEqual([]);
});

test('passes over the event that the projector is stuck at, and takes it back when it can be read', async () => {
  const { position, tokenId, repair } = await unreadable();
  await eventually(
    async () => (await sql(`SELECT 1 FROM checkpoints WHERE name = 'live' AND last_error IS NOT NULL`)).rowCount,
    (stuck) => stuck === 1,
  );
  expect((await ops('rebuild', 'tokens', '--skip', `${position - 1}`)).code).toBe(2);
  expect(await ops('rebuild', 'tokens', '--skip', `${position}`)).toMatchObject({ code: 0, err: '' });
  expect(await skipped()).toEqual([position]);
  await eventually(
    async () => platform.projector.position,
    (reached) => reached === position,
  );
  expect(await ops('rebuild', 'tokens', '--skip', `${position}`)).toMatchObject({ code: 0, err: '' });

  const rows = async () => (await sql('SELECT status FROM tokens WHERE id = $1', [tokenId])).rows;
  await repair();
  expect(await rows()).toEqual([]);
  expect(await ops('rebuild', '--all', '--unskip', `${position}`)).toMatchObject({ code: 0, err: '' });
  expect([await skipped(), await rows()]).toEqual([[], [{ status: 'ACTIVE' }]]);
  expect((await ops('verify')).code).toBe(0);
});
