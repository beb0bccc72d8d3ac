import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { webhookEventTypes } from '../../../libs/domain/webhooks/event-types.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { type Receiver, startReceiver } from '../../../test/receiver.ts';
import { platformAccountId } from '../../shared/provision.ts';
import { run } from './cli.ts';
import { opsOn } from './ops.examples.ts';
import { flows } from './trigger/flows.ts';

const PATIENCE_MS = 120_000;

let platform: TestPlatform;
/** The platform's endpoint, and the address that webhooks are forwarded to. */
let endpoint: Receiver;
let local: Receiver;
let usd: string;
beforeAll(async () => {
  platform = await startTestPlatform({ dispatcher: true, settings: { allowRuleBasedAccounts: true } });
  endpoint = await startReceiver(() => 200);
  local = await startReceiver();
  usd = `InternalAccount:${platformAccountId(platform.tenant, 'USD')}`;
  await platform.api('patch', '/config').send({ webhookEndpoint: endpoint.url }).expect(200);
});
afterAll(async () => {
  await platform.stop();
  await endpoint.stop();
  await local.stop();
});

const { ops, json } = opsOn(() => platform);
const fund = (amount: number) => platform.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount });
const of = (type: string) => (one: { event: { type: string } }) => one.event.type === type;

/** `ops listen` while something is done; answers what it has printed. It is under way before anything is done. */
async function listening(args: readonly string[], work: () => Promise<unknown>): Promise<string[]> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [said, told] = ['', ''];
  stdout.on('data', (chunk) => (said += chunk));
  stderr.on('data', (chunk) => (told += chunk));
  const surroundings = {
    stdout,
    stderr,
    connect: <T>(use: (engine: TestPlatform['engine']) => Promise<T>) => use(platform.engine),
  };
  const ended = run(['listen', '--forward-to', local.url, ...args], surroundings);
  await Promise.race([
    ended,
    eventually(
      async () => told,
      (text) => text.includes('Forwarding'),
    ),
  ]);
  await work();
  expect(await ended).toBe(0);
  return said.split('\n').filter((line) => line !== '');
}

describe('listen', () => {
  test('forwards what comes, of the types that are asked for, and says how the signatures were', async () => {
    const lines = await listening(['--types', 'INCOMING_PAYMENT.*', '--count', '2'], async () => {
      await fund(101).expect(200);
      await fund(102).expect(200);
    });
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toMatch(
        /^\d\d:\d\d:\d\d {2}INCOMING_PAYMENT\.COMPLETED {2}Transaction:\S+ {2}→ 204 in \d+ ms {2}webhook-signature ok, X-Service-Signature ok$/,
      );
    }
    const forwarded = local.received.filter(of('INCOMING_PAYMENT.COMPLETED'));
    const amounts = forwarded.map(({ event }) => (event.data.receivedAmount as { amount: number }).amount);
    expect(amounts).toEqual([101, 102]);
    expect(local.received.some(of('INTERNAL_ACCOUNT.BALANCE_UPDATED'))).toBe(false);
  });

  test('leaves the normal deliveries as they are: each arrives at the endpoint, once, byte for byte the same', async () => {
    const ids = local.received.map(({ event }) => event.id);
    const normal = await eventually(
      async () => endpoint.received.filter(({ event }) => ids.includes(event.id)),
      (found) => found.length >= ids.length,
    );
    const bodies = (all: { body: Buffer }[]) => all.map(({ body }) => body.toString('utf8')).sort();
    expect(bodies(normal)).toEqual(bodies(local.received));
    const attempts = async () => {
      const { body } = await platform.api('get', '/webhooks/deliveries?type=INCOMING_PAYMENT.COMPLETED').expect(200);
      return body.data.map(({ attemptCount }: { attemptCount: number }) => attemptCount);
    };
    expect(await eventually(attempts, (counts) => !counts.includes(0))).toEqual([1, 1]); // recorded after it arrived
  });

  test('sends again what is sent again, by the API and by an operator', async () => {
    const { event } = local.received.find(of('INCOMING_PAYMENT.COMPLETED'))!;
    const before = local.received.length;
    const lines = await listening(['--count', '2', '--json'], async () => {
      await platform.api('post', `/webhooks/deliveries/${event.id}/redeliver`).expect(200);
      await ops('redeliver', event.id);
    });
    const done = lines.map((line) => JSON.parse(line));
    const good = { isResent: true, status: 204, webhookSignature: true, serviceSignature: true };
    expect(done).toEqual([1, 2].map(() => expect.objectContaining({ id: event.id, ...good })));
    expect(local.received.slice(before).map((one) => one.event.id)).toEqual([event.id, event.id]);
  });

  test('sees the approval that the process itself sends', async () => {
    const lines = await listening(['--types', 'INCOMING_PAYMENT.PENDING', '--count', '1', '--json'], async () => {
      expect((await ops('trigger', 'INCOMING_PAYMENT.PENDING')).code).toBe(0);
    });
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ type: 'INCOMING_PAYMENT.PENDING', isResent: false, status: 204 }),
    ]);
  });

  test('says what went wrong and goes on', async () => {
    const gone = await startReceiver();
    await gone.stop();
    const lines = await listening(
      ['--forward-to', gone.url, '--types', 'INCOMING_PAYMENT.COMPLETED', '--count', '2'],
      async () => {
        await fund(1).expect(200);
        await fund(2).expect(200);
      },
    );
    expect(lines.map((line) => line.includes('→ failed: The connection failed. (ECONNREFUSED)'))).toEqual([true, true]);
  });

  test.each([
    [['--forward-to', 'nowhere'], 2],
    [['--forward-to', 'http://localhost:1/x', '--types', 'NO.SUCH'], 2],
    [['--forward-to', 'http://localhost:1/x', '--platform', '01970e0e-0000-7000-8000-000000000009'], 1],
    [[], 2],
  ])('%j is refused', async (args, code) => {
    expect((await ops('listen', ...(args as string[]))).code).toBe(code);
  });
});

