import { expect } from '@jest/globals';
import { platformAccountId } from '../../apps/shared/provision.ts';
import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import type { AccountType } from '../../libs/domain/external-accounts/account-types.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '../platform.ts';

type Api = TestPlatform['api'];

/** A transaction as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the OpenAPI document
export type Shown = any;

/** What journeys about money do with a platform's own accounts and with its customers'. */
export class Money {
  private readonly platform: Pick<TestPlatform, 'api' | 'tenant'>;
  readonly api: Api;
  private readonly banks = new Map<string, Promise<string>>();

  constructor(platform: Pick<TestPlatform, 'api' | 'tenant'>) {
    this.platform = platform;
    this.api = platform.api;
  }

  /** The public id of the platform's own account. */
  own(currency: string): string {
    return `InternalAccount:${platformAccountId(this.platform.tenant, currency)}`;
  }

  /** A new customer with the public ids of the accounts by currency. */
  async customer(): Promise<{ id: string; umaAddress: string; accounts: Record<string, string> }> {
    const body = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', region: 'US' };
    const { id, umaAddress } = (await this.api('post', '/customers').send(body).expect(201)).body;
    const { data } = (await this.api('get', `/customers/internal-accounts?customerId=${id}`).expect(200)).body;
    return {
      id,
      umaAddress,
      accounts: Object.fromEntries(data.map((one: Shown) => [one.balance.currency.code, one.id])),
    };
  }

  async fund(accountId: string, amount: number): Promise<void> {
    await this.api('post', `/sandbox/internal-accounts/${accountId}/fund`).send({ amount }).expect(200);
  }

  /** What an account can spend, and what it holds with what is reserved. */
  async balances(accountId: string): Promise<[available: number, total: number]> {
    for (const path of ['/platform/internal-accounts', '/customers/internal-accounts?limit=100']) {
      const { data } = (await this.api('get', path).expect(200)).body;
      const found = data.find((one: Shown) => one.id === accountId);
      if (found) return [found.balance.amount, found.totalBalance.amount];
    }
    throw new Error(`no account ${accountId}`);
  }

  /** An external account of the platform, or of a customer. */
  async external(accountType: AccountType, currency: string, suffix = '999', customerId?: string): Promise<string> {
    const path = customerId ? '/customers/external-accounts' : '/platform/external-accounts';
    const body = { currency, accountInfo: withSuffix(accountType, suffix), ...(customerId && { customerId }) };
    return (await this.api('post', path).send(body).expect(201)).body.id;
  }

  /** The platform's bank account in USD whose number ends in that, added once. */
  bank(suffix: string): Promise<string> {
    const known = this.banks.get(suffix) ?? this.external('USD_ACCOUNT', 'USD', suffix);
    this.banks.set(suffix, known);
    return known;
  }

  quote(source: object, destination: object | string, amount: number, more: object = {}) {
    const to = typeof destination === 'string' ? { destinationType: 'ACCOUNT', accountId: destination } : destination;
    const body = { source, destination: to, lockedCurrencySide: 'SENDING', lockedCurrencyAmount: amount, ...more };
    return this.api('post', '/quotes').send(body);
  }

  /** A quote from an account. */
  from(accountId: string, destination: object | string, amount: number, more: object = {}) {
    return this.quote({ sourceType: 'ACCOUNT', accountId }, destination, amount, more);
  }

  send(quoteId: string, currencyCode: string, currencyAmount?: number) {
    return this.api('post', '/sandbox/send').send({ quoteId, currencyCode, ...(currencyAmount && { currencyAmount }) });
  }

  async transaction(id: string): Promise<Shown> {
    return (await this.api('get', `/transactions/${id}`).expect(200)).body;
  }

  /** The transaction as soon as it is as asked. */
  until(id: string, isAsAsked: (one: Shown) => boolean): Promise<Shown> {
    return eventually(() => this.transaction(id), isAsAsked);
  }
}

/** A platform on which money is moved, for the tests of a file. */
export async function startMoney(options?: TestPlatformOptions): Promise<{ platform: TestPlatform; money: Money }> {
  const platform = await startTestPlatform(options);
  return { platform, money: new Money(platform) };
}

/** Stops it after they have run: by then its books are balanced. */
export async function stopBalanced(platform: TestPlatform): Promise<void> {
  try {
    await expectBalancedBooks(platform);
  } finally {
    await platform.stop();
  }
}

/** Every movement of money has an end, be it after the last answer: what went through transit has left it. */
async function expectBalancedBooks({ engine }: Pick<TestPlatform, 'engine'>): Promise<void> {
  const text = `SELECT currency, sum(CASE WHEN to_account LIKE 'transit:%' THEN amount ELSE 0 END)
       - sum(CASE WHEN from_account LIKE 'transit:%' THEN amount ELSE 0 END) AS left
     FROM journal GROUP BY currency ORDER BY currency`;
  const { rows } = await eventually(
    () => engine.pool.query<{ currency: string; left: string }>(text),
    (found) => found.rows.every(({ left }) => left === '0'),
  );
  expect(rows.length).toBeGreaterThan(0);
}
