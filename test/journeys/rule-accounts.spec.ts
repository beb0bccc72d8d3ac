import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { account, ReceiveDeposit } from '../../libs/domain/accounts/account.ts';
import { customerAccountId } from '../../libs/domain/customers/customer.process.ts';
import { type CustomerState, customer, RequestRuleAccount } from '../../libs/domain/customers/customer.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import type { Command } from '../../libs/kernel/messages.ts';
import { Seal } from '../../libs/runtime/seal.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Receiver, startReceiver } from '../receiver.ts';

interface Account {
  id: string;
  type: string;
  status: string;
  balance: { amount: number };
  totalBalance: { amount: number };
  fundingPaymentInstructions: object[];
}

interface Failure {
  sourceAccountId: string;
  destinationAccountId: string;
  incomingTransactionId: string;
  sendTransactionId: string | null;
  reason: string;
}

let platform: TestPlatform;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  platform = await startTestPlatform({ settings: { allowRuleBasedAccounts: true }, dispatcher: true });
  await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

const usd = (customer: string) => `InternalAccount:${customerAccountId(customer.slice('Customer:'.length), 'USD')}`;

async function newCustomer(more: object = {}): Promise<string> {
  const person = { customerType: 'INDIVIDUAL', currencies: ['USD'], ...more };
  return (await platform.api('post', '/customers').send(person).expect(201)).body.id;
}

const post = (body: object, key: string = randomUUID(), api = platform.api) =>
  api('post', '/internal-accounts').set('Idempotency-Key', key).send(body);
const request = (customerId: string, accountId: string, more: object = {}, rule: object = {}) => ({
  customerId,
  type: 'RULE_BASED',
  currency: 'USD',
  sweepRule: { destination: { accountId }, ...rule },
  ...more,
});

const accountsOf = async (customer: string): Promise<Account[]> =>
  (await platform.api('get', `/customers/internal-accounts?customerId=${customer}`).expect(200)).body.data;
const held = async (customer: string, id: string): Promise<number> =>
  (await accountsOf(customer)).find((one) => one.id === id)!.totalBalance.amount;
const fund = (id: string, amount: number) =>
  platform.api('post', `/sandbox/internal-accounts/${id}/fund`).send({ amount });

/** The kinds and types of the transactions that an account was a part of, oldest first. */
async function transactionsOf(accountId: string) {
  const { body } = await platform.api('get', `/transactions?accountIdentifier=${accountId}`).expect(200);
  return body.data.reverse() as { id: string; type: string; status: string; failureReason?: string }[];
}

/** Waits until a rule-based account is at rest, with what its transactions came to. */
const swept = (customer: string, id: string, transactions: number) =>
  eventually(
    async () => ({ held: await held(customer, id), list: await transactionsOf(id) }),
    ({ held: amount, list }) =>
      amount === 0 && list.length === transactions && list.every(({ status }) => status !== 'PROCESSING'),
  );

const failures = () =>
  receiver.received.map(({ event }) => event).filter(({ type }) => type === 'INTERNAL_ACCOUNT.SWEEP_FAILED');

async function bankAccount(customerId: string, accountNumber: string): Promise<string> {
  const accountInfo = {
    accountType: 'USD_ACCOUNT',
    accountNumber,
    routingNumber: '021000021',
    bankName: 'Chase',
    beneficiary: {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'Amina Diallo',
      birthDate: '1990-01-15',
      nationality: 'US',
      address: { line1: '1 Main Street', city: 'Springfield', state: 'IL', postalCode: '62701', country: 'US' },
    },
  };
  const body = { customerId, currency: 'USD', accountInfo };
  return (await platform.api('post', '/customers/external-accounts').send(body).expect(201)).body.id;
}

