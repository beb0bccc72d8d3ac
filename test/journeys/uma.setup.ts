import { Transactions } from '../../apps/ops/src/transactions.ts';
import { eventually } from '../eventually.ts';
import type { TestPlatform } from '../platform.ts';

type Api = TestPlatform['api'];

/** A customer with its UMA address and internal accounts by currency. */
export interface Person {
  id: string;
  umaAddress: string;
  account(currency: string): Promise<Account>;
}

export interface Account {
  id: string;
  balance: number;
}

/** Creates a customer on a platform. */
export async function person(api: Api, name: string, more: object = {}): Promise<Person> {
  const body = { customerType: 'INDIVIDUAL', fullName: name, ...more };
  const { body: created } = await api('post', '/customers').send(body).expect(201);
  return {
    id: created.id,
    umaAddress: created.umaAddress,
    async account(currency) {
      const path = `/customers/internal-accounts?customerId=${created.id}&currency=${currency}`;
      const { body: found } = await api('get', path).expect(200);
      return { id: found.data[0].id, balance: found.data[0].balance.amount };
    },
  };
}

/** A customer whose account in a currency holds so much. */
export async function funded(api: Api, name: string, currency: string, amount: number): Promise<Person> {
  const one = await person(api, name);
  const { id } = await one.account(currency);
  await api('post', `/sandbox/internal-accounts/${id}/fund`).send({ amount }).expect(200);
  return one;
}

/** The body of a quote from an account to a UMA address. */
export const umaQuote = (accountId: string, umaAddress: string, amount: number, more: object = {}) => ({
  source: { sourceType: 'ACCOUNT', accountId },
  destination: { destinationType: 'UMA_ADDRESS', umaAddress },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: amount,
  ...more,
});

/** Quotes and executes a payment to a UMA address; answers its transaction's id. */
export async function pay(api: Api, from: Person, umaAddress: string, amount: number, more: object = {}) {
  const { id } = await from.account('USD');
  const quote = umaQuote(id, umaAddress, amount, more);
  const { body } = await api('post', '/quotes').send(quote).expect(201);
  await api('post', `/quotes/${body.id}/execute`).expect(200);
  return body.transactionId as string;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of answers
type Body = any;

/** A transaction as soon as it has one of the statuses. */
export const reached = (api: Api, id: string, ...statuses: string[]): Promise<Body> =>
  eventually(
    async () => (await api('get', `/transactions/${id}`).expect(200)).body,
    ({ status }) => statuses.includes(status),
  );

/** A transaction as soon as it satisfies. */
export const shows = (api: Api, id: string, satisfies: (transaction: Body) => boolean): Promise<Body> =>
  eventually(async () => (await api('get', `/transactions/${id}`).expect(200)).body, satisfies);

/** The incoming payments of a customer, newest first. */
export async function incoming(api: Api, { id }: Person): Promise<Body[]> {
  const { body } = await api('get', `/transactions?type=INCOMING&customerId=${id}`).expect(200);
  return body.data.filter(({ source }: Body) => source.sourceType === 'UMA_ADDRESS');
}

/** What is left of each system account of a platform, zeros left out; and the sum of everything by currency. */
export async function books(platform: TestPlatform, tenant = platform.tenant) {
  const { rows } = await platform.engine.pool.query<{ name: string; left: string }>(
    `SELECT name, sum(amount)::text AS left FROM (
       SELECT to_account AS name, amount FROM journal WHERE platform = $1
       UNION ALL SELECT from_account, -amount FROM journal WHERE platform = $1
     ) lines WHERE name NOT LIKE 'account:%' GROUP BY name ORDER BY name`,
    [tenant.platform],
  );
  return Object.fromEntries(rows.filter(({ left }) => left !== '0').map(({ name, left }) => [name, Number(left)]));
}

/** What the auditors find unexplained in the whole log: nothing, ever. */
export async function unexplained({ engine }: TestPlatform): Promise<unknown[]> {
  const audited = new Transactions();
  const { events } = await engine.store.readAll(0, 100_000);
  for (const event of await engine.codec.decode(events)) audited.take(event);
  return [...audited.unexplained()];
}
