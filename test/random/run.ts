import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Engine } from '../../apps/shared/engine.ts';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { createPlatform, issueToken } from '../../apps/shared/provision.ts';
import { Rejection } from '../../libs/kernel/errors.ts';
import { uuidV7 } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { settled } from '../bench/deployment.ts';
import { basic } from '../bench/program.ts';
import { getter } from '../faults/faults.ts';
import { Hooks } from '../faults/hooks.ts';
import { Random } from '../faults/random.ts';
import { type Get, type Transaction, transactions, unexplained } from '../faults/shown.ts';
import { findingsOf } from '../faults/verdict.ts';
import type { Document } from '../openapi-validator.ts';
import { asker, patient } from './asking.ts';
import { RandomClient } from './client.ts';
import { Memory } from './memory.ts';

export interface RandomOptions {
  /** Of the platform's API: of each process that answers. */
  ports: readonly number[];
  sql: pg.Pool;
  withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T>;
  /** Requests to make, not counting those that only look what became of them. */
  steps: number;
  seed: number;
  /** How many ask at the same time; one when absent. */
  clients?: number;
  /** Done again and again meanwhile, such as killing a process: then nobody minds to ask again what was not answered. */
  disturb?: (random: Random) => Promise<void>;
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
  /** Tables that still name somebody who was erased. */
  unerased: string[];
  /** Webhooks that never came, or whose sequence does not grow. */
  unsent: string[];
}

/** A platform's clients and what it is seen with afterwards. */
interface Side {
  clients: RandomClient[];
  memory: Memory;
  get: Get;
  platform: string;
}

const PATIENCE_MS = 90_000;
/** Until somebody answers again. */
const RECOVERY_PATIENCE_MS = 300_000;
/** More than the sandbox lets anything wait. */
const LATER_SECONDS = 7 * 86_400;
/** Types of webhooks whose only attempt may come to nothing: who makes it is killed, or the machine is too busy to answer in time. */
const SENT_ONCE = ['TEST', 'INCOMING_PAYMENT.PENDING'];
const TOLD_EVERY = 500;
/** Of each type so few are asked for again by many that they meet. */
const FEW = 5;

/**
 * Two platforms, each with a client that asks for random things, by turns. Then time goes on until everything is over, and what is
 * there is held against what was asked for.
 */
export async function runRandom(options: RandomOptions): Promise<RandomReport> {
  const { ports } = options;
  const document = (await (await fetch(`http://127.0.0.1:${ports[0]}/openapi.json`)).json()) as Document;
  const hooks = await Hooks.listen();
  try {
    const sides: Side[] = [];
    for (const name of ['north', 'south']) sides.push(await open(name, document, hooks, options));
    await whileDisturbed(options, () => asked(sides, options));
    return await judged(sides, hooks, options);
  } finally {
    await hooks.stop();
  }
}

/** Something is done while everything is disturbed, again and again. */
async function whileDisturbed({ seed, disturb }: RandomOptions, work: () => Promise<void>): Promise<void> {
  const random = new Random(seed);
  let isOver = false;
  const disturbing = (async () => {
    while (disturb && !isOver) await disturb(random);
  })();
  disturbing.catch(() => {}); // told below
  await work().finally(() => {
    isOver = true;
    return disturbing;
  });
}

/** All steps, of each client one after the other. The platforms take turns. */
async function asked(sides: readonly Side[], { steps, clients = 1, say = () => {} }: RandomOptions): Promise<void> {
  let n = 0;
  const one = async (client: number) => {
    while (n < steps) {
      n += 1;
      const [mine, others] = n % 2 ? [sides[0]!, sides[1]!] : [sides[1]!, sides[0]!];
      if (n % TOLD_EVERY === 0) say(`${n} of ${steps}, ${sides.flatMap(({ memory }) => memory.faults).length} faults`);
      await mine.clients[client]!.step(n, others.memory.known);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)));
}