describe('opening', () => {
  test('gives an account number of its own, shown in the list with its rule', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const texts = { description: 'Rent of flat 3', remittanceInformation: 'Flat 3', purposeOfPayment: 'SELF' };
    const { body } = await post(request(holder, usd(other), { label: 'Rent' }, texts)).expect(201);
    const money = (amount: number) => ({ amount, currency: expect.objectContaining({ code: 'USD' }) });
    expect(body).toEqual({
      id: expect.stringMatching(/^InternalAccount:/),
      customerId: holder,
      type: 'RULE_BASED',
      status: 'ACTIVE',
      balance: money(0),
      totalBalance: money(0),
      label: 'Rent',
      sweepRule: {
        destination: { accountId: usd(other) },
        ...texts,
        minimumAmount: money(1),
        maximumAmount: money(1_000_000_000),
      },
      fundingPaymentInstructions: [expect.objectContaining({ isPlatformAccount: false })],
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const all = await accountsOf(holder);
    const [ruled] = all.filter(({ type }) => type === 'RULE_BASED');
    expect(ruled).toEqual(body);
    const numbers = all.map((one) => JSON.stringify(one.fundingPaymentInstructions));
    expect(new Set(numbers).size).toBe(2);
    const { body: list } = await platform
      .api('get', `/customers/internal-accounts?type=RULE_BASED&customerId=${holder}`)
      .expect(200);
    expect(list.data.map(({ id }: Account) => id)).toEqual([body.id]);
  });

  test('is repeated with 200, refused with another body, and needs its key', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const first = await post(request(holder, usd(other)), 'once').expect(201);
    const again = await post(request(holder, usd(other)), 'once').expect(200);
    expect([again.body, again.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    expect((await post(request(holder, usd(other), { label: 'x' }), 'once').expect(409)).body.code).toBe('CONFLICT');
    const { body } = await platform
      .api('post', '/internal-accounts')
      .send(request(holder, usd(other)))
      .expect(400);
    expect(body.details.errors).toMatchObject([{ field: 'Idempotency-Key', constraint: 'REQUIRED' }]);
    expect((await accountsOf(holder)).length).toBe(2);
  });

  test('names every field that is wrong, and takes no others', async () => {
    const holder = await newCustomer();
    const wrong = { type: 'INTERNAL_FIAT', currency: 'EUR', label: 'x'.repeat(256) };
    const sweepRule = { remittanceInformation: 'ü', platformFeeOverride: {} };
    const { body } = await post(request(holder, 'me', { ...wrong, color: 'red' }, sweepRule)).expect(400);
    expect(body.details.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
      'color',
      'currency',
      'label',
      'sweepRule.destination.accountId',
      'sweepRule.platformFeeOverride',
      'sweepRule.remittanceInformation',
      'type',
    ]);
    const more = await post(request(holder, usd(holder), { color: 'red' }, { platformFeeOverride: {} })).expect(400);
    expect(more.body.details.errors).toMatchObject([
      { field: 'color', constraint: 'UNKNOWN_FIELD' },
      { field: 'sweepRule.platformFeeOverride', constraint: 'UNKNOWN_FIELD' },
    ]);
    for (const part of [{ customerId: undefined }, { sweepRule: undefined }])
      await post(request(holder, usd(holder), part)).expect(400);
  });

  test('is for individuals with an ordinary account, towards an account that is not rule-based', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const { body: ruled } = await post(request(holder, usd(other))).expect(201);
    const chained = (await post(request(other, ruled.id)).expect(400)).body;
    expect(chained.details.errors).toMatchObject([
      { field: 'sweepRule.destination.accountId', constraint: 'CONFLICT' },
    ]);
    const rail = (
      await post(
        request(holder, usd(other), {}, { destination: { accountId: usd(other), paymentRail: 'ACH' } }),
      ).expect(400)
    ).body;
    expect(rail.details.errors).toMatchObject([{ field: 'sweepRule.destination.paymentRail', constraint: 'CONFLICT' }]);
    const bank = await bankAccount(holder, '1234567890');
    const sepa = { destination: { accountId: bank, paymentRail: 'SEPA' } };
    const notItsOwn = (await post(request(holder, bank, {}, sepa)).expect(400)).body;
    expect(notItsOwn.details.errors).toMatchObject([
      { field: 'sweepRule.destination.paymentRail', constraint: 'ENUM' },
    ]);
    const business = await newCustomer({
      customerType: 'BUSINESS',
      businessInfo: { legalName: 'Acme', country: 'US', incorporatedOn: '2019-04-01', taxId: '12-3456789' },
    });
    const firm = (await post(request(business, usd(other))).expect(400)).body;
    expect(firm.details.errors).toMatchObject([{ field: 'customerId', constraint: 'CONFLICT' }]);
    const poor = await newCustomer({ currencies: ['EUR'] });
    const none = (await post(request(poor, usd(other))).expect(400)).body;
    expect([none.code, none.details.reason]).toEqual(['INVALID_INPUT', 'NO_CANONICAL_ACCOUNT']);
    await platform.api('delete', `/customers/${poor}`).expect(200);
    expect((await post(request(poor, usd(other))).expect(410)).body.code).toBe('CUSTOMER_DELETED');
    const nobody = usd('Customer:0199dd29-0000-7000-8000-000000000001');
    expect((await post(request(holder, nobody)).expect(404)).body.code).toBe('REFERENCE_NOT_FOUND');
  });

  test('is refused where the platform is not enabled', async () => {
    const { api } = await platform.another();
    const { body: holder } = await api('post', '/customers').send({ customerType: 'INDIVIDUAL' }).expect(201);
    const { body } = await post(request(holder.id, usd(holder.id)), 'k', api).expect(403);
    expect([body.code, body.details.reason]).toEqual(['FORBIDDEN', 'RULE_BASED_ACCOUNTS_NOT_ENABLED']);
  });
});

