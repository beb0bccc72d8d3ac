import { expect, test } from '@jest/globals';
import { unexplained } from './shown.ts';

const money = (amount: number) => ({ amount });
const transaction = (id: string, status: string, more: object = {}) => ({
  id,
  status,
  source: { accountId: 'A' },
  destination: { accountId: 'B' },
  sentAmount: money(10),
  receivedAmount: money(9),
  ...more,
});

/** An API that shows these transactions, one on a page, and these accounts: what can be spent, and what is there. */
const shows =
  (transactions: object[], accounts: Record<string, [balance: number, total: number]>) =>
  async (path: string): Promise<unknown> => {
    if (path === '/platform/internal-accounts') {
      const data = Object.entries(accounts).map(([id, [balance, total]]) => ({
        id,
        balance: money(balance),
        totalBalance: money(total),
      }));
      return { data };
    }
    const at = Number(new URLSearchParams(path.split('?')[1]).get('cursor') ?? 0);
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
