import { randomUUID } from 'node:crypto';
import { amount as money } from '../../../ops/src/output.ts';
import { type Cast, shown, signatures } from './cast.ts';
import { Client, type Json, must } from './client.ts';
import { closing } from './closing.ts';
import { startReceiver } from './receiver.ts';
import type { Target } from './target.ts';
import type { Teller } from './teller.ts';

/** Plays the whole story: from a new customer to payments, a refund, webhooks and the books. Throws what is not as it must be. */
export async function play(target: Target, teller: Teller): Promise<void> {
  const client = new Client(target.url, target.credentials, teller);
  const { receiver, before } = await openEndpoint(target, client, teller);
  try {
    const cast = { target, client, teller, receiver, ...(await customers(client, teller)) };
    await moneyIn(cast);
    const quoted = target.engine ? await quoteThatExpires(cast) : undefined;
    await toAnotherCustomer(cast);
    const paid = await toABank(cast);
    await returned(cast);
    await refused(cast);
    if (quoted) await expired(cast, quoted);
    await closing(cast, paid);
  } finally {
    if (!target.engine) await restore(client, teller, before);
    await receiver.stop();
  }
}

async function openEndpoint(target: Target, client: Client, teller: Teller) {
  teller.chapter('A platform, and where its webhooks go');
  const { body: config } = await client.call('GET', '/config', 200);
  const currencies = config.supportedCurrencies.map((one: Json) => one.currencyCode);
  teller.say(`The platform has a client id and a secret. It works in ${currencies.join(', ')}.`);
  const { body: keys } = await client.call('GET', '/webhooks/keys', 200);
  const receiver = await startReceiver({ secret: target.webhookSecret, publicKey: keys.publicKey });
  await client.call('PATCH', '/config', 200, { body: { webhookEndpoint: receiver.url } });
  await receiver.until(({ type }) => type === 'TEST', 'TEST');
  teller.right(`A TEST webhook arrived at ${receiver.url}, ${signatures(target)}.`);
  return { receiver, before: config.webhookEndpoint as string | undefined };
}

async function restore(client: Client, teller: Teller, webhookEndpoint: string | undefined): Promise<void> {
  if (webhookEndpoint === undefined) {
    return teller.say(
      'The webhook endpoint of the platform is still that of this demo, which ends now: set another one.',
    );
  }
  await client.call('PATCH', '/config', 200, { body: { webhookEndpoint }, note: 'the endpoint from before' });
}

async function customers(client: Client, teller: Teller) {
  teller.chapter('Two customers; their accounts appear with them');
  const create = async (fullName: string, region: string) => {
    const body = { customerType: 'INDIVIDUAL', fullName, region };
    return (await client.call('POST', '/customers', 201, { body, note: fullName })).body.id as string;
  };
  const amina = await create('Amina Diallo', 'US');
  const jonas = await create('Jonas Weber', 'DE');
  const accountsOf = async (customerId: string) =>
    (await client.call('GET', `/customers/internal-accounts?customerId=${customerId}`, 200)).body.data as Json[];
  const accounts = await accountsOf(amina);
  teller.right(`Amina has ${accounts.length} accounts, one per currency, all at zero.`);
  const inCurrency = (all: Json[], code: string) => {
    const account = all.find((one) => one.balance.currency.code === code);
    must(account !== undefined, `there is no account in ${code}`);
    return account.id as string;
  };
  return { amina, jonas, aminaUsd: inCurrency(accounts, 'USD'), jonasEur: inCurrency(await accountsOf(jonas), 'EUR') };
}

async function moneyIn({ client, teller, receiver, aminaUsd }: Cast): Promise<void> {
  teller.chapter('Money comes in');
  const fund = { key: randomUUID(), body: { amount: 100_000 } };
  const path = `/sandbox/internal-accounts/${aminaUsd}/fund`;
  const first = await client.call('POST', path, 200, { ...fund, note: 'with an Idempotency-Key' });
  teller.say(`Amina's dollars: ${shown(first.body.balance)}.`);
  const again = await client.call('POST', path, 200, { ...fund, note: 'the same key again' });
  must(again.headers.get('idempotent-replayed') === 'true', 'the repeated request was not recognised');
  must(again.body.balance.amount === 100_000, 'the repeated request brought money again');
  teller.right('The repetition got the same answer and moved nothing: a client may repeat whatever went unanswered.');
  await receiver.until(({ type }) => type === 'INCOMING_PAYMENT.COMPLETED', 'INCOMING_PAYMENT.COMPLETED');
  teller.right('Webhook INCOMING_PAYMENT.COMPLETED.');
}

const quoteBody = (from: string, to: string, lockedCurrencyAmount: number) => ({
  source: { sourceType: 'ACCOUNT', accountId: from },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount,
});

async function quoteThatExpires({ client, teller, aminaUsd, jonasEur }: Cast): Promise<string> {
  teller.chapter('A quote that nobody executes');
  const { body } = await client.call('POST', '/quotes', 201, { body: quoteBody(aminaUsd, jonasEur, 5_000) });
  teller.say(`It holds its price until ${body.expiresAt}: five minutes, here a hundred times as fast.`);
  return body.id;
}

