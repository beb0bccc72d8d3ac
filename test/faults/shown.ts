interface Money {
  amount: number;
  currency: { code: string };
}

interface End {
  sourceType?: string;
  accountId?: string;
}

export interface Transaction {
  id: string;
  type: string;
  status: string;
  refund?: { status: string };
  source: End;
  destination: End;
  sentAmount: Money;
  receivedAmount: Money;
  fees: number;
  platformFees?: number;
  quoteId?: string;
  reconciliationInstructions: { reference: string };
}

interface Account {
  id: string;
  balance: Money;
  totalBalance: Money;
}

/** What the API answers to a GET. */
export type Get = (path: string) => Promise<unknown>;

const OVER = ['COMPLETED', 'FAILED', 'EXPIRED', 'REJECTED'];

/**
 * What a client sees that knows nothing but the API: every transaction is over, and each account of the platform and of its customers
 * holds what its transactions come to, all of which can be spent. Answers what is not so.
 */
export async function unexplained(get: Get): Promise<string[]> {
  const sums = new Map<string, number>();
  const add = (id: string | undefined, amount: number) => id && sums.set(id, (sums.get(id) ?? 0) + amount);
  const wrong: string[] = [];
  const { data: own } = (await get('/platform/internal-accounts')) as { data: Account[] };
  const feesOf = new Map(own.map(({ id, balance }) => [balance.currency.code, id]));
  for await (const one of transactions(get)) {
    const { id, status, refund, source, destination, sentAmount, receivedAmount } = one;
    if (!OVER.includes(status) || refund?.status === 'PENDING') wrong.push(`${id} is not over: ${JSON.stringify(one)}`);
    const isDone = status === 'COMPLETED' && !refund;
    if (isDone || refund?.status === 'FAILED') add(source.accountId, -sentAmount.amount);
    if (!isDone) continue;
    add(destination.accountId, receivedAmount.amount);
    if (one.fees > 0) add(feesOf.get(sentAmount.currency.code), await platformFees(get, one));
  }
  const accounts = [...own];
  for await (const one of everyOf<Account>(get, '/customers/internal-accounts')) accounts.push(one);
  for (const { id, balance, totalBalance } of accounts) {
    const sum = sums.get(id) ?? 0;
    if (balance.amount === sum && totalBalance.amount === sum) continue;
    wrong.push(`${id}: its transactions come to ${sum}, it shows ${balance.amount} of ${totalBalance.amount}`);
  }
  return wrong;
}

/** The platform's part of the fees, which a transaction that brings money leaves to its quote. */
async function platformFees(get: Get, one: Transaction): Promise<number> {
  if (one.platformFees !== undefined || !one.quoteId) return one.platformFees ?? 0;
  const quote = (await get(`/quotes/${one.quoteId}`)) as { platformFeesIncluded: number };
  return quote.platformFeesIncluded;
}

/** Every transaction of a platform. */
export const transactions = (get: Get): AsyncGenerator<Transaction> => everyOf(get, '/transactions');

async function* everyOf<T>(get: Get, path: string): AsyncGenerator<T> {
  for (let cursor = ''; ; ) {
    const after = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = (await get(`${path}?limit=100${after}`)) as { data: T[]; nextCursor?: string };
    yield* page.data;
    if (!page.nextCursor) return;
    cursor = page.nextCursor;
  }
}
