import { createPublicKey } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import supertest from 'supertest';
import { verifyServiceSignature } from '../../../../libs/runtime/webhooks/signing.ts';
import { webhookSamples } from '../../../../projections/webhooks/catalogue.ts';
import { expectMatchesComponent } from '../../../../test/openapi-validator.ts';
import { startTestPlatform, type TestPlatform } from '../../../../test/platform.ts';
import { type Receiver, setEndpoint, startReceiver } from '../../../../test/receiver.ts';
import { platformAccountId } from '../../../shared/provision.ts';
import { webhookSecretsOf } from '../../../shared/webhook-secrets.ts';

const BALANCE = 'INTERNAL_ACCOUNT.BALANCE_UPDATED';

let platform: TestPlatform;
const receivers: Receiver[] = [];

beforeAll(async () => {
  platform = await startTestPlatform({ dispatcher: { delayMs: () => 0 } });
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
});
afterAll(() => platform.stop());

type Tenant = Pick<TestPlatform, 'tenant' | 'api'>;

async function receiver(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...args);
  receivers.push(started);
  return started;
}

async function listening(hooks: Receiver): Promise<Tenant> {
  const one = await platform.another();
  await setEndpoint(platform.engine.writePath, one.tenant, hooks.url);
  return one;
}

const accountOf = ({ tenant }: Tenant) => `InternalAccount:${platformAccountId(tenant, 'USD')}`;
const fund = (one: Tenant, amount = 100) =>
  one
    .api('post', `/sandbox/internal-accounts/${accountOf(one)}/fund`)
    .send({ amount })
    .expect(200);

interface Delivery {
  id: string;
  type: string;
  status: string;
  attempts: { number: number; responseStatus?: number; responseBody?: string; error?: string }[];
}

