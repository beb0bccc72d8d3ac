import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Projector } from '../../apps/projector/src/projector.ts';
import { announcers, processes, projections } from '../../projections/index.ts';
import { startTestPlatform, type TestInstance, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
let other: TestInstance;
beforeAll(async () => {
  platform = await startTestPlatform();
  other = await platform.instance();
});
afterAll(() => platform.stop());

const create = (platformCustomerId: string) =>
  platform.api('post', '/customers').send({ customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Amina Diop' });
const positionIn = ({ headers }: { headers: Record<string, string> }) => Number(headers['read-position']);

/** The name as another instance shows it. */
const nameAt = (id: string, asked?: number) => {
  const get = other.api('get', `/customers/${id}`);
  return asked === undefined ? get : get.set('Read-Position', String(asked));
};

test('a write answers with its position, and whoever is sent it shows what was written', async () => {
  const made = await create('one').expect(201);
  const { id } = made.body;
  expect(positionIn(made)).toBe(await platform.engine.store.head());
  await nameAt(id, positionIn(made)).expect(200);

  await platform.projector.stop();
  const changed = await platform
    .api('patch', `/customers/${id}`)
    .send({ customerType: 'INDIVIDUAL', fullName: 'Amina D. Diop' })
    .expect(200);
  expect(positionIn(changed)).toBe(await platform.engine.store.head());
  const before = await nameAt(id).expect(200);
  expect([before.body.fullName, positionIn(before)]).toEqual(['Amina Diop', positionIn(made)]);

  const waiting = nameAt(id, positionIn(changed)).then((answer) => answer);
  const { url, store, codec } = platform.engine;
  const catalogue = { projections, announcers, processes };
  const projector = new Projector({ url, store, codec, catalogue, log: () => {} });
  await projector.start();
  try {
    const after = await waiting;
    expect([after.status, after.body.fullName]).toEqual([200, 'Amina D. Diop']);
    expect(positionIn(after)).toBeGreaterThanOrEqual(positionIn(changed));
    const removed = await platform.api('delete', `/customers/${id}`).expect(200);
    const gone = await nameAt(id, positionIn(removed)).expect(200);
    expect(gone.body.isDeleted).toBe(true);
  } finally {
    await projector.stop();
    await platform.projector.start();
  }
});

test('a position that nobody has written yet is waited for in vain, and what there is is shown', async () => {
  const made = await create('two').expect(201);
  const head = await platform.engine.store.head();
  const shown = await nameAt(made.body.id, head + 1_000_000);
  expect([shown.status, positionIn(shown)]).toEqual([200, head]);
});

test.each(['', 'abc', '-1', '1.5', '1e3', '99999999999999999', '9007199254740993'])(
  'a malformed one is refused: %j',
  async (value) => {
    const { body } = await other.api('get', '/customers').set('Read-Position', value).expect(400);
    expect(body.details.errors).toEqual([
      {
        field: 'Read-Position',
        constraint: 'FORMAT',
        message: 'Read-Position must be the Read-Position of an earlier answer.',
      },
    ]);
  },
);

test('a repeated request is answered with a position, too; a refused one with none', async () => {
  const send = (api: TestPlatform['api'], platformCustomerId: string) =>
    api('post', '/customers')
      .set('Idempotency-Key', key)
      .send({ customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Amina Diop' });
  const key = randomUUID();
  const made = await send(platform.api, 'three').expect(201);
  const again = await send(other.api, 'three').expect(201);
  expect(again.body).toEqual(made.body);
  expect(positionIn(again)).toBeGreaterThanOrEqual(positionIn(made));
  await nameAt(made.body.id, positionIn(again)).expect(200);
  const refused = await create('three').expect(409);
  expect(refused.headers['read-position']).toBeUndefined();
});