/** A platform with rule-based accounts, money and two customers, and the clients that use it. */
async function open(name: string, document: Document, hooks: Hooks, options: RandomOptions): Promise<Side> {
  const { ports, seed, withEngine, clients = 1 } = options;
  const id = () => uuidV7(Date.now(), randomBytes(10));
  const tenant: Tenant = { platform: id(), environment: 'sandbox' };
  const owner = await withEngine(async (engine) => {
    await createPlatform(engine, tenant, { name, settings: { allowRuleBasedAccounts: true } });
    return basic(await issueToken(engine, tenant, { name, tokenId: id() }));
  });
  await hooks.announceTo(ports[0]!, owner);
  const looking = { name: 'looking', permissions: ['VIEW'] };
  const { body } = await asker(ports, owner)({ method: 'POST', path: '/tokens', body: looking });
  const memory = new Memory(clients > 1 ? FEW : undefined);
  const once = asker(ports, owner, basic(body));
  const ask = clients > 1 ? patient(once, RECOVERY_PATIENCE_MS) : once;
  const erase = (customerId: string) => withEngine((engine) => erased(engine, tenant, customerId));
  const common = { name, document, seed, hooks: hooks.url, ask, erase, endsTokensAtOnce: ports.length === 1 };
  const made = Array.from({ length: clients }, () => new RandomClient({ ...common, memory, isAlone: clients === 1 }));
  const get = getter({ port: ports[0]!, authorization: owner });
  for (const path of ['/config', '/platform/internal-accounts']) memory.known.learn(await get(path));
  return { clients: made, memory, get, platform: tenant.platform };
}

async function judged(
  sides: readonly Side[],
  hooks: Hooks,
  { sql, withEngine, clients = 1 }: RandomOptions,
): Promise<RandomReport> {
  const stuck = await atRest(sides, sql);
  await settled({ sql });
  const outcomes = new Map<string, number>();
  for (const { memory } of sides)
    for (const [what, count] of memory.outcomes) outcomes.set(what, (outcomes.get(what) ?? 0) + count);
  return {
    outcomes,
    faults: sides.flatMap(({ memory }) => memory.faults),
    stuck,
    findings: await findingsOf({ withEngine }),
    unexplained: (await Promise.all(sides.map(({ get }) => unexplained(get)))).flat(),
    unasked: (await Promise.all(sides.map(unasked))).flat(),
    unerased: (await Promise.all(sides.map((side) => unerased(side, sql)))).flat(),
    unsent: [...(await hooks.missing(sql, PATIENCE_MS, clients > 1 ? SENT_ONCE : [])), ...(await unordered(sql))],
  };
}

/** False when the customer is not deleted, or its money is under way. */
async function erased(engine: Engine, tenant: Tenant, customerId: string): Promise<boolean> {
  try {
    await eraseCustomer(engine, tenant, customerId.split(':')[1]!);
    return true;
  } catch (error) {
    if (error instanceof Rejection && error.status < 500) return false;
    throw error;
  }
}

/** By what each table would name somebody's UMA address. Others may say afterwards that money came from it, or that it was invited. */
const NAMED: Readonly<Record<string, (address: string) => string>> = {
  customers: (address) => address,
  external_accounts: (address) => address,
  invitations: (address) => `"inviterUma":"${address}"`,
  payments: (address) => `"destinationUmaAddress":"${address}"`,
  webhooks: (address) => `"destinationType":"UMA_ADDRESS","umaAddress":"${address}"`,
};

/** Where a platform still names somebody who was erased. */
async function unerased({ memory, platform }: Side, sql: pg.Pool): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, umaAddress } of memory.erased) {
    for (const [table, named] of Object.entries(NAMED)) {
      const { rows } = await sql.query<{ id: string }>(
        `SELECT id FROM ${table} t WHERE platform = $1 AND position($2 IN replace(t::text, '""', '"')) > 0`,
        [platform, named(umaAddress)],
      );
      wrong.push(...rows.map((row) => `${id} (${umaAddress}) is named in ${table} ${row.id}`));
    }
  }
  return wrong;
}

