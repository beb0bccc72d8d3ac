import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  accountExamples,
  exampleCurrencies,
  withSuffix,
} from '../../libs/domain/external-accounts/account.examples.ts';
import {
  type AccountType,
  accountTypeNames,
  accountTypes,
  railsOf,
} from '../../libs/domain/external-accounts/account-types.ts';
import type { FieldError } from '../../libs/kernel/errors.ts';
import { type Document, expectMatchesOpenApi } from '../openapi-validator.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { addCustomer, deleteCustomer } from './external-accounts.setup.ts';

let platform: TestPlatform;
let document: Document;
let customerId: string;

beforeAll(async () => {
  platform = await startTestPlatform();
  document = await openApi();
  customerId = await addCustomer(platform);
});
afterAll(() => platform.stop());

const openApi = async (): Promise<Document> => {
  const { default: supertest } = await import('supertest');
  return (await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200)).body;
};

type Method = Parameters<TestPlatform['api']>[0];

/** Sends a request and holds the answer against the OpenAPI document. */
async function call(method: Method, path: string, body?: object, api = platform.api) {
  const answer = await api(method, path).send(body);
  expectMatchesOpenApi(document, method, `/2025-10-13${path}`, answer);
  return answer;
}

const currencyOf = (type: AccountType): string =>
  exampleCurrencies[type] ?? (accountTypes[type].currencies as readonly string[])[0]!;

const bodyOf = (type: AccountType, more: object = {}) => ({
  currency: currencyOf(type),
  accountInfo: accountExamples[type],
  ...more,
});

const add = (body: object, path = '/customers/external-accounts') => call('post', path, body);

/** Invalid fields of an answer, in order. */
const invalid = ({ body }: { body: { details?: { errors?: FieldError[] } } }) =>
  body.details?.errors?.map(({ field, constraint }) => `${field} ${constraint}`);

/** A US account of its own each time, so that none is a duplicate. */
let numbers = 1_000_000;
const usAccount = (more: object = {}) => {
  numbers += 10;
  const accountInfo = { ...accountExamples.USD_ACCOUNT, accountNumber: `${numbers}999` };
  return { currency: 'USD', accountInfo, ...more };
};

