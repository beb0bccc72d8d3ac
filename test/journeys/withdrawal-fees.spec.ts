import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestPlatform } from '../platform.ts';
import { type Money, startMoney } from './money.setup.ts';

let platform: TestPlatform;
let money: Money;

beforeAll(async () => {
  ({ platform, money } = await startMoney());
});
afterAll(() => platform.stop());

const solana = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const evm = '0x52908400098527886e0f7030069857d2e4169ee7';
const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

const estimate = (more: object = {}) =>
  platform.api('post', '/crypto/estimate-withdrawal-fee').send({
    internalAccountId: money.own('USDC'),
    currency: 'USDC',
    cryptoNetwork: 'SOLANA',
    amount: 1_000_000,
    destinationAddress: solana,
    ...more,
  });

test('the sample: 5000 lamports of a withdrawal', async () => {
  const { body } = await estimate().expect(200);
  expect(body).toEqual({
    networkFee: 5_000,
    networkFeeAsset: 'SOL',
    applicationFee: 0,
    totalFee: 5_000,
    netAmount: 995_000,
  });
});

test.each([
  ['USDC', 'ETHEREUM', evm, 10_000_000, 1_200_000],
  ['USDC', 'BASE', evm, 1_000_000, 10_000],
  ['USDC', 'POLYGON', evm, 1_000_000, 20_000],
  ['BTC', 'BITCOIN', bitcoin, 100_000, 1_500],
  ['BTC', 'LIGHTNING', 'amina@example.com', 100_000, 10],
])('%s on %s', async (currency, cryptoNetwork, destinationAddress, amount, fee) => {
  const account = money.own(currency);
  const { body } = await estimate({
    internalAccountId: account,
    currency,
    cryptoNetwork,
    destinationAddress,
    amount,
  }).expect(200);
  expect(body).toMatchObject({ networkFee: fee, networkFeeAsset: currency, totalFee: fee, netAmount: amount - fee });
});

test.each<[string, () => object, number, string, string | undefined]>([
  [
    'a network that does not carry the currency',
    () => ({ cryptoNetwork: 'TRON' }),
    400,
    'INVALID_INPUT',
    'cryptoNetwork',
  ],
  ['an address of another network', () => ({ destinationAddress: evm }), 400, 'INVALID_INPUT', 'destinationAddress'],
  ['another currency than the account', () => ({ currency: 'BTC' }), 400, 'INVALID_CURRENCY', undefined],
  [
    'an account that holds no crypto',
    () => ({ internalAccountId: money.own('USD'), currency: 'USD' }),
    400,
    'INVALID_CURRENCY',
    undefined,
  ],
  ['an amount that the fee uses up', () => ({ amount: 5_000 }), 400, 'AMOUNT_OUT_OF_RANGE', undefined],
  [
    'an account that is not there',
    () => ({ internalAccountId: 'InternalAccount:0195a000-0000-7000-8000-000000000000' }),
    404,
    'REFERENCE_NOT_FOUND',
    undefined,
  ],
])('refused: %s', async (_, more, status, code, field) => {
  const answer = await estimate(more());
  expect([answer.status, answer.body.code, answer.body.details?.errors?.[0].field]).toEqual([status, code, field]);
});

test('refused for want of crypto says so, and does not ask for the currency that was sent', async () => {
  const fiat = await estimate({ internalAccountId: money.own('USD'), currency: 'USD' });
  expect(fiat.body).toMatchObject({ message: 'The account holds no crypto currency.', details: { currency: 'USD' } });
  const other = await estimate({ currency: 'BTC' });
  expect(other.body.details).toEqual({ currency: 'BTC', expected: 'USDC' });
});
