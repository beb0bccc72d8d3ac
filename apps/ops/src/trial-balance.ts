import { internalAccounts } from '../../../projections/internal-accounts.ts';
import { journal } from '../../../projections/journal.ts';
import type { Engine } from '../../shared/engine.ts';

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
  /** The journal's position: the last event it contains. */
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

/** The trial balance from the journal: what every account received and gave. */
export async function trialBalance(engine: Engine): Promise<TrialBalance> {
  const client = await engine.pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const at = await client.query<{ position: string }>(`SELECT position FROM checkpoints WHERE name = 'live'`);
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
    const totals: Record<string, bigint> = {};
    for (const { currency, balanceMinor } of lines) totals[currency] = (totals[currency] ?? 0n) + balanceMinor;
    return { position: Number(at.rows[0]?.position ?? 0), lines, totals };
  } finally {
    client.release();
  }
}
