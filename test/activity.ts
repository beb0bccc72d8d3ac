import { platformAccountId } from '../apps/shared/provision.ts';
import { withSuffix } from '../libs/domain/external-accounts/account.examples.ts';
import { type PaymentState, payment } from '../libs/domain/payments/payment.ts';
import { eventually } from './eventually.ts';
import type { TestPlatform } from './platform.ts';

/** What `someActivity` made, by public id. */
export interface Activity {
  usd: string;
  eur: string;
  completed: string;
  pending: string;
}

/**
 * A little of everything on a platform: deposits, a payment that completes with a conversion, and one that waits for its rail with
 * money reserved. Returns when all of it is projected.
 */
export async function someActivity(platform: TestPlatform): Promise<Activity> {
  const account = (currency: string) => `InternalAccount:${platformAccountId(platform.tenant, currency)}`;
  const usd = account('USD');
  const pay = async (to: string) => {
    const { body } = await platform
      .api('post', '/quotes')
      .set('Idempotency-Key', `pay ${to}`)
      .send({
        source: { sourceType: 'ACCOUNT', accountId: usd },
        destination: { destinationType: 'ACCOUNT', accountId: to },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: 10_000,
        immediatelyExecute: true,
      })
      .expect(201);
    return String(body.transactionId);
  };

  for (const amount of [50_000, 25_000]) {
    await platform.api('post', `/sandbox/internal-accounts/${usd}/fund`).send({ amount }).expect(200);
  }
  const completed = await pay(account('EUR'));
  await reaches(platform, completed, 'COMPLETED');
  const accountInfo = withSuffix('USD_ACCOUNT', '003');
  const bank = await platform
    .api('post', '/platform/external-accounts')
    .send({ currency: 'USD', accountInfo })
    .expect(201);
  const pending = await pay(bank.body.id);
  await untilItWaits(platform, pending);
  await untilProjected(platform);
  return { usd, eur: account('EUR'), completed, pending };
}

/** Waits until a transaction shows a status. */
export async function reaches(platform: Pick<TestPlatform, 'api'>, transaction: string, status: string): Promise<void> {
  await eventually(
    async () => (await platform.api('get', `/transactions/${transaction}`).expect(200)).body.status,
    (found) => found === status,
  );
}

/** Waits until a payment was handed to its rail, which takes its time. Its status is `PROCESSING` sooner. */
export async function untilItWaits({ engine }: Pick<TestPlatform, 'engine'>, transaction: string): Promise<void> {
  const id = transaction.slice('Transaction:'.length);
  await eventually(
    () => engine.writePath.state<PaymentState>(payment, id),
    ({ state }) => state.phase === 'WAITING',
  );
}

/** Waits until the read models show what the log ends with. */
export async function untilProjected({ engine }: Pick<TestPlatform, 'engine'>): Promise<void> {
  const head = await engine.store.head();
  await eventually(
    async () => engine.readModel.projected,
    (position) => position >= head,
  );
}
