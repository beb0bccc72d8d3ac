import { expect, test } from '@jest/globals';
import { unexplained } from './shown.ts';

const money = (amount: number) => ({ amount, currency: { code: 'USD' } });
const transaction = (id: string, status: string, more: object = {}) => ({
  id,
  status,
  source: { accountId: 'A' },
  destination: { accountId: 'B' },
  sentAmount: money(10),
  receivedAmount: money(9),
  fees: 1,
  ...more,
});

type Held = Record<string, [balance: number, total: number]>;

/** An API that shows these transactions, one on a page, and these accounts: what can be spent, and what is there. */
const shows =
  (transactions: object[], own: Held, customers: Held = {}) =>
  async (path: string): Promise<unknown> => {
    const [list, query] = path.split('?');
    if (list === '/quotes/Q') return { platformFeesIncluded: 3 };
    if (list !== '/transactions') {
      const accounts = Object.entries(list === '/platform/internal-accounts' ? own : customers);
      return {
        data: accounts.map(([id, [balance, total]]) => ({ id, balance: money(balance), totalBalance: money(total) })),
      };
    }
    const at = Number(new URLSearchParams(query).get('cursor') ?? 0);
    return { data: transactions.slice(at, at + 1), ...(at + 1 < transactions.length && { nextCursor: `${at + 1}` }) };
  };

test('balances are what the transactions come to: what came back was not paid, what could not come back was', async () => {
  const deposit = transaction('D', 'COMPLETED', {
    source: {},
    destination: { accountId: 'A' },
    receivedAmount: money(50),
  });
  const all = [
    deposit,
    transaction('T1', 'COMPLETED'),
    transaction('T2', 'FAILED', { refund: { status: 'COMPLETED' } }),
    transaction('T3', 'FAILED', { refund: { status: 'FAILED' } }),
    transaction('T4', 'COMPLETED', { refund: { status: 'COMPLETED' } }),
    transaction('T5', 'EXPIRED'),
  ];
  expect(await unexplained(shows(all, { A: [30, 30], B: [9, 9], C: [0, 0] }))).toEqual([]);
  expect(await unexplained(shows(all, { A: [29, 30], B: [9, 10], C: [0, 0] }))).toEqual([
    'A: its transactions come to 30, it shows 29 of 30',
    'B: its transactions come to 9, it shows 9 of 10',
  ]);
});

test('a transaction that is not over is named', async () => {
  const open = [transaction('T1', 'PROCESSING'), transaction('T2', 'FAILED', { refund: { status: 'PENDING' } })];
  expect(await unexplained(shows(open, {}))).toEqual([
    expect.stringContaining('T1 is not over'),
    expect.stringContaining('T2 is not over'),
  ]);
});

test("accounts of customers are looked at too, and the platform's account gets its part of the fees", async () => {
  const all = [
    transaction('T1', 'COMPLETED', { fees: 4, platformFees: 4 }),
    transaction('T2', 'COMPLETED', { fees: 5, quoteId: 'Q' }),
    transaction('T3', 'COMPLETED', { fees: 4, platformFees: 4, refund: { status: 'COMPLETED' } }),
    transaction('T4', 'REJECTED', { platformFees: 4 }),
  ];
  expect(await unexplained(shows(all, { P: [7, 7] }, { A: [-20, -20], B: [18, 18] }))).toEqual([]);
  expect(await unexplained(shows(all, { P: [8, 8] }, { A: [-20, -20], B: [18, 17] }))).toEqual([
    'P: its transactions come to 7, it shows 8 of 8',
    'B: its transactions come to 18, it shows 18 of 17',
  ]);
});
