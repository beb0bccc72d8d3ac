import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { verify } from '../../apps/ops/src/verify.ts';
import type { Engine } from '../../apps/shared/engine.ts';
import { projections } from '../../projections/index.ts';
import type { Want } from './payer.ts';
import { unexplained } from './shown.ts';

/** A deployment as it is judged. */
export interface Subject {
  sql: pg.Pool;
  /** Waits until everything is projected. */
  settled(): Promise<void>;
  withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T>;
  /** What the API answers to a GET. */
  get(path: string): Promise<unknown>;
}

/** What is wrong after all faults; everything empty or zero when the platform kept its word. */
export interface Verdict {
  /** Acknowledged, and not or not wholly there. */
  lost: string[];
  /** There more often than asked for. */
  doubled: string[];
  /** Refused, and something of it is there all the same. */
  invented: string[];
  /** Payments that have not come to rest. */
  stuck: string[];
  /** What `ops verify` finds: positions, streams, trial balance, balances, read models. */
  findings: string[];
  /** Accounts whose balance is not what the transactions of the API come to. */
  unexplained: string[];
}

/** Of a platform that kept its word. */
export const kept = (): Verdict => ({ lost: [], doubled: [], invented: [], stuck: [], findings: [], unexplained: [] });

const REST_PATIENCE_MS = 90_000;

/** Waits until every payment has come to rest, then holds the ledger against what the clients were told. */
export async function judge(subject: Subject, wants: readonly Want[]): Promise<Verdict> {
  const stuck = await restless(subject);
  await subject.settled();
  const verdict: Verdict = { ...kept(), stuck };
  const moved = await movements(subject);
  const statuses = await paymentsById(subject);
  for (const want of wants) compare(want, moved.get(want.amount) ?? NOTHING, statuses, verdict);
  verdict.findings = await findingsOf(subject);
  verdict.unexplained = await unexplained(subject.get);
  return verdict;
}

/** What `ops verify` finds, a sentence each. */
export async function findingsOf(subject: Pick<Subject, 'withEngine'>): Promise<string[]> {
  const { findings } = await subject.withEngine((engine) => verify(engine, projections));
  return findings.map(({ check, subject: what, message }) => `${check}: ${what} ${message}`);
}

/** Lines that tell what is wrong: of each list how long it is, and its first entries. */
export const linesOf = (lists: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(lists).flatMap(([name, list]) => [
    `${name.padEnd(28)}${list.length}`,
    ...list.slice(0, 20).map((line) => `  ${line}`),
  ]);

/** How often an amount has left accounts of the platform and arrived on some. */
interface Moved {
  out: number;
  in: number;
}

const NOTHING: Moved = { out: 0, in: 0 };

interface Payment {
  status: string;
  refund?: string;
}

function compare(want: Want, moved: Moved, payments: ReadonlyMap<string, Payment>, verdict: Verdict): void {
  const { kind, amount, outcome, transactionId } = want;
  const said = `${kind} of ${amount} (${transactionId ?? 'no transaction'}): ${moved.out} out, ${moved.in} in`;
  if (outcome === 'refused') {
    if (moved.out + moved.in > 0) verdict.invented.push(said);
    return;
  }
  const payment = transactionId === undefined ? undefined : payments.get(transactionId);
  const expected = expectation(kind, payment);
  if (!expected) verdict.lost.push(`${said}; ${payment ? `its payment is ${payment.status}` : 'there is no payment'}`);
  else if (moved.out < expected.out || moved.in < expected.in) verdict.lost.push(said);
  else if (moved.out > expected.out || moved.in > expected.in) verdict.doubled.push(said);
}

/** What an acknowledged want must have moved by now; undefined when its payment is not at an end that it can have. */
function expectation(kind: Want['kind'], payment: Payment | undefined): Moved | undefined {
  if (kind === 'fund') return { out: 0, in: 1 };
  if (kind === 'between accounts') return payment?.status === 'COMPLETED' ? { out: 1, in: 1 } : undefined;
  if (kind === 'sent') return payment?.status === 'COMPLETED' ? { out: 0, in: 1 } : undefined;
  if (kind === 'sent wrongly') return payment?.refund === 'COMPLETED' ? NOTHING : undefined;
  if (payment?.status === 'COMPLETED') return payment.refund === 'COMPLETED' ? NOTHING : { out: 1, in: 0 };
  if (payment?.status !== 'FAILED') return undefined;
  if (payment.refund === 'RETURNED') return { out: 1, in: 1 };
  return payment.refund === 'COMPLETED' ? NOTHING : { out: 1, in: 0 };
}

async function movements({ sql }: Subject): Promise<Map<number, Moved>> {
  const { rows } = await sql.query<{ amount: string; out: number; in: number }>(
    `SELECT amount, count(*) FILTER (WHERE from_account LIKE 'account:%')::int AS out,
            count(*) FILTER (WHERE to_account LIKE 'account:%')::int AS in
       FROM journal GROUP BY amount`,
  );
  return new Map(rows.map((row) => [Number(row.amount), { out: row.out, in: row.in }]));
}

/** Payments by the public id of their transaction. A refund of money that was gone already is told apart, for it was credited back. */
async function paymentsById({ sql }: Subject): Promise<Map<string, Payment>> {
  const { rows } = await sql.query<{ id: string; status: string; refund: string | null; settled: boolean }>(
    `SELECT id, status, state::json -> 'refund' ->> 'status' AS refund, (state::json ->> 'isSettled')::boolean AS settled FROM payments`,
  );
  return new Map(
    rows.map(({ id, status, refund, settled: isSettled }) => [
      `Transaction:${id}`,
      { status, ...(refund && { refund: refund === 'COMPLETED' && isSettled ? 'RETURNED' : refund }) },
    ]),
  );
}

async function restless({ sql }: Subject): Promise<string[]> {
  const giveUpMs = performance.now() + REST_PATIENCE_MS;
  for (;;) {
    const { rows } = await sql.query<{ id: string; phase: string }>(
      `SELECT id, state::json ->> 'phase' AS phase FROM payments
        WHERE state::json ->> 'phase' NOT IN ('DONE', 'EXPIRED', 'REFUSED')`,
    );
    if (rows.length === 0 || performance.now() > giveUpMs)
      return rows.map(({ id, phase }) => `payment-${id}: ${phase}`);
    await sleep(200);
  }
}

export const isClean = (verdict: Verdict): boolean => Object.values(verdict).every((list) => list.length === 0);
