import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createPlatform, issueToken, platformAccountId } from '../../apps/shared/provision.ts';
import { customerAccountId } from '../../libs/domain/customers/customer.process.ts';
import { uuidV7 } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

interface Account {
  id: string;
  customerId?: string;
  type: string;
  status: string;
  balance: { amount: number; currency: { code: string } };
  totalBalance: { amount: number };
  fundingPaymentInstructions: { accountOrWalletInfo: { accountType: string } }[];
}

let platform: TestPlatform;
let customers: string[];
beforeAll(async () => {
  platform = await startTestPlatform();
  customers = [];
  for (const currencies of [['USD', 'USDB'], ['USD', 'EUR', 'USDC'], ['BTC']]) {
    const { body } = await platform
      .api('post', '/customers')
      .send({ customerType: 'INDIVIDUAL', currencies })
      .expect(201);
    customers.push(body.id);
  }
});
afterAll(() => platform.stop());

const accountId = (customer: string, currency: string) =>
  `InternalAccount:${customerAccountId(customer.slice('Customer:'.length), currency)}`;
const platformAccount = (currency: string, tenant = platform.tenant) =>
  `InternalAccount:${platformAccountId(tenant, currency)}`;
const listed = async (path: string, api = platform.api): Promise<Account[]> =>
  (await api('get', path).expect(200)).body.data;
const shown = (accounts: Account[]) =>
  accounts.map((one) => `${customers.indexOf(one.customerId ?? '')} ${one.balance.currency.code}`).sort();