describe('every account type', () => {
  test.each(accountTypeNames)('%s of a customer, shown as it was given, with its rails', async (type) => {
    const { status, body } = await add(bodyOf(type, { customerId, platformAccountId: `mine-${type}` }));
    expect(status).toBe(201);
    const paymentRails = railsOf(accountExamples[type]);
    expect(body).toEqual({
      id: expect.stringMatching(/^ExternalAccount:[0-9a-f-]{36}$/),
      customerId,
      status: 'ACTIVE',
      platformAccountId: `mine-${type}`,
      currency: currencyOf(type),
      defaultUmaDepositAccount: false,
      beneficiaryVerificationStatus: accountExamples[type].beneficiary ? 'MATCHED' : 'UNSUPPORTED',
      ...(accountExamples[type].beneficiary !== undefined && {
        beneficiaryVerifiedData: { fullName: nameIn(accountExamples[type].beneficiary) },
      }),
      accountInfo: { ...accountExamples[type], ...(paymentRails.length > 0 && { paymentRails }) },
    });
    expect((await call('get', `/customers/external-accounts/${body.id}`)).body).toEqual(body);
  });

  const otherKind = accountTypeNames.filter((type) => accountTypes[type].beneficiary);
  test.each(otherKind)('%s of the platform, for the other kind of beneficiary', async (type) => {
    const address = { line1: '1 Main Street', postalCode: '10001', country: 'US' };
    const given = accountExamples[type].beneficiary as { beneficiaryType: string } | undefined;
    const isBusiness = given?.beneficiaryType !== 'BUSINESS' && type !== 'CNY_ACCOUNT';
    const person = { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Obi', countryOfResidence: 'US' };
    const business = { beneficiaryType: 'BUSINESS', legalName: 'Obi Ltd', address };
    const phoneOnly = type === 'CNY_ACCOUNT' ? { phoneNumber: '+8613712345678' } : {};
    const beneficiary = isBusiness || type === 'CNY_ACCOUNT' ? (isBusiness ? business : person) : person;
    const accountInfo = { ...accountExamples[type], ...phoneOnly, beneficiary };
    const { status, body } = await add({ currency: currencyOf(type), accountInfo }, '/platform/external-accounts');
    expect(invalid({ body })).toBeUndefined();
    expect(status).toBe(201);
    expect(body).toMatchObject({ customerId: null, status: 'ACTIVE', accountInfo });
    expect(body).not.toHaveProperty('defaultUmaDepositAccount');
    expect((await call('get', `/platform/external-accounts/${body.id}`)).body).toEqual(body);
  });
});

const nameIn = (beneficiary: unknown) => {
  const { fullName, legalName } = beneficiary as { fullName?: string; legalName?: string };
  return fullName ?? legalName;
};

describe('what is wrong with a request is told field by field, and nothing is added', () => {
  test('a currency that there is not is answered with those that there are', async () => {
    const { body } = await add({ currency: 'XXX', accountInfo: accountExamples.USD_ACCOUNT });
    expect(body.details.errors).toMatchObject([{ field: 'currency', allowed: expect.arrayContaining(['USD', 'BTC']) }]);
  });

  test.each([
    ['nothing', {}, ['currency REQUIRED', 'accountInfo REQUIRED']],
    ['wrong types', { currency: 5, accountInfo: 'x' }, ['currency TYPE', 'accountInfo TYPE']],
    [
      'unknown names',
      { currency: 'XXX', accountInfo: { accountType: 'MOON_ACCOUNT' } },
      ['currency ENUM', 'accountInfo.accountType ENUM'],
    ],
    [
      'a currency that the account does not hold',
      { currency: 'EUR', accountInfo: accountExamples.USD_ACCOUNT },
      ['currency CONFLICT'],
    ],
    [
      'several fields at once',
      {
        currency: 'USD',
        ownershipType: 'MINE',
        platformAccountId: 7,
        customerId: 'nobody',
        accountInfo: { ...accountExamples.USD_ACCOUNT, routingNumber: '021000022', bankAccountType: 'OTHER' },
      },
      [
        'customerId PATTERN',
        'currency',
        'platformAccountId TYPE',
        'ownershipType ENUM',
        'accountInfo.routingNumber FORMAT',
        'accountInfo.bankAccountType ENUM',
      ].filter((field) => field !== 'currency'),
    ],
    [
      'an incomplete beneficiary',
      {
        currency: 'AED',
        accountInfo: {
          ...accountExamples.AED_ACCOUNT,
          beneficiary: { beneficiaryType: 'INDIVIDUAL', nationality: 'ZZ' },
        },
      },
      [
        'accountInfo.beneficiary.fullName REQUIRED',
        'accountInfo.beneficiary.nationality FORMAT',
        'accountInfo.beneficiary.address REQUIRED',
      ],
    ],
    [
      'no rail that could pay it',
      { currency: 'COP', accountInfo: { accountType: 'COP_ACCOUNT', bankName: 'B', beneficiary: person() } },
      [
        'accountInfo.accountNumber REQUIRED',
        'accountInfo.bankAccountType REQUIRED',
        'accountInfo.phoneNumber REQUIRED',
      ],
    ],
    [
      'two ways to reach a Lightning wallet',
      {
        currency: 'BTC',
        accountInfo: { accountType: 'LIGHTNING', lightningAddress: 'a@b.co', bolt12: `lno1${'q'.repeat(20)}` },
      },
      ['accountInfo.lightningAddress CONFLICT'],
    ],
    [
      'a platform identifier inside accountInfo',
      { currency: 'USD', accountInfo: { ...accountExamples.USD_ACCOUNT, platformAccountId: 5 } },
      ['accountInfo.platformAccountId TYPE'],
    ],
    [
      'an Israeli bank that nobody knows',
      { currency: 'ILS', accountInfo: { ...accountExamples.ILS_ACCOUNT, bankName: 'Bank' } },
      ['accountInfo.bankName ENUM'],
    ],
    [
      'the same with more that is wrong',
      {
        currency: 'ILS',
        ownershipType: 'MINE',
        accountInfo: { ...accountExamples.ILS_ACCOUNT, bankName: 'Bank', iban: 'x', beneficiary: undefined },
      },
      [
        'ownershipType ENUM',
        'accountInfo.bankName ENUM',
        'accountInfo.iban PATTERN',
        'accountInfo.beneficiary REQUIRED',
      ],
    ],
  ])('%s', async (_, body, fields) => {
    const before = await total();
    const answer = await add(body);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('INVALID_INPUT');
    expect(invalid(answer)?.sort()).toEqual([...fields].sort());
    expect(await total()).toBe(before);
  });

  test('a default for UMA payments needs a customer', async () => {
    expect(invalid(await add(usAccount({ defaultUmaDepositAccount: true })))).toEqual([
      'defaultUmaDepositAccount CONFLICT',
    ]);
    expect(invalid(await add(usAccount({ customerId, defaultUmaDepositAccount: 'yes' })))).toEqual([
      'defaultUmaDepositAccount TYPE',
    ]);
  });

  function person() {
    return { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Obi' };
  }
  async function total(): Promise<number> {
    const lists = await Promise.all(['customers', 'platform'].map((of) => call('get', `/${of}/external-accounts`)));
    return lists.reduce((sum, { body }) => sum + body.totalCount, 0);
  }
});

test("the platform's identifier is also read inside accountInfo, and is not a part of it", async () => {
  const { accountInfo } = usAccount();
  const { body } = await add({
    currency: 'USD',
    accountInfo: { ...accountInfo, platformAccountId: 'inside', paymentRails: ['X'] },
  });
  expect(body).toMatchObject({ platformAccountId: 'inside', customerId: null });
  expect(body.accountInfo).toEqual({ ...accountInfo, paymentRails: ['ACH', 'WIRE', 'RTP', 'FEDNOW'] });
});

describe('the name of the beneficiary', () => {
  test.each([
    ['102', 'NOT_MATCHED', undefined],
    ['103', 'PARTIAL_MATCH', { fullName: 'A. Diallo' }],
    ['104', 'PENDING', undefined],
    ['106', 'UNSUPPORTED', undefined],
    ['107', 'CHECKED_BY_RECEIVING_FI', undefined],
    ['001', 'MATCHED', { fullName: 'Amina Diallo' }],
  ])('suffix %s: %s', async (suffix, expected, verified) => {
    const { status, body } = await add({ currency: 'MXN', accountInfo: withSuffix('MXN_ACCOUNT', suffix), customerId });
    expect(status).toBe(201);
    expect(body.status).toBe('ACTIVE');
    expect(body.beneficiaryVerificationStatus).toBe(expected);
    expect(body.beneficiaryVerifiedData).toEqual(verified);
    expect((await call('get', `/customers/external-accounts/${body.id}`)).body).toEqual(body);
  });

  test('suffix 105: there is no such account, and none is added', async () => {
    const body = { currency: 'BRL', accountInfo: withSuffix('BRL_ACCOUNT', '105'), customerId };
    const answer = await add(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_BANK_ACCOUNT']);
    const list = await call('get', `/customers/external-accounts?currency=BRL&customerId=${customerId}`);
    expect(list.body.totalCount).toBe(1);
  });
});

describe('the default for UMA payments', () => {
  test('is one account per customer: a new one takes the place of the old one', async () => {
    const customer = await addCustomer(platform);
    const shown = async () =>
      Object.fromEntries(
        (await call('get', `/customers/external-accounts?customerId=${customer}`)).body.data.map(
          (one: { id: string; defaultUmaDepositAccount: boolean }) => [one.id, one.defaultUmaDepositAccount],
        ),
      );
    const first = (await add(usAccount({ customerId: customer, defaultUmaDepositAccount: true }))).body;
    const plain = (await add(usAccount({ customerId: customer, defaultUmaDepositAccount: false }))).body;
    expect([first.defaultUmaDepositAccount, plain.defaultUmaDepositAccount]).toEqual([true, false]);
    const second = (await add(usAccount({ customerId: customer, defaultUmaDepositAccount: true }))).body;
    expect(second.defaultUmaDepositAccount).toBe(true);
    expect(await shown()).toEqual({ [first.id]: false, [plain.id]: false, [second.id]: true });
    await call('delete', `/customers/external-accounts/${first.id}`);
    expect(await shown()).toEqual({ [plain.id]: false, [second.id]: true });
    await call('delete', `/customers/external-accounts/${second.id}`);
    expect(await shown()).toEqual({ [plain.id]: false });
    expect(await shown()).toEqual({ [plain.id]: false });
  });
});

describe('lists', () => {
  test("customers' accounts by customer and currency, newest first, in pages; the platform's by currency", async () => {
    const customer = await addCustomer(platform);
    const ids: string[] = [];
    for (const body of [usAccount(), bodyOf('EUR_ACCOUNT'), usAccount()]) {
      ids.unshift((await add({ ...body, customerId: customer })).body.id);
    }
    const list = async (query: string) => (await call('get', `/customers/external-accounts?${query}`)).body;
    const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);
    expect(idsOf(await list(`customerId=${customer}`))).toEqual(ids);
    expect(idsOf(await list(`customerId=${customer}&currency=USD`))).toEqual([ids[0], ids[2]]);
    expect(await list(`customerId=${customer}&currency=GBP`)).toEqual({ data: [], hasMore: false, totalCount: 0 });
    const page = await list(`customerId=${customer}&limit=2`);
    expect([idsOf(page), page.hasMore, page.totalCount]).toEqual([[ids[0], ids[1]], true, 3]);
    const rest = await list(`customerId=${customer}&limit=2&cursor=${page.nextCursor}`);
    expect([idsOf(rest), rest.hasMore, rest.totalCount]).toEqual([[ids[2]], false, 3]);
    const misused = await call('get', `/customers/external-accounts?cursor=${page.nextCursor}`);
    expect(invalid(misused)).toEqual(['cursor FORMAT']);
    expect(invalid(await call('get', '/customers/external-accounts?customerId=x&limit=0'))?.sort()).toEqual([
      'customerId PATTERN',
      'limit MINIMUM',
    ]);

    const own = await add(usAccount(), '/platform/external-accounts');
    const platforms = (await call('get', '/platform/external-accounts?currency=USD&limit=100')).body;
    expect(idsOf(platforms)[0]).toBe(own.body.id);
    expect(
      platforms.data.every(
        (one: { customerId: unknown; currency: string }) => one.customerId === null && one.currency === 'USD',
      ),
    ).toBe(true);
    expect(idsOf(await list('limit=100'))).not.toContain(own.body.id);
  });

  test('a deleted account is gone from everywhere', async () => {
    const { id } = (await add(usAccount({ customerId }))).body;
    expect((await call('delete', `/customers/external-accounts/${id}`)).status).toBe(204);
    for (const method of ['get', 'delete'] as const) {
      const answer = await call(method, `/customers/external-accounts/${id}`);
      expect([answer.status, answer.body.code]).toEqual([404, 'REFERENCE_NOT_FOUND']);
    }
    const { body } = await call('get', `/customers/external-accounts?customerId=${customerId}&limit=100`);
    expect(body.data.map((one: { id: string }) => one.id)).not.toContain(id);
  });
});

describe('whose it is', () => {
  test('another platform has neither the account nor the customer', async () => {
    const other = await platform.another();
    const { id } = (await add(usAccount({ customerId }))).body;
    const statuses = [
      await call('get', `/customers/external-accounts/${id}`, undefined, other.api),
      await call('delete', `/customers/external-accounts/${id}`, undefined, other.api),
      await call('post', `/customers/external-accounts/${id}/challenge`, { method: 'LIVENESS' }, other.api),
      await call('post', `/customers/external-accounts/${id}/verify`, { signature: '0x00' }, other.api),
      await call('post', `/sandbox/external-accounts/${id}/liveness`, { outcome: 'FAILED' }, other.api),
      await call('post', '/customers/external-accounts', usAccount({ customerId }), other.api),
    ].map(({ status, body }) => `${status} ${body.code}`);
    expect(statuses).toEqual([...Array(5).fill('404 REFERENCE_NOT_FOUND'), '404 USER_NOT_FOUND']);
    expect((await call('get', '/customers/external-accounts', undefined, other.api)).body.data).toEqual([]);
    expect((await call('get', `/customers/external-accounts/${id}`)).status).toBe(200);
  });

  test("the platform's paths have the platform's accounts only; a customer's path has both", async () => {
    const ofCustomer = (await add(usAccount({ customerId }))).body.id;
    const ofPlatform = (await add(usAccount())).body.id;
    expect((await call('get', `/platform/external-accounts/${ofCustomer}`)).status).toBe(404);
    expect((await call('delete', `/platform/external-accounts/${ofCustomer}`)).status).toBe(404);
    expect((await call('get', `/customers/external-accounts/${ofPlatform}`)).status).toBe(200);
    expect((await call('delete', `/platform/external-accounts/${ofPlatform}`)).status).toBe(204);
  });

  test.each(['ExternalAccount:1', 'InternalAccount:019542f5-b3e7-7d02-8000-000000000001', 'nobody'])(
    '%s is no external account',
    async (id) => {
      expect((await call('get', `/customers/external-accounts/${id}`)).status).toBe(404);
    },
  );

  test('an unknown customer is not found, a deleted one is gone', async () => {
    const unknown = await add(usAccount({ customerId: 'Customer:019542f5-b3e7-7d02-8000-000000000001' }));
    expect([unknown.status, unknown.body.code]).toEqual([404, 'USER_NOT_FOUND']);
    const deleted = await addCustomer(platform);
    await deleteCustomer(platform, deleted);
    const gone = await add(usAccount({ customerId: deleted }));
    expect([gone.status, gone.body.code]).toEqual([410, 'CUSTOMER_DELETED']);
  });
});
