import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accountExamples } from '../../libs/domain/external-accounts/account.examples.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { addCustomer } from './external-accounts.setup.ts';

let platform: TestPlatform;
let customerId: string;

beforeAll(async () => {
  platform = await startTestPlatform();
  customerId = await addCustomer(platform);
});
afterAll(() => platform.stop());

const add = (body: object, path = '/customers/external-accounts') => platform.api('post', path).send(body);

/** A US account of its own each time. */
let numbers = 1_000_000;
const usAccount = (more: object = {}) => {
  numbers += 10;
  const accountInfo = { ...accountExamples.USD_ACCOUNT, accountNumber: `${numbers}999` };
  return { currency: 'USD', accountInfo, ...more };
};

test('a holder has an account once per currency; another holder may have it too', async () => {
  const first = usAccount({ customerId });
  expect((await add(first)).status).toBe(201);
  const again = await add(first);
  expect([again.status, again.body.code, again.body.details]).toEqual([
    409,
    'CONFLICT',
    { reason: 'EXTERNAL_ACCOUNT_EXISTS' },
  ]);
  expect((await add({ ...first, customerId: await addCustomer(platform) })).status).toBe(201);
  expect((await add({ ...first, customerId: undefined })).status).toBe(201);
  expect((await add(first, '/platform/external-accounts')).status).toBe(409);
});

test('of many at the same moment one is added', async () => {
  const body = usAccount({ customerId });
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => add(body)))).map(({ status }) => status);
  expect(statuses.sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
});

test('a deleted account can be added again', async () => {
  const body = usAccount({ customerId });
  const { body: first } = await add(body);
  await platform.api('delete', `/customers/external-accounts/${first.id}`).expect(204);
  const again = await add(body);
  expect(again.status).toBe(201);
  expect(again.body.id).not.toBe(first.id);
});

test('a repeated Idempotency-Key adds once', async () => {
  const body = usAccount({ customerId, defaultUmaDepositAccount: true });
  const send = () => platform.api('post', '/customers/external-accounts').set('Idempotency-Key', 'add-1').send(body);
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status, second.headers['idempotent-replayed']]).toEqual([201, 201, 'true']);
  expect(second.body).toEqual(first.body);
});

describe('the same account is known again', () => {
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Amina Diallo', countryOfResidence: 'NG' };
  const ngn = { accountType: 'NGN_ACCOUNT', accountNumber: '0123456789', bankName: 'GTBank' };
  const bdt = { accountType: 'BDT_ACCOUNT', accountNumber: '777', bankName: 'Sonali' };
  const eur = { accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' };
  const swift = { accountType: 'SWIFT_ACCOUNT', country: 'DE', swiftCode: 'COBADEFF', bankName: 'Commerzbank' };

  test.each([
    ['NGN', 'with its bank spelled otherwise', ngn, { ...ngn, bankName: 'GT Bank' }],
    ['BDT', 'with an optional code', bdt, { ...bdt, branchCode: '12345' }],
    ['EUR', 'as an account for SWIFT', eur, { ...swift, iban: eur.iban }],
  ])('%s: %s', async (currency, _, one, other) => {
    const bodyOf = (accountInfo: object) => ({ currency, customerId, accountInfo: { ...accountInfo, beneficiary } });
    await add(bodyOf(one)).expect(201);
    const { body } = await add(bodyOf(other)).expect(409);
    expect([body.code, body.details]).toEqual(['CONFLICT', { reason: 'EXTERNAL_ACCOUNT_EXISTS' }]);
  });
});
