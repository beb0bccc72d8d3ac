import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { systemClock } from '../../apps/shared/engine.ts';
import { createPlatform, issueToken, platformAccountId } from '../../apps/shared/provision.ts';
import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { timestamp } from '../../libs/kernel/clock.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { BASE_PATH } from '../../libs/runtime/http/index.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { startReceiver } from '../receiver.ts';

type Sandbox = Pick<TestPlatform, 'tenant' | 'api'>;

let platform: TestPlatform;
/** Real time stands still in the API and the worker: only sandbox clocks go. Webhooks are sent by the real one. */
const WALL_MS = Date.parse('2031-10-13T12:00:00.000Z');
const clock = { nowMs: () => WALL_MS };

beforeAll(async () => {
  platform = await startTestPlatform({ clock, dispatcher: { clock: systemClock } });
});
afterAll(() => platform.stop());

const now = async ({ api }: Pick<Sandbox, 'api'>) => (await api('get', '/sandbox/clock').expect(200)).body;
const advance = async ({ api }: Sandbox, body: object) =>
  (await api('post', '/sandbox/clock/advance').send(body).expect(200)).body;
const at = (seconds: number) => timestamp(WALL_MS + seconds * 1_000);

/** A further platform with money, whose clock nobody else moves. */
async function sandbox(): Promise<Sandbox & { usd: string }> {
  const made = await platform.another();
  const usd = `InternalAccount:${platformAccountId(made.tenant, 'USD')}`;
  await made.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount: 1_000_000 }).expect(200);
  return { ...made, usd };
}