describe('what arrives', () => {
  test('is swept to another internal account, deposits and payments alike', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const { body: ruled } = await post(request(holder, usd(other), {}, { description: 'Rent' })).expect(201);
    const { body: funded } = await fund(ruled.id, 2_500).expect(200);
    expect(funded.balance.amount).toBe(0);
    const { list } = await swept(holder, ruled.id, 2);
    expect(list).toMatchObject([
      { type: 'INCOMING', status: 'COMPLETED' },
      { type: 'OUTGOING', status: 'COMPLETED', description: 'Rent' },
    ]);
    expect(await held(other, usd(other))).toBe(2_500);
    await fund(usd(other), 500).expect(200);
    const quote = {
      source: { sourceType: 'ACCOUNT', accountId: usd(other) },
      destination: { destinationType: 'ACCOUNT', accountId: ruled.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 3_000,
      immediatelyExecute: true,
    };
    await platform.api('post', '/quotes').send(quote).expect(201);
    await swept(holder, ruled.id, 4);
    expect(await held(other, usd(other))).toBe(3_000);
    expect(await held(holder, usd(holder))).toBe(0);
  });

  test('is swept to a bank account over the rule’s rail', async () => {
    const holder = await newCustomer();
    const bank = await bankAccount(holder, '2234567890');
    const rule = { destination: { accountId: bank, paymentRail: 'WIRE' } };
    const { body: ruled } = await post(request(holder, bank, {}, rule)).expect(201);
    await fund(ruled.id, 700).expect(200);
    const { list } = await swept(holder, ruled.id, 2);
    expect(list[1]).toMatchObject({
      type: 'OUTGOING',
      status: 'COMPLETED',
      paymentRail: 'WIRE',
      railSelectionMode: 'MANUAL',
      destination: { accountId: bank },
    });
  });

  test('cannot be spent by anything else', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const { body: ruled } = await post(request(holder, usd(other))).expect(201);
    const quote = {
      source: { sourceType: 'ACCOUNT', accountId: ruled.id },
      destination: { destinationType: 'ACCOUNT', accountId: usd(other) },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1,
    };
    const { body } = await platform.api('post', '/quotes').send(quote).expect(400);
    expect([body.code, body.details.reason]).toEqual(['INVALID_INPUT', 'FUNDING_SOURCE_INELIGIBLE']);
  });
});

describe('what cannot be swept', () => {
  async function fallsBack(holder: string, destination: string, amount: number, rule: object = {}) {
    const { body: ruled } = await post(request(holder, destination, {}, rule)).expect(201);
    return { ruled, fall: () => fallen(holder, destination, ruled.id, amount) };
  }

  async function fallen(holder: string, destination: string, ruled: string, amount: number) {
    await fund(ruled, amount).expect(200);
    const failure = await eventually(
      async () => failures().find(({ data }) => data.sourceAccountId === ruled)?.data as unknown as Failure,
      (data) => data !== undefined,
    );
    expect(failure).toMatchObject({
      destinationAccountId: destination,
      amount: { amount },
      canonicalAccountId: usd(holder),
    });
    const list = await transactionsOf(ruled);
    expect(failure.incomingTransactionId).toBe(list[0]!.id);
    expect(await held(holder, ruled)).toBe(0);
    expect(await held(holder, usd(holder))).toBe(amount);
    return { failure, list };
  }

  test('EXECUTION_FAILED: the bank refused it', async () => {
    const holder = await newCustomer();
    const { fall } = await fallsBack(holder, await bankAccount(holder, '3234567002'), 900);
    const { failure, list } = await fall();
    expect(failure).toMatchObject({ reason: 'EXECUTION_FAILED', sendTransactionId: list[1]!.id });
    expect(list.map(({ type, status }) => [type, status])).toEqual([
      ['INCOMING', 'COMPLETED'],
      ['OUTGOING', 'FAILED'],
      ['OUTGOING', 'COMPLETED'],
    ]);
  });

  test('BELOW_MINIMUM and ABOVE_MAXIMUM of the platform', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const { fall } = await fallsBack(holder, usd(other), 1_000_000_001);
    const { failure } = await fall();
    expect(failure).toMatchObject({ reason: 'ABOVE_MAXIMUM', sendTransactionId: null });
    const third = await newCustomer();
    const limit = { currencyCode: 'USD', minAmount: 100, maxAmount: 1_000_000, enabledTransactionTypes: ['OUTGOING'] };
    const { body: config } = await platform.api('get', '/config').expect(200);
    const limited = config.supportedCurrencies.map((one: { currencyCode: string }) =>
      one.currencyCode === 'USD' ? { ...one, ...limit } : one,
    );
    await platform.api('patch', '/config').send({ supportedCurrencies: limited }).expect(200);
    const second = await fallsBack(third, usd(other), 99);
    await platform.api('patch', '/config').send({ supportedCurrencies: config.supportedCurrencies }).expect(200);
    expect((await second.fall()).failure).toMatchObject({ reason: 'BELOW_MINIMUM', sendTransactionId: null });
  });

  test('QUOTE_FAILED: the destination is gone', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const { fall } = await fallsBack(holder, usd(other), 400);
    await platform.api('delete', `/customers/${other}`).expect(200);
    expect((await fall()).failure).toMatchObject({ reason: 'QUOTE_FAILED', sendTransactionId: null });
  });
});

