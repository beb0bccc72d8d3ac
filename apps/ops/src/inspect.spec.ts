import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Activity, reaches, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { MASKED } from './inspect.ts';
import { opsOn } from './ops.examples.ts';
import type { TrailCommand } from './trail.ts';

let platform: TestPlatform;
let activity: Activity;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  platform = await startTestPlatform();
  receiver = await startReceiver();
  await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
  activity = await someActivity(platform);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

const { ops, json } = opsOn(() => platform);

/** The types of the events that followed from each request about a resource. */
async function followed(id: string): Promise<string[][]> {
  const { trails } = (await json('inspect', id)) as { trails: { commands: TrailCommand[] }[] };
  return trails.map(({ commands }) => commands.flatMap(({ events }) => events.map(({ type }) => type)));
}

test('inspects a resource by its public id, its uuid or its stream', async () => {
  const uuid = activity.completed.slice('Transaction:'.length);
  const found = await json('inspect', activity.completed);
  const [stream] = found.streams;
  expect(stream.stream).toBe(`payment-${uuid}`);
  expect(await json('inspect', uuid)).toEqual(found);
  expect(await json('inspect', `payment-${uuid}`)).toEqual(found);
  const [first] = stream.events;
  expect(first).toMatchObject({ revision: 0, type: 'PaymentQuoted', before: { status: 'PENDING' } });
  const last = stream.events.at(-1);
  expect(last).toMatchObject({ type: 'PaymentCompleted', after: { status: 'COMPLETED', phase: 'DONE' } });
  expect(last.before).toEqual(stream.events.at(-2).after);
  expect(last.changed).toEqual(expect.arrayContaining(['status', 'phase']));
  const { out } = await ops('inspect', activity.completed);
  expect(out).toMatch(/^ {2}\* status = "COMPLETED" {3}\(was "P/m);
});

test('follows a payment: commands, events, ledger entries, webhooks', async () => {
  const { trails, deliveries, timers } = await json('inspect', activity.completed);
  expect(timers).toEqual([]);
  const told = deliveries.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`);
  expect(told.sort()).toEqual(['OUTGOING_PAYMENT.COMPLETED PENDING', 'OUTGOING_PAYMENT.PROCESSING PENDING']);
  expect(trails).toHaveLength(1);
  const { commands } = trails[0] as { commands: TrailCommand[] };
  expect(commands.map(({ actor, events }) => [actor.split(':')[0], ...events.map(({ type }) => type)])).toEqual([
    ['token', 'PaymentQuoted', 'ExecutionRequested'],
    ['process', 'AccountDebited'],
    ['process', 'AccountCredited'],
    ['process', 'PaymentStarted', 'PaymentCompleted'],
  ]);
  const events = commands.flatMap((command) => command.events);
  const entries = events.flatMap((event) => event.entries);
  const ends = entries.map(({ from, to }) =>
    [from, to].map((name) => name.replace(/^account:.*/, 'account')).join(' → '),
  );
  expect(ends).toEqual([
    'account → transit:USD',
    'transit:USD → fees:USD',
    'transit:USD → fx:USD',
    'fx:EUR → transit:EUR',
    'transit:EUR → account',
  ]);
  const webhooks = events.flatMap(({ type, webhooks: sent }) => sent.map((webhook) => [type, webhook.type]));
  expect(webhooks).toContainEqual(['PaymentCompleted', 'OUTGOING_PAYMENT.COMPLETED']);
  expect(webhooks).toContainEqual(['AccountDebited', 'INTERNAL_ACCOUNT.BALANCE_UPDATED']);
  const { out } = await ops('inspect', activity.completed);
  expect(out).toMatch(/^ {6}entry {3}100\.00 USD {3}account:[0-9a-f-]{36} → transit:USD$/m);
  expect(out).toMatch(/^ {6}webhook OUTGOING_PAYMENT\.COMPLETED PENDING {3}Webhook:/m);
});

test('shows the timer of a payment that waits, and of an account the newest requests', async () => {
  const uuid = activity.pending.slice('Transaction:'.length);
  const { timers } = await json('inspect', activity.pending);
  expect(timers).toEqual([{ stream: `payment-${uuid}`, process: 'completePayment', dueAt: expect.any(String) }]);
  const { trails } = await json('inspect', activity.usd, '--trails', '1');
  const last = (trails[0].commands as TrailCommand[]).flatMap(({ events }) => events.map(({ type }) => type));
  expect([trails.length, last]).toEqual([
    1,
    ['PaymentQuoted', 'ExecutionRequested', 'FundsPended', 'PaymentStarted', 'RailPending'],
  ]);
  expect((await json('inspect', activity.usd, '--trails', '0')).trails).toEqual([]);
});

test('follows a payment that a second request executed to the accounts that the quote named', async () => {
  const { body: quote } = await platform
    .api('post', '/quotes')
    .send({
      source: { sourceType: 'ACCOUNT', accountId: activity.usd },
      destination: { destinationType: 'ACCOUNT', accountId: activity.eur },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 10_000,
    })
    .expect(201);
  await platform.api('post', `/quotes/${quote.id}/execute`).set('Idempotency-Key', 'execute').expect(200);
  await reaches(platform, quote.transactionId, 'COMPLETED');
  const executed = ['ExecutionRequested', 'AccountDebited', 'AccountCredited', 'PaymentStarted', 'PaymentCompleted'];
  expect(await followed(quote.transactionId)).toEqual([['PaymentQuoted'], executed]);
  expect((await followed(activity.eur)).at(-1)).toEqual(executed);
});

test('follows a payment that a timer has moved on', async () => {
  await platform.api('post', '/sandbox/clock/advance').send({ seconds: 600 }).expect(200);
  await reaches(platform, activity.pending, 'COMPLETED');
  const [, woken] = await followed(activity.pending);
  expect(woken).toEqual(['PaymentWoken', 'RailAccepted', 'FundsPosted', 'PaymentCompleted']);
});

test('shows the claims of a customer, and whose they are', async () => {
  const person = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', platformCustomerId: 'amina' };
  const { body } = await platform.api('post', '/customers').send(person).expect(201);
  const { claims } = await json('inspect', body.id);
  const told = claims.map(({ rule, status, isOwn }: { rule: string; status: string; isOwn: boolean }) => [
    rule,
    status,
    isOwn,
  ]);
  expect(told.sort()).toEqual([
    ['PLATFORM_CUSTOMER_ID', 'HELD', true],
    ['UMA_ADDRESS', 'HELD', true],
  ]);
});

test('masks what is there, and makes nothing up: no consent where none was given', async () => {
  const person = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo' };
  const { body } = await platform.api('post', '/customers').send(person).expect(201);
  const { streams } = await json('inspect', body.id, '--trails', '0');
  const { data } = streams[0].events[0];
  expect(data).toMatchObject({ profile: MASKED, umaAddress: MASKED });
  expect(Object.keys(data)).not.toContain('endUserTermsConsent');
});

test('tells what a list holds as what came and went, not as a field that came or went', async () => {
  const { body } = await platform
    .api('post', '/customers')
    .send({ customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', currencies: ['USD'] })
    .expect(201);
  const { out } = await ops('inspect', body.id, '--trails', '0');
  expect(out.split('\n').filter((line) => line.includes(' accountsToOpen'))).toEqual([
    '  * accountsToOpen.0 = "USD"   (was absent)',
    '  * accountsToOpen = []',
    '  * accountsToOpen.0 is gone   (was "USD")',
  ]);
});

test('masks personal data and secrets unless they are asked for, which is recorded first', async () => {
  const tenantId = `${platform.tenant.platform}.sandbox`;
  const masked = await ops('inspect', `Platform:${platform.tenant.platform}`, '--json');
  expect(masked.out).not.toContain('whsec_');
  const [created] = JSON.parse(masked.out).streams[0].events;
  expect(created).toMatchObject({ type: 'PlatformCreated', data: { tenantId, webhookSecret: MASKED } });
  const before = await platform.engine.store.head();
  const { streams } = await json('inspect', `platform-${tenantId}`, '--reveal', '--by', 'amina@desk');
  expect(streams[0].events[0].data.webhookSecret).toMatch(/^whsec_/);
  const { events } = await platform.engine.store.readAll(before, 10);
  expect(events.map(({ type, payload }) => [type, JSON.parse(payload)])).toEqual([
    [
      'PersonalDataRevealed',
      {
        operationId: expect.any(String),
        by: 'amina@desk',
        command: 'inspect',
        subject: `platform-${tenantId}`,
        upTo: before,
      },
    ],
  ]);
});
