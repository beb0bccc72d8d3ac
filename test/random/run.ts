import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Engine } from '../../apps/shared/engine.ts';
import { createPlatform, issueToken } from '../../apps/shared/provision.ts';
import { uuidV7 } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { settled } from '../bench/deployment.ts';
import { basic } from '../bench/program.ts';
import { getter } from '../faults/faults.ts';
import { Hooks } from '../faults/hooks.ts';
import { type Get, type Transaction, transactions, unexplained } from '../faults/shown.ts';
import { findingsOf } from '../faults/verdict.ts';
import type { Document } from '../openapi-validator.ts';
import { asker } from './asking.ts';
import { RandomClient } from './client.ts';

export interface RandomOptions {
  /** Of the platform's API. */
  port: number;
  sql: pg.Pool;
  withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T>;
  /** Requests to make, not counting those that only look what became of them. */
  steps: number;
  seed: number;
  /** Told how it goes. */
  say?: (line: string) => void;
}

export interface RandomReport {
  /** How often each operation had each outcome. */
  outcomes: Map<string, number>;
  /** Answers that were not as promised. */
  faults: string[];
  /** Payments that have not come to rest. */
  stuck: string[];
  /** What `ops verify` finds: positions, streams, trial balance, balances, read models. */
  findings: string[];
  /** Accounts whose balance is not what the transactions of the API come to. */
  unexplained: string[];
  /** Transactions that no request asked for, and those asked for that are not there. */
  unasked: string[];
  /** Webhooks that never came. */
  unsent: string[];
}

/** A client and what it is seen with afterwards. */
interface Side {
  client: RandomClient;
  get: Get;
}

const PATIENCE_MS = 90_000;
/** More than the sandbox lets anything wait. */
const LATER_SECONDS = 7 * 86_400;
const TOLD_EVERY = 500;

/**
 * Two platforms, each with a client that asks for random things, by turns. Then time goes on until everything is over, and what is
 * there is held against what was asked for.
 */
export async function runRandom(options: RandomOptions): Promise<RandomReport> {
  const { port, steps, say = () => {} } = options;
  const document = (await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()) as Document;
  const hooks = await Hooks.listen();
  try {
    const sides: Side[] = [];
    for (const name of ['north', 'south']) sides.push(await open(name, document, hooks, options));
    for (let n = 1; n <= steps; n++) {
      const [mine, others] = n % 2 ? [sides[0]!, sides[1]!] : [sides[1]!, sides[0]!];
      await mine.client.step(n, others.client.known);
      if (n % TOLD_EVERY === 0) say(`${n} of ${steps}, ${sides.flatMap(({ client }) => client.faults).length} faults`);
    }
    return await judged(sides, hooks, options);
  } finally {
    await hooks.stop();
  }
}

/** A platform with rule-based accounts, money and two customers, and the client that uses it. */
async function open(name: string, document: Document, hooks: Hooks, options: RandomOptions): Promise<Side> {
  const { port, seed, withEngine } = options;
  const id = () => uuidV7(Date.now(), randomBytes(10));
  const owner = await withEngine(async (engine) => {
    const tenant: Tenant = { platform: id(), environment: 'sandbox' };
    await createPlatform(engine, tenant, { name, settings: { allowRuleBasedAccounts: true } });
    return basic(await issueToken(engine, tenant, { name, tokenId: id() }));
  });
  await hooks.announceTo(port, owner);
  const looking = { name: 'looking', permissions: ['VIEW'] };
  const { body } = await asker(port, owner)({ method: 'POST', path: '/tokens', body: looking });
  const client = new RandomClient({ name, document, seed, hooks: hooks.url, ask: asker(port, owner, basic(body)) });
  const get = getter({ port, authorization: owner });
  for (const path of ['/config', '/platform/internal-accounts']) client.known.learn(await get(path));
  return { client, get };
}

async function judged(sides: readonly Side[], hooks: Hooks, { sql, withEngine }: RandomOptions): Promise<RandomReport> {
  const stuck = await atRest(sides, sql);
  await settled({ sql });
  const outcomes = new Map<string, number>();
  for (const { client } of sides)
    for (const [what, count] of client.outcomes) outcomes.set(what, (outcomes.get(what) ?? 0) + count);
  return {
    outcomes,
    faults: sides.flatMap(({ client }) => client.faults),
    stuck,
    findings: await findingsOf({ withEngine }),
    unexplained: (await Promise.all(sides.map(({ get }) => unexplained(get)))).flat(),
    unasked: (await Promise.all(sides.map(unasked))).flat(),
    unsent: await hooks.missing(sql, PATIENCE_MS),
  };
}

/** Lets time go on until every payment has come to rest; answers those that do not. */
async function atRest(sides: readonly Side[], sql: pg.Pool): Promise<string[]> {
  const giveUpMs = performance.now() + PATIENCE_MS;
  for (let calm = 0; ; ) {
    for (const { client } of sides)
      await client.request({ method: 'POST', path: '/sandbox/clock/advance', body: { seconds: LATER_SECONDS } });
    await settled({ sql });
    const { rows } = await sql.query<{ id: string; phase: string }>(
      `SELECT id, state::json ->> 'phase' AS phase FROM payments
        WHERE state::json ->> 'phase' NOT IN ('DONE', 'EXPIRED', 'REFUSED')`,
    );
    calm = rows.length === 0 ? calm + 1 : 0;
    if (calm === 3 || performance.now() > giveUpMs) return rows.map(({ id, phase }) => `payment-${id}: ${phase}`);
    await sleep(200);
  }
}

/** Holds the transactions that are shown against what was asked for: each deposit, each transaction that an answer named. */
async function unasked({ client, get }: Side): Promise<string[]> {
  const wrong: string[] = [];
  const missing = new Set(client.named);
  const funded = new Map(client.funded);
  for await (const one of transactions(get)) {
    if (missing.delete(one.id)) continue;
    const fund = `${one.destination.accountId} ${one.receivedAmount.amount}`;
    const left = funded.get(fund) ?? 0;
    if (left > 0) funded.set(fund, left - 1);
    else if (!isByItself(one)) wrong.push(`nobody asked for ${JSON.stringify(one)}`);
  }
  for (const [fund, left] of funded) if (left > 0) wrong.push(`${left} deposits are not there: ${fund}`);
  return [...wrong, ...[...missing].map((id) => `${id} is not there`)];
}

/** What comes from somebody elsewhere, or of an account's rule. */
const isByItself = ({ type, source, reconciliationInstructions }: Transaction): boolean =>
  (type === 'INCOMING' && source.sourceType === 'UMA_ADDRESS') ||
  reconciliationInstructions.reference.startsWith('SWEEP-');
