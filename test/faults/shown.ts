interface Money {
  amount: number;
}

interface End {
  accountId?: string;
}

interface Transaction {
  id: string;
  status: string;
  refund?: { status: string };
  source: End;
  destination: End;
  sentAmount: Money;
  receivedAmount: Money;
}

interface Account {
  id: string;
  balance: Money;
  totalBalance: Money;
}

type Get = (path: string) => Promise<unknown>;

const OVER = ['COMPLETED', 'FAILED', 'EXPIRED'];

/**
 * What a client sees that knows nothing but the API: every transaction is over, and each of the platform's accounts holds what its
 * transactions come to, all of which can be spent. Answers what is not so.
 */
export async function unexplained(get: Get): Promise<string[]> {
  const sums = new Map<string, number>();
  const add = (id: string | undefined, amount: number) => id && sums.set(id, (sums.get(id) ?? 0) + amount);
  const wrong: string[] = [];
  for await (const one of transactions(get)) {
    const { id, status, refund, source, destination, sentAmount, receivedAmount } = one;
    if (!OVER.includes(status) || refund?.status === 'PENDING') wrong.push(`${id} is not over: ${JSON.stringify(one)}`);
    const isDone = status === 'COMPLETED' && !refund;
    if (isDone || refund?.status === 'FAILED') add(source.accountId, -sentAmount.amount);
    if (isDone) add(destination.accountId, receivedAmount.amount);
  }
  const { data: accounts } = (await get('/platform/internal-accounts')) as { data: Account[] };
  for (const { id, balance, totalBalance } of accounts) {
    const sum = sums.get(id) ?? 0;
    if (balance.amount === sum && totalBalance.amount === sum) continue;
    wrong.push(`${id}: its transactions come to ${sum}, it shows ${balance.amount} of ${totalBalance.amount}`);
  }
  return wrong;
}

async function* transactions(get: Get): AsyncGenerator<Transaction> {
  for (let cursor = ''; ; ) {
    const after = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const page = (await get(`/transactions?limit=100${after}`)) as { data: Transaction[]; nextCursor?: string };
    yield* page.data;
    if (!page.nextCursor) return;
    cursor = page.nextCursor;
  }
}
