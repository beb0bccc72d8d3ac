import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { currencyCodes } from '../../../libs/kernel/money.ts';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import type { Engine } from '../../shared/engine.ts';
import { systemAccounts } from './balances.ts';
import { moment } from './moment.ts';
import { opsOn } from './ops.examples.ts';
import { statement } from './statement.ts';

let platform: TestPlatform;
let activity: Activity;
let events: { position: number; type: string; at: string }[];
beforeAll(async () => {
  platform = await startTestPlatform();
  activity = await someActivity(platform);
  const { store } = platform.engine;
  const usd = activity.usd.replace('InternalAccount:', 'account-');
  const logged = await store.readStream(usd, -1);
  events = logged.map(({ position, type, metadata }) => ({ position, type, at: JSON.parse(metadata).at }));
});
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);

describe('balance', () => {
  test('now, and as of each event of the past', async () => {
    const now = await json('balance', activity.usd);
    expect(now).toEqual({
      account: activity.usd,
      currency: 'USD',
      holder: 'platform',
      status: 'ACTIVE',
      postedMinor: '65000',
      pendingMinor: '10000',
      availableMinor: '55000',
      position: events.at(-1)!.position,
      at: events.at(-1)!.at,
    });
    const past: [string, string, string][] = [];
    for (const { position, type } of events) {
      const { postedMinor, pendingMinor } = await json('balance', activity.usd, '--at', String(position));
      past.push([type, postedMinor, pendingMinor]);
    }
    expect(past).toEqual([
      ['AccountOpened', '0', '0'],
      ['DepositReceived', '50000', '0'],
      ['DepositReceived', '75000', '0'],
      ['AccountDebited', '65000', '0'],
      ['FundsPended', '65000', '10000'],
    ]);
  });

  test('as of a time and a date; a time before the account is told', async () => {
    const deposited = events[1]!;
    const at = await json('balance', activity.usd, '--at', deposited.at);
    expect(BigInt(at.postedMinor)).toBeGreaterThanOrEqual(50_000n);
    const dayOfTheLast = events.at(-1)!.at.slice(0, 10);
    expect(await json('balance', activity.usd, '--at', dayOfTheLast)).toMatchObject({ availableMinor: '55000' });
    expect(await ops('balance', activity.usd, '--at', '2000-01-01')).toEqual({
      code: 1,
      out: '',
      err: 'The account was not open yet.\n',
    });
  });

  test('of a system account', async () => {
    expect(await json('balance', 'mint:USD')).toMatchObject({ account: 'mint:USD', postedMinor: '-75000' });
    const second = String(events[1]!.position);
    expect(await json('balance', 'mint:USD', '--at', second)).toMatchObject({
      postedMinor: '-50000',
      position: +second,
    });
    expect(await json('balance', 'transit:USD')).toMatchObject({ postedMinor: '0', pendingMinor: '0' });
  });

  test('is told to people in columns', async () => {
    const { out, code } = await ops('balance', activity.usd, '--at', String(events[1]!.position));
    expect(code).toBe(0);
    expect(out).toBe(
      [
        `Account     ${activity.usd}`,
        'Holder      platform',
        'Status      ACTIVE',
        'Posted      500.00 USD',
        'Pending     0.00 USD',
        'Available   500.00 USD',
        `As of       position ${events[1]!.position}`,
        `Last event  position ${events[1]!.position}, ${events[1]!.at}`,
        '',
      ].join('\n'),
    );
  });

  test.each([
    ['balance', 'Customer:x'],
    ['balance', 'foo:USD'],
    ['balance', 'transit'],
    ['statement', 'tranist:USD'],
    ['statement', 'transit:USD:EUR'],
  ])('refuses what is no account: %s %s', async (command, account) => {
    expect(await ops(command, account)).toEqual({
      code: 2,
      out: '',
      err:
        `error: command-argument value '${account}' is invalid for argument 'account'. It must be InternalAccount:<uuid>, ` +
        'or a system account such as transit:USD: mint, rail, clearing, transit, fx, fees, suspense, receivable.\n',
    });
  });

  test('knows the system accounts of docs/why/system-accounts.md', () => {
    const page = readFileSync(new URL('../../../docs/why/system-accounts.md', import.meta.url), 'utf8');
    const named = [...page.matchAll(/^\| `(\w+):<currency>` \|/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual([...systemAccounts].sort());
  });

  test('refuses a currency that there is not, and a position beyond the log', async () => {
    expect(await ops('balance', 'transit:XXX')).toEqual({
      code: 2,
      out: '',
      err:
        "error: command-argument value 'transit:XXX' is invalid for argument 'account'. There is no currency XXX. " +
        `There are: ${currencyCodes().join(', ')}.\n`,
    });
    const head = await platform.engine.store.head();
    const beyond = { code: 2, out: '', err: `The log ends at position ${head}: there is no event at ${head + 1}.\n` };
    for (const line of [
      ['balance', 'transit:USD', '--at'],
      ['trial-balance', '--at'],
      ['statement', 'transit:USD', '--from'],
      ['statement', 'transit:USD', '--to'],
      ['export', '--to'],
    ]) {
      expect(await ops(...line, `${head + 1}`)).toEqual(beyond);
    }
    expect((await ops('balance', 'transit:USD', '--at', `${head}`)).code).toBe(0);
  });

  test('refuses what is no account here and no moment', async () => {
    const nobody = 'InternalAccount:00000000-0000-4000-8000-000000000000';
    expect(await ops('balance', nobody)).toEqual({
      code: 1,
      out: '',
      err: `There is no internal account ${nobody}.\n`,
    });
    for (const at of ['yesterday', '2025-13-01', '2026-11-31', '2026-02-29T12:00:00Z', '2025-10-13T12:00:00', '-1']) {
      expect(await ops('balance', activity.usd, `--at=${at}`)).toMatchObject({ code: 2, out: '' });
    }
  });
});

describe('statement', () => {
  test('every movement with the balance after it', async () => {
    const made = await json('statement', activity.usd);
    expect(made).toMatchObject({
      account: activity.usd,
      currency: 'USD',
      openingMinor: '0',
      closingMinor: '65000',
      pendingMinor: '10000',
    });
    expect(made.lines).toEqual([
      line(1, 'mint:USD', '50000', '0', '50000'),
      line(2, 'mint:USD', '25000', '0', '75000'),
      { ...line(3, 'transit:USD', '-10000', '0', '65000'), transaction: activity.completed },
      { ...line(4, 'transit:USD', '0', '10000', '65000'), transaction: activity.pending },
    ]);
  });

  test('of a part of the past, which begins with what was there', async () => {
    const [from, to] = [String(events[2]!.position), String(events[3]!.position)];
    const made = await json('statement', activity.usd, '--from', from, '--to', to);
    expect(made).toMatchObject({ openingMinor: '50000', closingMinor: '65000', pendingMinor: '0' });
    expect(made.lines.map((one: { event: string }) => one.event)).toEqual(['DepositReceived', 'AccountDebited']);
  });

  test('of a time before the account was open, and of one that ends before it begins', async () => {
    expect(await ops('statement', activity.usd, '--to', '2000-01-01')).toEqual({
      code: 1,
      out: '',
      err: 'The account was not open yet.\n',
    });
    const backwards = (from: string, to: string) => ops('statement', activity.usd, '--from', from, '--to', to);
    const misused = (err: string) => ({ code: 2, out: '', err: `${err}\n` });
    expect(await backwards('3', '2')).toEqual(misused('--from, position 3, is later than --to, position 2.'));
    expect(await backwards('2026-01-02', '2026-01-01')).toEqual(
      misused('--from, 2026-01-02T00:00:00.000Z, is later than --to, 2026-01-01T23:59:59.999Z.'),
    );
    expect((await backwards('2', '2')).code).toBe(0);
  });

  test('of a system account adds up to its balance', async () => {
    const made = await json('statement', 'mint:USD');
    expect([made.closingMinor, made.lines.length]).toEqual(['-75000', 2]);
    const { out } = await ops('statement', 'mint:USD');
    expect(out).toMatch(/DepositReceived +-500\.00 USD +-500\.00 USD +account:/);
    expect(out).toMatch(/^ +closing +0\.00 USD +-750\.00 USD$/m);
  });

  const line = (event: number, counterpart: string, posted: string, pending: string, balance: string) => ({
    position: events[event]!.position,
    at: events[event]!.at,
    event: events[event]!.type,
    counterpart,
    transaction: expect.stringMatching(/^Transaction:/),
    postedMinor: posted,
    pendingMinor: pending,
    balanceMinor: balance,
  });
});

describe('trial-balance', () => {
  test('is zero in every currency, from the log as from the journal', async () => {
    const { lines, totals, isBalanced } = await json('trial-balance');
    expect([totals, isBalanced]).toEqual([{ EUR: '0', USD: '0' }, true]);
    expect(lines).toContainEqual({
      account: 'platforms',
      currency: 'USD',
      inMinor: '75000',
      outMinor: '10000',
      balanceMinor: '65000',
    });
    const journal = await json('trial-balance', '--journal');
    expect([journal.lines, journal.totals]).toEqual([lines, totals]);
    expect((await ops('trial-balance')).out).toMatch(/^platforms +750\.00 USD +100\.00 USD +650\.00 USD$/m);
  });

  test('at every position of the log', async () => {
    const head = await platform.engine.store.head();
    for (let at = 0; at <= head; at += 1) {
      expect(await json('trial-balance', '--at', String(at))).toMatchObject({ isBalanced: true });
    }
    const first = await json('trial-balance', '--at', String(events[1]!.position));
    expect(first).toMatchObject({
      position: events[1]!.position,
      lines: [
        { account: 'mint', currency: 'USD', inMinor: '0', outMinor: '50000', balanceMinor: '-50000' },
        { account: 'platforms', currency: 'USD', inMinor: '50000', outMinor: '0', balanceMinor: '50000' },
      ],
    });
  });

  test('cannot be asked of the journal as of the past', async () => {
    expect(await ops('trial-balance', '--journal', '--at', '3')).toMatchObject({ code: 2, out: '' });
  });
});

describe('where the clock of the sandbox is ahead', () => {
  test('times that are shown are those that are asked for', async () => {
    await platform
      .api('post', '/sandbox/clock/advance')
      .send({ seconds: 3 * 86_400 })
      .expect(200);
    await platform.api('post', `/sandbox/internal-accounts/${activity.eur}/fund`).send({ amount: 700 }).expect(200);
    const { lines } = await json('statement', activity.eur);
    const { metadata } = (
      await platform.engine.store.readStream(activity.eur.replace('InternalAccount:', 'account-'), -1)
    ).at(-1)!;
    expect(lines.at(-1)).toMatchObject({ postedMinor: '700', at: JSON.parse(metadata).at });
    const { at } = await json('balance', activity.eur);
    expect(at).toBe(lines.at(-1).at);
    expect((await json('statement', activity.eur, '--from', at, '--to', at)).lines).toEqual([lines.at(-1)]);
    expect((await json('balance', 'mint:EUR')).at).toBe(at);
  });
});

describe('where the clocks of two machines differ', () => {
  test('opening, movements and closing add up all the same', async () => {
    const deposit = (position: number, at: string, amountMinor: bigint) => ({
      type: 'DepositReceived',
      data: { accountId: uuid, currency: 'USD', amountMinor, counterpart: 'mint:USD', paymentId: uuid },
      stream: `account-${uuid}`,
      position,
      at,
      meta: {},
    });
    const opened = { ...deposit(1, '2026-11-30T00:00:00.000Z', 0n), type: 'AccountOpened' };
    const events = [
      opened,
      deposit(2, '2026-11-30T23:59:59.990Z', 500n),
      deposit(3, '2026-12-01T00:00:00.005Z', 30n),
      deposit(4, '2026-11-30T23:59:59.995Z', 2n),
    ];
    const engine = { store: { readStream: async () => events }, codec: { decode: async () => events } };
    const from = moment('first')('2026-12-01');
    const made = await statement(engine as unknown as Engine, { uuid }, { from });
    expect(made).toMatchObject({ openingMinor: 502n, closingMinor: 532n });
    expect(made.lines.map(({ postedMinor, balanceMinor }) => [postedMinor, balanceMinor])).toEqual([[30n, 532n]]);
  });

  const uuid = '0199dd29-0000-7000-8000-0000000000aa';
});