/** The deliveries that a query lists, as soon as all of them are over. */
async function settled(one: Tenant, query: string, count: number): Promise<Delivery[]> {
  for (;;) {
    const { body } = await one.api('get', `/webhooks/deliveries?${query}`).expect(200);
    const found: Delivery[] = body.data;
    if (found.length === count && found.every(({ status }) => status !== 'PENDING')) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const accepts = (secret: string, { body, headers }: Receiver['received'][number]): boolean => {
  try {
    new Webhook(secret).verify(body.toString('utf8'), headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describe('keys', () => {
  test('the published key checks X-Service-Signature; no secret is shown', async () => {
    const hooks = await receiver();
    const one = await listening(hooks);
    const [{ headers, body }] = (await hooks.until(1)) as [Receiver['received'][number]];
    const answer = await one.api('get', '/webhooks/keys').expect(200);
    const publicKey = createPublicKey(answer.body.publicKey);
    expect(verifyServiceSignature({ header: String(headers['x-service-signature']), body, publicKey })).toBe(true);
    const [{ secret }] = (await webhookSecretsOf(platform.engine, one.tenant)) as [{ secret: string }];
    expect(answer.text).not.toContain(secret.slice('whsec_'.length));
    expect(answer.body.secrets).toEqual([{ fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) }]);
  });

  test('a rotated secret: both sign while they overlap', async () => {
    const hooks = await receiver();
    const one = await listening(hooks);
    await hooks.until(1);
    const [{ secret: older }] = (await webhookSecretsOf(platform.engine, one.tenant)) as [{ secret: string }];
    const { body: rotated } = await one.api('post', '/webhooks/secret/rotate').expect(200);
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const overlapMs = Date.parse(rotated.previousValidUntil) - Date.now();
    expect(Math.round(overlapMs / 3_600_000)).toBe(24);
    await fund(one);
    const [sent] = (await hooks.until(1, BALANCE)) as [Receiver['received'][number]];
    expect([older, rotated.secret].map((secret) => accepts(secret, sent))).toEqual([true, true]);
    const { body: keys } = await one.api('get', '/webhooks/keys').expect(200);
    expect(keys.secrets.map(({ validUntil }: { validUntil?: string }) => validUntil)).toEqual([
      undefined,
      rotated.previousValidUntil,
    ]);
  });

  test('a leaked secret ends at once, and a repeated request answers with the same new one', async () => {
    const hooks = await receiver();
    const one = await listening(hooks);
    await hooks.until(1);
    const [{ secret: leaked }] = (await webhookSecretsOf(platform.engine, one.tenant)) as [{ secret: string }];
    const rotate = () =>
      one.api('post', '/webhooks/secret/rotate').set('Idempotency-Key', 'leak').send({ overlapHours: 0 }).expect(200);
    const { body: rotated } = await rotate();
    expect((await rotate()).body).toEqual(rotated);
    await fund(one);
    const [sent] = (await hooks.until(1, BALANCE)) as [Receiver['received'][number]];
    expect([leaked, rotated.secret].map((secret) => accepts(secret, sent))).toEqual([false, true]);
    const { rows } = await platform.engine.pool.query('SELECT body FROM keyed_answers WHERE body LIKE $1', ['%whsec%']);
    expect(rows).toEqual([]);
  });

  test('an overlap of more than a week is refused', async () => {
    const { body } = await platform.api('post', '/webhooks/secret/rotate').send({ overlapHours: 169 }).expect(400);
    expect(body.details.errors).toMatchObject([{ field: 'overlapHours', constraint: 'MAXIMUM', maximum: 168 }]);
  });
});

describe('deliveries', () => {
  test('show every attempt with its answer', async () => {
    let tries = 0;
    const hooks = await receiver(({ event }) => (event.type === BALANCE ? ([500, 503][tries++] ?? 200) : 204));
    const one = await listening(hooks);
    await fund(one);
    const [delivery] = (await settled(one, `type=${BALANCE}`, 1)) as [Delivery];
    expect(delivery).toEqual({
      id: expect.stringMatching(/^Webhook:/),
      type: BALANCE,
      resource: accountOf(one),
      sequence: 2,
      status: 'DELIVERED',
      attemptCount: 3,
      attempts: [500, 503, 200].map((status, i) => ({
        number: i + 1,
        attemptedAt: expect.any(String),
        responseStatus: status,
        responseBody: `said ${status}`,
        durationMs: expect.any(Number),
      })),
      createdAt: expect.any(String),
    });
  });

  test('are filtered by type, status, resource and time, and paged', async () => {
    const hooks = await receiver(({ event }) => (event.type === 'TEST' ? 500 : 204));
    const one = await listening(hooks);
    for (const amount of [1, 2, 3]) await fund(one, amount);
    await settled(one, '', 7);
    const list = async (query: string) => {
      const { body } = await one.api('get', `/webhooks/deliveries?${query}`).expect(200);
      return body as {
        data: (Delivery & { resource: string; createdAt: string })[];
        hasMore: boolean;
        nextCursor?: string;
        totalCount: number;
      };
    };
    expect((await list('status=FAILED')).data.map(({ type }) => type)).toEqual(['TEST']);
    expect((await list('status=DELIVERED')).totalCount).toBe(6);
    expect((await list('status=PENDING')).totalCount).toBe(0);
    expect((await list(`resource=${accountOf(one)}`)).data.map(({ type }) => type)).toEqual([
      BALANCE,
      BALANCE,
      BALANCE,
    ]);
    const all = await list('');
    const third = all.data[2]!.createdAt;
    const since = all.data.filter(({ createdAt }) => createdAt >= third);
    expect((await list(`createdAfter=${third}`)).data).toEqual(since);
    expect((await list(`createdBefore=${third}`)).data).toEqual(all.data.filter(({ createdAt }) => createdAt <= third));

    for (const order of ['desc', 'asc']) {
      const pages: Delivery[][] = [];
      let cursor = '';
      do {
        const page = await list(`limit=3&sortOrder=${order}${cursor && `&cursor=${cursor}`}`);
        pages.push(page.data);
        cursor = page.nextCursor ?? '';
      } while (cursor);
      expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
      const ids = pages.flat().map(({ id }) => id);
      const expected = all.data.map(({ id }) => id);
      expect(ids).toEqual(order === 'desc' ? expected : expected.reverse());
    }
  });

  test('of another platform are not there', async () => {
    const hooks = await receiver();
    const one = await listening(hooks);
    const [delivery] = (await settled(one, '', 1)) as [Delivery];
    const other = await platform.another();
    expect((await other.api('get', '/webhooks/deliveries').expect(200)).body).toMatchObject({
      data: [],
      totalCount: 0,
    });
    await setEndpoint(platform.engine.writePath, other.tenant, hooks.url);
    const { body } = await other.api('post', `/webhooks/deliveries/${delivery.id}/redeliver`).expect(404);
    expect(body.code).toBe('REFERENCE_NOT_FOUND');
  });

  test('a wrong filter is refused by name', async () => {
    const { body } = await platform.api('get', '/webhooks/deliveries?type=BALANCE&status=LOST&limit=0').expect(400);
    const errors = body.details.errors as { field: string; constraint: string }[];
    expect(errors.map(({ field, constraint }) => `${field} ${constraint}`).sort()).toEqual([
      'limit MINIMUM',
      'status ENUM',
      'type ENUM',
    ]);
  });
});

describe('redelivery', () => {
  test('sends a delivered webhook again, with the same id and body', async () => {
    const hooks = await receiver();
    const one = await listening(hooks);
    await fund(one);
    const [delivery] = (await settled(one, `type=${BALANCE}`, 1)) as [Delivery];
    const { body } = await one.api('post', `/webhooks/deliveries/${delivery.id}/redeliver`).expect(200);
    expect(body).toMatchObject({ id: delivery.id, status: 'PENDING', attemptCount: 1 });
    const [first, second] = await hooks.until(2, BALANCE);
    expect(second!.body).toEqual(first!.body);
    const [after] = (await settled(one, `type=${BALANCE}`, 1)) as [Delivery];
    expect(after.attempts.map(({ number, responseStatus }) => [number, responseStatus])).toEqual([
      [1, 204],
      [2, 204],
    ]);
  });

  test('revives one that was given up', async () => {
    let isBroken = true;
    const hooks = await receiver(() => (isBroken ? 500 : 204));
    const one = await listening(hooks);
    const [test_] = (await settled(one, 'type=TEST', 1)) as [Delivery];
    expect(test_.status).toBe('FAILED');
    isBroken = false;
    await one.api('post', `/webhooks/deliveries/${test_.id}/redeliver`).expect(200);
    await hooks.until(2, 'TEST');
    const [after] = (await settled(one, 'type=TEST', 1)) as [Delivery];
    expect(after.status).toBe('DELIVERED');
  });

  test('is refused without a payload, without an endpoint and for what does not exist', async () => {
    const hooks = await receiver();
    const one = await listening(hooks);
    const [delivery] = (await settled(one, '', 1)) as [Delivery];
    await platform.engine.pool.query(`UPDATE webhooks SET body = '' WHERE id = $1`, [delivery.id.slice(8)]);
    const erased = await one.api('post', `/webhooks/deliveries/${delivery.id}/redeliver`).expect(409);
    expect(erased.body).toMatchObject({ code: 'CONFLICT', details: { reason: 'PAYLOAD_ERASED' } });
    const missing = 'Webhook:00000000-0000-4000-8000-000000000000';
    expect((await one.api('post', `/webhooks/deliveries/${missing}/redeliver`).expect(404)).body.code).toBe(
      'REFERENCE_NOT_FOUND',
    );
    expect((await one.api('post', '/webhooks/deliveries/1/redeliver').expect(404)).body.code).toBe(
      'REFERENCE_NOT_FOUND',
    );
    const other = await platform.another();
    const unset = await other.api('post', `/webhooks/deliveries/${missing}/redeliver`).expect(400);
    expect(unset.body.code).toBe('WEBHOOK_ENDPOINT_NOT_SET');
  });
});

describe('POST /sandbox/webhooks/test', () => {
  test('answers with what the endpoint answered, signed as every delivery', async () => {
    const hooks = await receiver((_, number) => (number === 1 ? 204 : 503));
    const one = await listening(hooks);
    await hooks.until(1);
    const { body } = await one.api('post', '/sandbox/webhooks/test').expect(200);
    expect(body).toEqual({ url: hooks.url, response_status: 503, response_body: 'said 503' });
    const sent = hooks.received[1]!;
    expect(sent.event).toMatchObject({ type: 'TEST', sequence: 0, data: {} });
    const [{ secret }] = (await webhookSecretsOf(platform.engine, one.tenant)) as [{ secret: string }];
    expect(accepts(secret, sent)).toBe(true);
  });

  test('without an endpoint, and without an answer', async () => {
    const one = await platform.another();
    const unset = await one.api('post', '/sandbox/webhooks/test').expect(400);
    expect(unset.body.code).toBe('WEBHOOK_ENDPOINT_NOT_SET');
    const gone = await startReceiver();
    await gone.stop();
    await setEndpoint(platform.engine.writePath, one.tenant, gone.url);
    const failed = await one.api('post', '/sandbox/webhooks/test').expect(400);
    expect(failed.body).toMatchObject({
      code: 'WEBHOOK_DELIVERY_ERROR',
      details: { url: gone.url, reason: 'CONNECTION' },
    });
  });
});

test('the OpenAPI document describes every webhook that is sent, and its samples fit', async () => {
  const { body: document } = await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200);
  const samples = webhookSamples();
  expect(Object.keys(document.webhooks).sort()).toEqual([...samples.keys()].sort());
  for (const [type, sample] of samples) {
    const { schema, example } = document.webhooks[type].post.requestBody.content['application/json'];
    expect(example).toEqual(JSON.parse(JSON.stringify(sample)));
    expectMatchesComponent(document, schema.$ref.split('/').at(-1), example);
  }
});
