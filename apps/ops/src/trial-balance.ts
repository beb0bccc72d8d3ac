import { liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { AccountOpenedData } from '../../../libs/domain/accounts/account.events.ts';
import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal, movements } from '../../../projections/journal.ts';
import type { Engine } from '../../shared/engine.ts';
import { moneyEvents } from './balances.ts';
import { isUpTo, type Moment } from './moment.ts';
import type { Output } from './output.ts';

/** One line of a trial balance: a system account, or all internal accounts of customers or of platforms. */
export interface TrialLine {
  /** `customers`, `platforms`, `transit`, `rail`, `fees`, `fx`, `mint`, … */
  account: string;
  currency: string;
  /** Money that came and that went, in smallest units. */
  inMinor: bigint;
  outMinor: bigint;
  balanceMinor: bigint;
}

export interface TrialBalance {
  /** The last event it contains: of the journal as it stands, or of those that move money. */
  position: number;
  lines: TrialLine[];
  /** Sum per currency: zero. */
  totals: Record<string, bigint>;
}

interface LineRow {
  account: string;
  currency: string;
  in_minor: string;
  out_minor: string;
}

/** The trial balance from the journal, a read model: what every account received and gave. */
export async function trialBalance(engine: Engine): Promise<TrialBalance> {
  const client = await engine.pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const live = await liveCheckpoints(client);
    const { rows } = await client.query<LineRow>(`
      WITH sides AS (
        SELECT to_account AS name, currency, sum(amount) AS came, 0 AS went FROM ${journal.name} GROUP BY 1, 2
        UNION ALL
        SELECT from_account, currency, 0, sum(amount) FROM ${journal.name} GROUP BY 1, 2
      ), named AS (
        SELECT s.*, CASE WHEN name NOT LIKE 'account:%' THEN split_part(name, ':', 1)
                         WHEN a.id IS NULL THEN 'unknown account'
                         WHEN a.customer = '' THEN 'platforms' ELSE 'customers' END AS account
          FROM sides s LEFT JOIN ${internalAccounts.name} a ON s.name = 'account:' || a.id
      )
      SELECT account, currency, sum(came) AS in_minor, sum(went) AS out_minor FROM named GROUP BY 1, 2 ORDER BY 2, 1`);
    await client.query('COMMIT');
    const lines = rows.map(({ account, currency, in_minor, out_minor }) => {
      const inMinor = BigInt(in_minor);
      const outMinor = BigInt(out_minor);
      return { account, currency, inMinor, outMinor, balanceMinor: inMinor - outMinor };
    });
    return { position: Math.max(0, ...live.values()), lines, totals: totalsOf(lines) };
  } finally {
    client.release();
  }
}

function totalsOf(lines: readonly TrialLine[]): Record<string, bigint> {
  const totals: Record<string, bigint> = {};
  for (const { currency, balanceMinor } of lines) totals[currency] = (totals[currency] ?? 0n) + balanceMinor;
  return totals;
}

/** The trial balance made from the log alone, as of a moment. It keeps one small entry per internal account in memory. */
export async function trialBalanceAt(engine: Engine, until?: Moment, out?: Output): Promise<TrialBalance> {
  const holders = new Map<string, 'customers' | 'platforms'>();
  const lines = new Map<string, TrialLine>();
  const lineOf = (name: string, currency: string): TrialLine => {
    const account = name.startsWith('account:')
      ? (holders.get(name.slice('account:'.length)) ?? 'unknown account')
      : name.slice(0, name.indexOf(':'));
    const key = `${currency} ${account}`;
    const line = lines.get(key) ?? { account, currency, inMinor: 0n, outMinor: 0n, balanceMinor: 0n };
    lines.set(key, line);
    return line;
  };
  let position = 0;
  for await (const batch of moneyEvents(engine, out, [...journal.handles, 'AccountOpened'])) {
    for (const event of batch) {
      if (!isUpTo(until, event)) continue;
      position = event.position;
      if (event.type === 'AccountOpened') {
        const { accountId, customerId } = event.data as AccountOpenedData;
        holders.set(accountId, customerId === undefined ? 'platforms' : 'customers');
      }
      for (const { from, to, currency, amountMinor } of movements(event)) {
        const [gives, takes] = [lineOf(from, currency), lineOf(to, currency)];
        gives.outMinor += amountMinor;
        gives.balanceMinor -= amountMinor;
        takes.inMinor += amountMinor;
        takes.balanceMinor += amountMinor;
      }
    }
  }
  const sorted = [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
  return { position, lines: sorted, totals: totalsOf(sorted) };
}
