import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accountExamples } from '../../libs/domain/external-accounts/account.examples.ts';
import type { FieldError } from '../../libs/kernel/errors.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
let regulated: TestPlatform['api'];

const currency = (currencyCode: string, mandatory: boolean) => ({
  currencyCode,
  minAmount: 1,
  maxAmount: 5_000_000,
  requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory }],
  enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
});

beforeAll(async () => {
  platform = await startTestPlatform();
  regulated = (await platform.another()).api;
  await demand(regulated, true);
});
afterAll(() => platform.stop());

const demand = (api: TestPlatform['api'], mandatory: boolean) =>
  api('patch', '/config')
    .send({ supportedCurrencies: [currency('USDC', false), currency('EUR', mandatory)] })
    .expect(200);

const wallet = accountExamples.BASE_WALLET;
const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Ada Obi', countryOfResidence: 'DE' };
const custodial = { ...wallet, vaspName: 'Kraken' };
const paths = ['/customers/external-accounts', '/platform/external-accounts'];

/** The answer: its status, or its invalid fields. */
async function add(api: TestPlatform['api'], body: object, path = paths[0]!) {
  const answer = await api('post', path).send(body);
  const errors = answer.body.details?.errors as FieldError[] | undefined;
  return errors ? [answer.body.code, ...errors.map((e) => `${e.field} ${e.constraint}`)] : answer.status;
}

test.each([
  ['a self-custody wallet says whose it is', { accountInfo: wallet }, ['ownershipType REQUIRED']],
  [
    'who owns a wallet of somebody else is told',
    { ownershipType: 'THIRD_PARTY', accountInfo: wallet },
    ['accountInfo.beneficiary REQUIRED'],
  ],
  [
    'a wallet with a custodian, too',
    { ownershipType: 'THIRD_PARTY', accountInfo: custodial },
    ['accountInfo.beneficiary REQUIRED'],
  ],
  [
    'with all other invalid fields',
    { currency: 'EUR', platformAccountId: 7, accountInfo: { ...wallet, address: '0x1' } },
    ['currency CONFLICT', 'platformAccountId TYPE', 'accountInfo.address FORMAT', 'ownershipType REQUIRED'],
  ],
  ['a wrong ownershipType is told once', { ownershipType: 'MINE', accountInfo: wallet }, ['ownershipType ENUM']],
])('with counterparty requirements: %s', async (_, body, errors) => {
  for (const path of paths) {
    expect(await add(regulated, { currency: 'USDC', ...body }, path)).toEqual(['INVALID_INPUT', ...errors]);
  }
});

test.each([
  ['a wallet of its own', { currency: 'USDC', ownershipType: 'FIRST_PARTY', accountInfo: wallet }],
  [
    'a wallet of somebody known',
    { currency: 'USDC', ownershipType: 'THIRD_PARTY', accountInfo: { ...accountExamples.POLYGON_WALLET, beneficiary } },
  ],
  [
    'a wallet with a custodian',
    { currency: 'USDC', accountInfo: { ...accountExamples.ETHEREUM_WALLET, vaspName: 'K' } },
  ],
  [
    'a Lightning address of somebody else',
    { currency: 'BTC', ownershipType: 'THIRD_PARTY', accountInfo: accountExamples.LIGHTNING },
  ],
  ['a bank account', { currency: 'USD', accountInfo: accountExamples.USD_ACCOUNT }],
])('with counterparty requirements is added: %s', async (_, body) => {
  expect(await add(regulated, body)).toBe(201);
});

test('without counterparty requirements, or with optional ones only, a wallet needs neither', async () => {
  const { api } = await platform.another();
  expect(await add(api, { currency: 'USDC', accountInfo: wallet })).toBe(201);
  await demand(api, false);
  const other = { ...accountExamples.ETHEREUM_WALLET };
  expect(await add(api, { currency: 'USDC', ownershipType: 'THIRD_PARTY', accountInfo: other })).toBe(201);
});