describe('closing', () => {
  test('comes with the end of its customer', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const { body: ruled } = await post(request(holder, usd(other))).expect(201);
    await platform.api('delete', `/customers/${holder}`).expect(200);
    const after = await accountsOf(holder);
    expect(after.map(({ status }) => status)).toEqual(['CLOSED', 'CLOSED']);
    expect((await fund(ruled.id, 1).expect(409)).body.details.reason).toBe('ACCOUNT_CLOSED');
    expect((await post(request(holder, usd(other))).expect(410)).body.code).toBe('CUSTOMER_DELETED');
  });
});

describe('when somebody dies', () => {
  const send = (decider: AnyDecider, command: Command) => {
    const commandId = randomUUID();
    const envelope = { commandId, correlationId: commandId, actor: 'test', tenant: platform.tenant };
    return platform.engine.writePath.execute(decider, command, envelope);
  };

  test('a request after the customer was told: the account is opened, and what arrives on it swept', async () => {
    const [holder, other] = [await newCustomer(), await newCustomer()];
    const customerId = holder.slice('Customer:'.length);
    const accountId = randomUUID();
    const id = (publicId: string) => publicId.slice('InternalAccount:'.length);
    const rule = {
      canonicalAccountId: id(usd(holder)),
      destination: { kind: 'INTERNAL' as const, accountId: id(usd(other)) },
      minimumMinor: 1n,
      maximumMinor: 1_000_000n,
    };
    await send(customer, new RequestRuleAccount({ customerId, accountId, currency: 'USD', rule }));
    const { state } = await eventually(
      () => platform.engine.writePath.state<CustomerState>(customer, customerId),
      (one) => one.state.ruleAccountsToOpen?.length === 0,
    );
    const { tenantId, platformCustomerId } = state;
    const leg = { accountId, currency: 'USD', amountMinor: 800n, counterpart: 'mint:USD', paymentId: randomUUID() };
    await send(account, new ReceiveDeposit({ ...leg, tenantId, customerId, platformCustomerId, reference: 'FUND-1' }));
    await swept(holder, `InternalAccount:${accountId}`, 2);
    expect(await held(other, usd(other))).toBe(800);
  });
});

test('what people wrote about a rule cannot be read in the log, and goes with the person', async () => {
  const [holder, other] = [await newCustomer(), await newCustomer()];
  const texts = { description: 'Unlikely-Description', remittanceInformation: 'Unlikely-Remittance' };
  const { body: ruled } = await post(request(holder, usd(other), { label: 'Unlikely-Label' }, texts)).expect(201);
  await fund(ruled.id, 100).expect(200);
  await swept(holder, ruled.id, 2);
  const log = (await platform.log()).map(({ payload }) => payload);
  expect(log.filter((text) => text.includes('Unlikely-'))).toEqual([]);
  await platform.api('delete', `/customers/${holder}`).expect(200);
  await eraseCustomer(platform.engine, platform.tenant, holder.slice('Customer:'.length));
  for (const table of ['internal_accounts', 'sweeps', 'payments']) {
    const { rows } = await platform.engine.pool.query<{ text: string }>(`SELECT t::text AS text FROM ${table} t`);
    expect(rows.filter(({ text }) => text.includes('Unlikely-'))).toEqual([]);
  }
  const seal = new Seal(platform.engine.keyFor('remembered answers'));
  const { rows } = await platform.engine.pool.query<{ key: string; body: string }>(
    'SELECT key, body FROM keyed_answers',
  );
  const remembered = rows.map(({ key, body }) => (body.startsWith('{') ? body : seal.open(body, key)));
  expect(remembered.filter((text) => text.includes('Unlikely-'))).toEqual([]);
});
