import { randomInt } from 'node:crypto';
import type { Json, PlatformClient } from './client.ts';

const AMOUNT = 10_000;

/** A new customer of the platform. */
export const customer = (client: PlatformClient, more: object = {}): Promise<Json> =>
  client.post('/customers', { customerType: 'INDIVIDUAL', fullName: 'Trigger Example', region: 'US', ...more });

export async function usdAccount(client: PlatformClient, customerId: string): Promise<string> {
  const { data } = await client.get(`/customers/internal-accounts?customerId=${customerId}&currency=USD`);
  if (data.length === 0) throw new Error('The platform does not support USD, which this flow needs.');
  return data[0].id;
}

/** A new customer with money. */
export async function funded(client: PlatformClient): Promise<{ customerId: string; accountId: string }> {
  const { id: customerId } = await customer(client);
  const accountId = await usdAccount(client, customerId);
  await client.post(`/sandbox/internal-accounts/${accountId}/fund`, { amount: AMOUNT });
  return { customerId, accountId };
}

/** A bank account in the United States; its last three digits decide what the sandbox's bank does. */
export const bank = (client: PlatformClient, customerId: string, suffix: string, more: object = {}): Promise<Json> =>
  client.post('/customers/external-accounts', {
    customerId,
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: `${randomInt(100_000, 1_000_000)}${suffix}`,
      routingNumber: '021000021',
      bankAccountType: 'CHECKING',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Trigger Example', countryOfResidence: 'US' },
    },
    ...more,
  });

/** A quote for a payment to a bank whose account number ends so. */
export async function quote(client: PlatformClient, suffix: string): Promise<Json> {
  const { customerId, accountId } = await funded(client);
  const { id } = await bank(client, customerId, suffix);
  return client.post('/quotes', {
    source: { sourceType: 'ACCOUNT', accountId },
    destination: { destinationType: 'ACCOUNT', accountId: id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: AMOUNT / 2,
  });
}

/** The same, executed. */
export async function payout(client: PlatformClient, suffix: string): Promise<void> {
  const { id } = await quote(client, suffix);
  await client.post(`/quotes/${id}/execute`);
}

/** A payment from somebody at the sandbox's UMA domain to a new customer; the platform's endpoint is asked. Answers its transaction's id. */
export async function receive(client: PlatformClient, sender: string, depositSuffix?: string): Promise<string> {
  const { id: customerId } = await customer(client);
  if (depositSuffix !== undefined) await bank(client, customerId, depositSuffix, { defaultUmaDepositAccount: true });
  const { id } = await client.post('/sandbox/uma/receive', {
    senderUmaAddress: `${sender}@sandbox.uma.money`,
    customerId,
    receivingCurrencyCode: 'USD',
    receivingCurrencyAmount: AMOUNT,
  });
  return id;
}

/** The same, approved here, so that it goes on whatever the endpoint says; it may have been quicker. */
export async function received(client: PlatformClient, sender: string, depositSuffix?: string): Promise<void> {
  const id = await receive(client, sender, depositSuffix);
  await client.post(`/transactions/${id}/approve`).catch((error: Error) => {
    if (!error.message.includes('TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL')) throw error;
  });
}