describe('trigger', () => {
  test('there is a flow for every event that is sent, and for no other', () => {
    const sent = webhookEventTypes.filter(({ isEmitted }) => isEmitted).map(({ event }) => event);
    expect(Object.keys(flows).sort()).toEqual([...sent].sort());
  });

  test.each(Object.keys(flows).filter((event) => event !== 'TEST'))(
    '%s comes about, and arrives at the endpoint',
    async (event) => {
      const { type, id, resource } = await json('trigger', event);
      const arrived = await eventually(
        async () => endpoint.received.find((one) => one.event.id === id),
        (one) => one !== undefined,
        PATIENCE_MS,
      );
      expect([arrived!.event.type, resource]).toEqual([type, expect.any(String)]);
    },
    PATIENCE_MS,
  );

  test('a TEST is sent to the endpoint', async () => {
    const before = endpoint.received.filter(of('TEST')).length;
    expect(await json('trigger', 'TEST')).toEqual({ type: 'TEST' });
    expect(endpoint.received.filter(of('TEST'))).toHaveLength(before + 1);
  });

  test('without a type it lists them, with what hinders', async () => {
    const listed = await json('trigger');
    expect(listed.map(({ type }: { type: string }) => type)).toEqual(webhookEventTypes.map(({ type }) => type));
    const byType = new Map(listed.map((one: { type: string }) => [one.type, one]));
    expect(byType.get('INVITATION_CLAIMED')).toEqual({
      type: 'INVITATION_CLAIMED',
      does: flows['INVITATION.CLAIMED']!.does,
    });
    expect(byType.get('BULK_UPLOAD.COMPLETED')).toEqual({
      type: 'BULK_UPLOAD.COMPLETED',
      hindered: 'it belongs to a feature that this version does not have',
    });
  });

  test('a type that cannot be reached is refused with the reason', async () => {
    const { code, err } = await ops('trigger', 'BULK_UPLOAD.COMPLETED');
    expect([code, err]).toEqual([
      1,
      'BULK_UPLOAD.COMPLETED cannot be triggered: it belongs to a feature that this version does not have.\n',
    ]);
    expect((await ops('trigger', 'NO.SUCH')).code).toBe(2);
  });

  test('leaves no credentials behind', async () => {
    const { body } = await platform.api('get', '/tokens?name=ops trigger').expect(200);
    expect(body.data).toEqual([]);
  });
});

describe('where there is more than one platform, or no endpoint', () => {
  test('one has to be named, and nothing comes without an endpoint', async () => {
    const quiet = await platform.another();
    expect((await ops('trigger', 'TEST')).err).toContain('There are several platforms: name one with --platform');
    const { code, err } = await ops('trigger', 'INVITATION_CLAIMED', '--platform', quiet.tenant.platform);
    expect([code, err]).toEqual([
      1,
      'The platform has no webhook endpoint, so nothing is announced: set one with PATCH /config.\n',
    ]);
    const hindered = (listed: { type: string; hindered?: string }[]) =>
      listed.find(({ type }) => type === 'INTERNAL_ACCOUNT.SWEEP_FAILED')!.hindered;
    const listed = await json('trigger');
    expect(listed.map(({ type }: { type: string }) => type)).toEqual(webhookEventTypes.map(({ type }) => type));
    expect(hindered(listed)).toBeUndefined();
    expect(hindered(await json('trigger', '--platform', quiet.tenant.platform))).toMatch(
      /^it has no rule-based accounts/,
    );
    expect((await ops('trigger', 'BULK_UPLOAD.COMPLETED')).err).toBe(
      'BULK_UPLOAD.COMPLETED cannot be triggered: it belongs to a feature that this version does not have.\n',
    );
    const rules = await ops('trigger', 'INTERNAL_ACCOUNT.SWEEP_FAILED', '--platform', quiet.tenant.platform);
    expect(rules.err).toContain('it has no rule-based accounts');
  });
});
