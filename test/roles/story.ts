import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { eventually } from '../eventually.ts';
import type { RoleDeployment } from './deployment.ts';

/** Long enough for a lease to expire, be taken over, and the work to be done on a busy machine. */
export const PATIENCE_MS = 120_000;

type Method = 'GET' | 'POST' | 'PATCH';

/** A platform's own calls to an API process of a deployment. */
export class Client {
  private readonly deployment: RoleDeployment;
  private readonly api: string;

  /** `api`: the name of the process. */
  constructor(deployment: RoleDeployment, api: string) {
    this.deployment = deployment;
    this.api = api;
  }

  /** Calls, with an idempotency key where one is given, and answers the body. Throws when the status is not 2xx. */
  async call<T = { id: string }>(method: Method, route: string, body?: object, key?: string): Promise<T> {
    const { url } = this.deployment.get(this.api);
    const answer = await fetch(`${url}/2025-10-13${route}`, {
      method,
      headers: {
        authorization: this.deployment.authorization,
        'content-type': 'application/json',
        ...(key && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** The platform's own account in US dollars. */
  async usdAccount(): Promise<string> {
    const { data } = await this.call<{ data: { id: string }[] }>('GET', '/platform/internal-accounts?currency=USD');
    return data[0]!.id;
  }

  async fund(account: string, amount: number): Promise<void> {
    await this.call('POST', `/sandbox/internal-accounts/${account}/fund`, { amount });
  }

  /** Pays from the platform's dollars to a bank that accepts; answers the id of the transaction. */
  async pay(amount: number): Promise<string> {
    const account = await this.usdAccount();
    await this.fund(account, amount);
    const info = { currency: 'USD', accountInfo: withSuffix('USD_ACCOUNT', '999') };
    const bank = await this.call('POST', '/platform/external-accounts', info, 'the bank');
    const { transactionId } = await this.call<{ transactionId: string }>('POST', '/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: account },
      destination: { destinationType: 'ACCOUNT', accountId: bank.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: amount,
      immediatelyExecute: true,
    });
    return transactionId;
  }

  /** Waits until a transaction can be read as completed. While nobody projects, a read waits for two seconds only: then it is not there. */
  async completed(transactionId: string): Promise<void> {
    const status = () =>
      this.call<{ status: string }>('GET', `/transactions/${transactionId}`).then(
        (transaction) => transaction.status,
        (error: Error) => {
          if (!error.message.includes('TRANSACTION_NOT_FOUND')) throw error;
          return 'not there yet';
        },
      );
    await eventually(status, (found) => found === 'COMPLETED', PATIENCE_MS);
  }
}