/** Lets time go on until everything has come to rest; answers what does not. */
async function atRest(sides: readonly Side[], sql: pg.Pool): Promise<string[]> {
  const giveUpMs = performance.now() + PATIENCE_MS;
  for (let calm = 0; ; ) {
    for (const { clients } of sides)
      await clients[0]!.request({ method: 'POST', path: '/sandbox/clock/advance', body: { seconds: LATER_SECONDS } });
    await settled({ sql });
    const rows = await underWay(sql);
    calm = rows.length === 0 ? calm + 1 : 0;
    if (calm === 3 || performance.now() > giveUpMs) return rows;
    await sleep(200);
  }
}

/** What somebody still has to move on, or should have. */
async function underWay(sql: pg.Pool): Promise<string[]> {
  const { rows } = await sql.query<{ what: string }>(
    `SELECT 'payment-' || id || ': ' || (state::json ->> 'phase') AS what FROM payments
      WHERE state::json ->> 'phase' NOT IN ('DONE', 'EXPIRED', 'REFUSED')
     UNION ALL SELECT 'sweep-' || id || ': ' || phase FROM sweeps WHERE phase <> 'DONE'
     UNION ALL SELECT 'account-' || id || ': has not begun to sweep' FROM internal_accounts
      WHERE json_array_length(state::json -> 'arrivals') > 0
     UNION ALL SELECT stream || ': ' || type FROM (
       SELECT DISTINCT ON (stream) stream, type FROM events
        WHERE type IN ('CustomerDeletionStarted', 'CustomerDeletionRefused', 'CustomerDeleted') ORDER BY stream, position DESC
     ) d WHERE type = 'CustomerDeletionStarted'
     UNION ALL SELECT 'account-' || a.id || ': ' || a.status || ' of a customer who is ' || (c.state::json ->> 'status')
       FROM internal_accounts a JOIN customers c ON c.id = a.customer WHERE (a.status = 'CLOSED') <> c.is_deleted
     UNION ALL SELECT 'account-' || id || ': ' || state FROM internal_accounts
      WHERE (state::json ->> 'postedMinor')::numeric < 0 OR (state::json ->> 'pendingMinor')::numeric <> 0
         OR (status = 'CLOSED' AND (state::json ->> 'postedMinor')::numeric <> 0)
     UNION ALL SELECT process || ' of ' || stream || ' is parked: ' || error FROM dead_letters
     ORDER BY 1`,
  );
  return rows.map(({ what }) => what);
}

/** Webhooks about one resource whose sequence is not greater than that of the one before. */
async function unordered(sql: pg.Pool): Promise<string[]> {
  const { rows } = await sql.query<{ id: string; resource: string; sequence: string }>(
    `SELECT id, resource, sequence FROM (
       SELECT id, resource, sequence, lag(sequence) OVER (PARTITION BY resource ORDER BY position) AS before FROM webhooks WHERE type <> 'TEST'
     ) w WHERE sequence <= before`,
  );
  return rows.map(({ id, resource, sequence }) => `${id} of ${resource} comes late with ${sequence}`);
}

/** Holds the transactions that are shown against what was asked for: each deposit, each transaction that an answer named. */
async function unasked({ memory, get }: Side): Promise<string[]> {
  const wrong: string[] = [];
  const missing = new Set(memory.named);
  const funded = new Map(memory.funded);
  for await (const one of transactions(get)) {
    if (missing.delete(one.id) || isByItself(one)) continue;
    const fund = `${one.destination.accountId} ${one.receivedAmount.amount}`;
    const left = funded.get(fund) ?? 0;
    if (left > 0) funded.set(fund, left - 1);
    else wrong.push(`nobody asked for ${JSON.stringify(one)}`);
  }
  for (const [fund, left] of funded) if (left > 0) wrong.push(`${left} deposits are not there: ${fund}`);
  return [...wrong, ...[...missing].map((id) => `${id} is not there`)];
}

/** What comes from somebody elsewhere, or of an account's rule. */
const isByItself = ({ type, source, reconciliationInstructions }: Transaction): boolean =>
  (type === 'INCOMING' && source.sourceType === 'UMA_ADDRESS') ||
  reconciliationInstructions.reference.startsWith('SWEEP-');