describe("customers' internal accounts", () => {
  test('are listed for all customers, without the platform’s own', async () => {
    expect(shown(await listed('/customers/internal-accounts'))).toEqual([
      '0 USD',
      '0 USDB',
      '1 EUR',
      '1 USD',
      '1 USDC',
      '2 BTC',
    ]);
  });

  test('by customer, currency and type', async () => {
    const of = async (query: string) => shown(await listed(`/customers/internal-accounts?${query}`));
    expect(await of(`customerId=${customers[0]}`)).toEqual(['0 USD', '0 USDB']);
    expect(await of('currency=USD')).toEqual(['0 USD', '1 USD']);
    expect(await of('type=EMBEDDED_WALLET')).toEqual(['0 USDB']);
    expect(await of('type=INTERNAL_CRYPTO')).toEqual(['1 USDC', '2 BTC']);
    expect(await of('type=RULE_BASED')).toEqual([]);
    expect(await of(`customerId=${customers[1]}&type=INTERNAL_FIAT&currency=EUR`)).toEqual(['1 EUR']);
    expect(await of(`customerId=Customer:${randomUUID()}`)).toEqual([]);
  });

  test('in pages', async () => {
    const first = (await platform.api('get', '/customers/internal-accounts?limit=4').expect(200)).body;
    expect([first.data.length, first.hasMore, first.totalCount]).toEqual([4, true, 6]);
    const second = await listed(`/customers/internal-accounts?limit=4&cursor=${first.nextCursor}`);
    expect(new Set([...first.data, ...second].map(({ id }: Account) => id)).size).toBe(6);
    await platform
      .api('get', `/customers/internal-accounts?limit=4&currency=USD&cursor=${first.nextCursor}`)
      .expect(400);
  });

  test.each(['currency=XXX', 'type=SAVINGS', 'customerId=me', 'limit=0', 'cursor=x'])(
    '%s is refused',
    async (query) => {
      const { body } = await platform.api('get', `/customers/internal-accounts?${query}`).expect(400);
      expect(body.details.errors[0].field).toBe(query.split('=')[0]);
    },
  );

  test('show what they hold and how to fund them', async () => {
    const [wallet] = await listed(`/customers/internal-accounts?customerId=${customers[0]}&currency=USDB`);
    expect(wallet).toEqual({
      id: accountId(customers[0]!, 'USDB'),
      customerId: customers[0],
      type: 'EMBEDDED_WALLET',
      status: 'ACTIVE',
      balance: { amount: 0, currency: { code: 'USDB', name: 'USDB', symbol: '', decimals: 6 } },
      totalBalance: { amount: 0, currency: { code: 'USDB', name: 'USDB', symbol: '', decimals: 6 } },
      fundingPaymentInstructions: [
        {
          accountOrWalletInfo: {
            accountType: 'SPARK_WALLET',
            assetType: 'USDB',
            address: expect.stringMatching(/^sparkrt1/),
          },
          isPlatformAccount: false,
        },
      ],
      privateEnabled: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });
});

describe("the platform's internal accounts", () => {
  test('are one per currency, in one answer', async () => {
    const { body } = await platform.api('get', '/platform/internal-accounts').expect(200);
    expect(Object.keys(body)).toEqual(['data']);
    const types = body.data.map((one: Account) => [one.balance.currency.code, one.type, one.customerId]);
    expect(types.sort()).toEqual([
      ['BTC', 'INTERNAL_CRYPTO', undefined],
      ['EUR', 'INTERNAL_FIAT', undefined],
      ['GBP', 'INTERNAL_FIAT', undefined],
      ['MXN', 'INTERNAL_FIAT', undefined],
      ['USD', 'INTERNAL_FIAT', undefined],
      ['USDB', 'EMBEDDED_WALLET', undefined],
      ['USDC', 'INTERNAL_CRYPTO', undefined],
    ]);
  });

  test('by currency and type', async () => {
    expect((await listed('/platform/internal-accounts?currency=GBP')).map(({ id }) => id)).toEqual([
      platformAccount('GBP'),
    ]);
    expect(shown(await listed('/platform/internal-accounts?type=INTERNAL_CRYPTO'))).toEqual(['-1 BTC', '-1 USDC']);
    await platform.api('get', '/platform/internal-accounts?type=x').expect(400);
  });

  test('are nobody else’s', async () => {
    const { api, tenant } = await platform.another();
    const ids = (await listed('/platform/internal-accounts', api)).map(({ id }) => id);
    expect(ids).toContain(platformAccount('USD', tenant));
    expect(ids).not.toContain(platformAccount('USD'));
    expect(await listed('/customers/internal-accounts', api)).toEqual([]);
    expect(await listed(`/customers/internal-accounts?customerId=${customers[0]}`, api)).toEqual([]);
  });
});

describe('funding in the sandbox', () => {
  const fund = (id: string, amount: unknown, api = platform.api) =>
    api('post', `/sandbox/internal-accounts/${id}/fund`).send({ amount });

  test('brings the money at once, onto the accounts of customers too', async () => {
    const id = accountId(customers[1]!, 'USDC');
    const { body } = await fund(id, 2_500_000).expect(200);
    expect(body).toMatchObject({
      id,
      customerId: customers[1],
      balance: { amount: 2_500_000 },
      totalBalance: { amount: 2_500_000 },
    });
    const [again] = await listed(`/customers/internal-accounts?customerId=${customers[1]}&currency=USDC`);
    expect(again).toEqual(body);
  });

  test.each([
    [0, 'MINIMUM'],
    [-1, 'MINIMUM'],
    [1.5, 'TYPE'],
    ['1', 'TYPE'],
    [null, 'REQUIRED'],
    [undefined, 'REQUIRED'],
    [100_000_000_001, 'MAXIMUM'],
  ])('an amount of %j is refused with %s', async (amount, constraint) => {
    const { body } = await fund(platformAccount('GBP'), amount).expect(400);
    expect(body.details.errors).toMatchObject([{ field: 'amount', constraint }]);
  });

  test('an account that is not there, malformed, or another platform’s is not found', async () => {
    const { api } = await platform.another();
    const asked = [
      fund(`InternalAccount:${randomUUID()}`, 1),
      fund('InternalAccount:1', 1),
      fund(customers[0]!, 1),
      fund(platformAccount('USD'), 1, api),
    ];
    for (const one of asked) expect((await one.expect(404)).body.code).toBe('REFERENCE_NOT_FOUND');
  });

  test('a closed account takes nothing', async () => {
    const { body: gone } = await platform
      .api('post', '/customers')
      .send({ customerType: 'INDIVIDUAL', currencies: ['USD'] });
    await platform.api('delete', `/customers/${gone.id}`).expect(200);
    const { body } = await fund(accountId(gone.id, 'USD'), 1).expect(409);
    expect([body.code, body.details.reason]).toEqual(['CONFLICT', 'ACCOUNT_CLOSED']);
  });

  test('a VIEW token may not', async () => {
    const { body: token } = await platform.api('post', '/tokens').send({ name: 'v', permissions: ['VIEW'] });
    const api: TestPlatform['api'] = (method, path) =>
      platform.api(method, path).auth(token.clientId, token.clientSecret);
    await listed('/platform/internal-accounts', api);
    expect((await fund(platformAccount('USD'), 1, api).expect(403)).body.details.requiredPermission).toBe('TRANSACT');
  });

  test('production has no sandbox, and no instructions that nobody stands behind', async () => {
    const tenant: Tenant = { platform: platform.tenant.platform, environment: 'production' };
    await createPlatform(platform.engine, tenant, { name: 'Live', currencies: ['USD'] });
    const { clientId, clientSecret } = await issueToken(platform.engine, tenant, {
      name: 'live',
      tokenId: uuidV7(Date.now(), randomBytes(10)),
    });
    const api: TestPlatform['api'] = (method, path) => platform.api(method, path).auth(clientId, clientSecret);
    expect((await fund(platformAccount('USD', tenant), 1, api).expect(403)).body.code).toBe('FORBIDDEN');
    expect((await fund(platformAccount('USD'), 1, api).expect(403)).body.code).toBe('FORBIDDEN');
    const [own] = await listed('/platform/internal-accounts', api);
    expect([own!.id, own!.balance.amount, own!.fundingPaymentInstructions]).toEqual([
      platformAccount('USD', tenant),
      0,
      [],
    ]);
    const kyc = await api('post', '/customers').send({ customerType: 'INDIVIDUAL', fullName: 'Amina' }).expect(201);
    expect(kyc.body.kycStatus).toBe('UNVERIFIED');
    await platform.api('get', `/customers/${kyc.body.id}`).expect(404);
  });
});