async function toAnotherCustomer({ client, teller, receiver, aminaUsd, jonasEur }: Cast): Promise<void> {
  teller.chapter('From customer to customer, dollars to euros');
  const { body: quote } = await client.call('POST', '/quotes', 201, { body: quoteBody(aminaUsd, jonasEur, 20_000) });
  const [sending, receiving] = [quote.totalSendingAmount, quote.totalReceivingAmount];
  teller.say(
    `Amina sends ${money(BigInt(sending), 'USD')}, Jonas gets ${money(BigInt(receiving), 'EUR')}: ` +
      `rate ${quote.exchangeRate}, fees ${money(BigInt(quote.feesIncluded), 'USD')}. Nothing has moved yet.`,
  );
  const { body: executed } = await client.call('POST', `/quotes/${quote.id}/execute`, 200);
  must(executed.status === 'COMPLETED', `the executed quote is ${executed.status}`);
  const { transactionId } = quote;
  await receiver.until(isAbout(transactionId, 'OUTGOING_PAYMENT.COMPLETED'), 'OUTGOING_PAYMENT.COMPLETED');
  teller.right('Completed within the request; webhook OUTGOING_PAYMENT.COMPLETED.');
}

const isAbout =
  (transactionId: string, type: string) =>
  (webhook: { type: string; data: Json }): boolean =>
    webhook.type === type && webhook.data.id === transactionId;

/** Adds a bank account in the United States; the last digits decide what the sandbox's bank does. */
async function addBank({ client, amina }: Cast, accountNumber: string): Promise<Json> {
  const accountInfo = {
    accountType: 'USD_ACCOUNT',
    accountNumber,
    routingNumber: '021000021',
    bankAccountType: 'CHECKING',
    beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amina Diallo', countryOfResidence: 'US' },
  };
  const body = { customerId: amina, currency: 'USD', accountInfo };
  const note = `account number …${accountNumber.slice(-3)}`;
  return (await client.call('POST', '/customers/external-accounts', 201, { body, note })).body;
}

async function toABank(cast: Cast): Promise<string> {
  const { client, teller, receiver, aminaUsd } = cast;
  teller.chapter('Out to a bank account');
  const bank = await addBank(cast, '123456789');
  teller.say(`The bank was asked whether the name fits the number: ${bank.beneficiaryVerificationStatus}.`);
  const { body: quote } = await client.call('POST', '/quotes', 201, { body: quoteBody(aminaUsd, bank.id, 30_000) });
  await client.call('POST', `/quotes/${quote.id}/execute`, 200);
  const { transactionId } = quote;
  const done = await client.until(`/transactions/${transactionId}`, ({ status }) => status === 'COMPLETED');
  await receiver.until(isAbout(transactionId, 'OUTGOING_PAYMENT.COMPLETED'), 'OUTGOING_PAYMENT.COMPLETED');
  teller.right(`Paid out by ${done.paymentRail}; the money was held back first and left when the rail had accepted.`);
  return transactionId;
}

async function returned(cast: Cast): Promise<void> {
  const { client, teller, receiver, aminaUsd } = cast;
  teller.chapter('A payment that fails, and its refund');
  const before = await balanceOf(cast);
  const bank = await addBank(cast, '123456005');
  const body = { ...quoteBody(aminaUsd, bank.id, 12_345), immediatelyExecute: true };
  const { body: quote } = await client.call('POST', '/quotes', 201, { body, note: 'quote and execution in one' });
  const path = `/transactions/${quote.transactionId}`;
  const done = await client.until(path, ({ refund }) => refund?.status === 'COMPLETED');
  must(done.failureReason === 'PAYOUT_RETURNED', `it failed for another reason: ${done.failureReason}`);
  await receiver.until(
    isAbout(quote.transactionId, 'OUTGOING_PAYMENT.REFUND_COMPLETED'),
    'OUTGOING_PAYMENT.REFUND_COMPLETED',
  );
  const types = receiver.webhooks.filter(({ data }) => data.id === quote.transactionId).map(({ type }) => type);
  teller.say(`The receiving bank sent it back (${done.failureReason}). Webhooks: ${types.map(short).join(', ')}.`);
  must((await balanceOf(cast)) === before, 'the refund did not bring the balance back');
  teller.right(`Refunded: Amina's dollars are back at ${money(BigInt(before), 'USD')}.`);
}

const short = (type: string): string => type.replace('OUTGOING_PAYMENT.', '');

async function refused({ client, teller, aminaUsd, jonasEur }: Cast): Promise<void> {
  teller.chapter('A payment that is refused');
  const body = { ...quoteBody(aminaUsd, jonasEur, 99_999_999), immediatelyExecute: true };
  const { body: error } = await client.call('POST', '/quotes', 400, { body, note: 'far more than she has' });
  must(error.details?.reason === 'INSUFFICIENT_FUNDS', `refused for another reason: ${JSON.stringify(error)}`);
  teller.right(`${error.code}, reason ${error.details.reason}: a precise error, and nothing has changed.`);
}

async function expired({ client, teller }: Cast, quoteId: string): Promise<void> {
  teller.chapter('The quote of chapter 4 has expired');
  await client.until(`/quotes/${quoteId}`, ({ status }) => status === 'EXPIRED');
  const { body: error } = await client.call('POST', `/quotes/${quoteId}/execute`, 409);
  must(error.details?.reason === 'QUOTE_EXPIRED', `refused for another reason: ${JSON.stringify(error)}`);
  teller.right(`${error.code}, reason ${error.details.reason}.`);
}

async function balanceOf({ client, amina, aminaUsd }: Cast): Promise<number> {
  const path = `/customers/internal-accounts?customerId=${amina}`;
  const { data } = await client.until(path, () => true);
  return data.find((one: Json) => one.id === aminaUsd).balance.amount;
}