async function quoteTo({ api, usd }: Sandbox & { usd: string }, suffix = '999') {
  const bank = { currency: 'USD', accountInfo: withSuffix('USD_ACCOUNT', suffix), platformAccountId: suffix };
  const accounts = (await api('get', '/platform/external-accounts?currency=USD').expect(200)).body.data;
  const known = accounts.find((one: { platformAccountId: string }) => one.platformAccountId === suffix);
  const account = known ?? (await api('post', '/platform/external-accounts').send(bank).expect(201)).body;
  const quote = {
    source: { sourceType: 'ACCOUNT', accountId: usd },
    destination: { destinationType: 'ACCOUNT', accountId: account.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 5_000,
  };
  return (await api('post', '/quotes').send(quote).expect(201)).body;
}

const transaction = async ({ api }: Sandbox, id: string) => (await api('get', `/transactions/${id}`).expect(200)).body;
const becomes = (of: Sandbox, id: string, status: string) =>
  eventually(
    () => transaction(of, id),
    (one) => one.status === status,
  );

describe('the sandbox clock', () => {
  test('goes forward by seconds and to a time, and says what time it is', async () => {
    const mine = await sandbox();
    expect(await now(mine)).toEqual({ now: at(0), aheadSeconds: 0 });
    expect(await advance(mine, { seconds: 360 })).toEqual({ now: at(360), aheadSeconds: 360 });
    expect(await advance(mine, { seconds: 30 })).toEqual({ now: at(390), aheadSeconds: 390 });
    expect(await advance(mine, { to: at(86_400) })).toEqual({ now: at(86_400), aheadSeconds: 86_400 });
    expect(await advance(mine, { to: at(86_400) })).toEqual({ now: at(86_400), aheadSeconds: 86_400 });
    expect(await now(mine)).toEqual({ now: at(86_400), aheadSeconds: 86_400 });
  });

  test("is a platform's own", async () => {
    const [mine, theirs] = [await sandbox(), await sandbox()];
    await advance(mine, { seconds: 60 });
    expect(await now(theirs)).toEqual({ now: at(0), aheadSeconds: 0 });
    const quote = await quoteTo(theirs);
    expect([quote.createdAt, quote.expiresAt]).toEqual([at(0), at(300)]);
  });

  test.each([
    [{}, 'seconds REQUIRED'],
    [{ seconds: 1, to: '2032-01-01T00:00:00Z' }, 'to CONFLICT'],
    [{ seconds: 0 }, 'seconds MINIMUM'],
    [{ seconds: 1.5 }, 'seconds TYPE'],
    [{ seconds: 315_576_001 }, 'seconds MAXIMUM'],
    [{ to: 'soon' }, 'to FORMAT'],
    [{ to: '2031-10-13T11:59:59.999Z' }, 'to MINIMUM'],
    [{ to: '2099-01-01T00:00:00Z' }, 'to MAXIMUM'],
  ])('%j is refused: %s', async (body, error) => {
    const { body: refused } = await platform.api('post', '/sandbox/clock/advance').send(body).expect(400);
    const [{ field, constraint }] = refused.details.errors;
    expect([refused.code, `${field} ${constraint}`]).toEqual(['INVALID_INPUT', error]);
    expect(await now(platform)).toEqual({ now: at(0), aheadSeconds: 0 });
  });

  test('a keyed request moves it once', async () => {
    const mine = await sandbox();
    const keyed = () =>
      mine.api('post', '/sandbox/clock/advance').set('Idempotency-Key', 'by a minute').send({ seconds: 60 });
    const first = await keyed().expect(200);
    expect((await keyed().expect(200)).body).toEqual(first.body);
    expect(await now(mine)).toEqual({ now: at(60), aheadSeconds: 60 });
  });

  test('takes a token that may manage; production has none', async () => {
    const token = { name: 'payer', permissions: ['TRANSACT'] };
    const { body: payer } = await platform.api('post', '/tokens').send(token).expect(201);
    const asPayer = () =>
      platform.api('post', '/sandbox/clock/advance').auth(payer.clientId, payer.clientSecret).send({ seconds: 1 });
    expect((await asPayer().expect(403)).body.details).toEqual({ requiredPermission: 'MANAGE' });

    const tenant: Tenant = { platform: '01970e0e-0000-7000-8000-000000000001', environment: 'production' };
    await createPlatform(platform.engine, tenant, { name: 'Real' });
    const tokenId = '01970e0e-0000-7000-8000-000000000002';
    const { clientId, clientSecret } = await issueToken(platform.engine, tenant, { name: 'real', tokenId });
    const http = supertest(platform.app.getHttpServer());
    for (const request of [
      http.get(`${BASE_PATH}/sandbox/clock`),
      http.post(`${BASE_PATH}/sandbox/clock/advance`).send({ seconds: 1 }),
    ]) {
      const { body } = await request.auth(clientId, clientSecret).expect(403);
      expect([body.code, body.details.reason]).toEqual(['FORBIDDEN', 'SANDBOX_ONLY']);
    }
  });

  test('other API processes hear of it', async () => {
    const other = await platform.instance();
    expect(await now(other)).toEqual({ now: at(0), aheadSeconds: 0 });
    await advance(platform, { seconds: 5 });
    const heard = await eventually(
      () => now(other),
      ({ aheadSeconds }) => aheadSeconds > 0,
    );
    expect(heard).toEqual({ now: at(5), aheadSeconds: 5 });
    const late = await platform.instance();
    expect(await now(late)).toEqual({ now: at(5), aheadSeconds: 5 });
  });
});

describe('what waits for a time', () => {
  test('a quote is expired at once on read, in lists and on execution; the timer records it', async () => {
    const mine = await sandbox();
    const { api } = mine;
    const quote = await quoteTo(mine);
    const listed = async (status: string) =>
      (await api('get', `/transactions?type=OUTGOING&status=${status}`).expect(200)).body.data.map(
        ({ id }: { id: string }) => id,
      );
    await advance(mine, { seconds: 299 });
    expect((await api('get', `/quotes/${quote.id}`).expect(200)).body.status).toBe('PENDING');
    expect([await listed('PENDING'), await listed('EXPIRED')]).toEqual([[quote.transactionId], []]);

    await advance(mine, { seconds: 2 });
    expect((await api('get', `/quotes/${quote.id}`).expect(200)).body.status).toBe('EXPIRED');
    expect([await listed('PENDING'), await listed('EXPIRED')]).toEqual([[], [quote.transactionId]]);
    const { body: refused } = await api('post', `/quotes/${quote.id}/execute`).expect(409);
    expect(refused.details.reason).toBe('QUOTE_EXPIRED');
    await eventually(
      () => transaction(mine, quote.transactionId),
      ({ failureReason }) => failureReason === 'QUOTE_EXPIRED',
    );
  });

  test('a payment that takes six minutes is completed after six minutes, however far the clock is ahead', async () => {
    const mine = await sandbox();
    for (const start of [0, 360, 720]) {
      const quote = await quoteTo(mine, '003');
      expect(quote.createdAt).toBe(at(start));
      await mine.api('post', `/quotes/${quote.id}/execute`).expect(200);
      await eventually(
        async () => (await timersOf(mine)).length,
        (count) => count === 1,
      );
      await advance(mine, { to: at(start + 359) });
      expect((await transaction(mine, quote.transactionId)).status).toBe('PROCESSING');
      await advance(mine, { to: at(start + 360) });
      const done = await becomes(mine, quote.transactionId, 'COMPLETED');
      expect([done.createdAt, done.settledAt]).toEqual([at(start), at(start + 360)]);
    }
  });

  test('timers fire in the order of their times, those that were set before and after the clock was moved', async () => {
    const mine = await sandbox();
    const first = await quoteTo(mine); // until 300
    await advance(mine, { seconds: 60 });
    const second = await quoteTo(mine); // until 360
    const slow = await quoteTo(mine, '003');
    await advance(mine, { seconds: 10 });
    await mine.api('post', `/quotes/${slow.id}/execute`).expect(200); // until 430
    await advance(mine, { seconds: 20 });
    const third = await quoteTo(mine); // until 390
    const due = await eventually(
      () => timersOf(mine),
      (timers) => timers.length === 4,
    );
    const ids = [first, second, third, slow].map(({ id }: { id: string }) => id.slice('Quote:'.length));
    expect(due).toEqual(
      [300, 360, 390, 430].map((seconds, i) => ({ stream: `payment-${ids[i]}`, due_at: new Date(at(seconds - 90)) })),
    );
    await advance(mine, { seconds: 3_600 });
    await becomes(mine, slow.transactionId, 'COMPLETED');
    const streams = ids.map((id) => `payment-${id}`);
    const fired = (await platform.log())
      .filter(({ stream, type }) => streams.includes(stream) && ['PaymentExpired', 'PaymentWoken'].includes(type))
      .map(({ stream, type }) => [stream, type]);
    expect(fired).toEqual(streams.map((stream, i) => [stream, i === 3 ? 'PaymentWoken' : 'PaymentExpired']));
  });

  const timersOf = async ({ tenant }: Sandbox) =>
    (
      await platform.engine.pool.query<{ stream: string; due_at: Date }>(
        'SELECT stream, due_at FROM timers WHERE platform = $1 ORDER BY due_at',
        [tenant.platform],
      )
    ).rows;
});

test('the log keeps real time; what the platform is shown and told has its own', async () => {
  const receiver = await startReceiver();
  try {
    const mine = await sandbox();
    await advance(mine, { seconds: 3_600 });
    await mine.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
    const quote = await quoteTo(mine);
    expect([quote.createdAt, quote.expiresAt]).toEqual([at(3_600), at(3_900)]);
    const told = await eventually(
      async () => receiver.received.find(({ event }) => event.type === 'OUTGOING_PAYMENT.PENDING'),
      (one) => one !== undefined,
    );
    expect(told!.event.timestamp).toBe(at(3_600));
    const [quoted] = await platform.engine.store.readStream(`payment-${quote.id.slice('Quote:'.length)}`, -1);
    expect(JSON.parse(quoted!.metadata)).toMatchObject({ at: at(0), aheadMs: 3_600_000 });
    const path = '/webhooks/deliveries?type=OUTGOING_PAYMENT.PENDING';
    const { body: deliveries } = await mine.api('get', path).expect(200);
    expect(deliveries.data[0].createdAt).toBe(at(0));
  } finally {
    await receiver.stop();
  }
});
