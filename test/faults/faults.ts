import { setTimeout as sleep } from 'node:timers/promises';
import { publicId } from '../../libs/kernel/ids.ts';
import { type Deployment, deploy, settled, withEngine } from '../bench/deployment.ts';
import { postgresPid } from '../bench/program.ts';
import { Payer, whilePaying } from './payer.ts';
import { Random } from './random.ts';
import { judge, type Verdict } from './verdict.ts';

export interface FaultOptions {
  kills: number;
  seed: number;
  clients?: number;
  /** After the kills it goes on until so many are acknowledged and refused, however slow the machine is. */
  enough?: { acknowledged: number; refused: number };
  /** Told about each kill. */
  say?: (line: string) => void;
}

export interface FaultReport extends Verdict {
  kills: number;
  acknowledged: number;
  refused: number;
  unanswered: number;
  contradictions: string[];
}

const ACCOUNTS = 12;
/** Of the account numbers: paid out, refused by the rail, paid out after a while, paid out and returned, refused with the refund failing too. */
const SUFFIXES = ['999', '888', '002', '003', '005', '007'];
/** Makes 30 s 0.3 s and 6 minutes 3.6 s, and lets an open quote expire after 3 s. */
export const TIME_SCALE = '0.01';
const FIRST_AMOUNT = 1_000;
/** More than the accounts start with, by far. */
export const TOO_MUCH = 500_000_000_000;
const VICTIMS = ['program', 'postgres', 'both'] as const;
const RECOVERY_PATIENCE_MS = 180_000;

/**
 * Clients move money with idempotency keys while program and PostgreSQL are killed with `kill -9`, again and again. Then everything
 * that was acknowledged must be there exactly once, and nothing else.
 */
export async function runFaults(options: FaultOptions): Promise<FaultReport> {
  const { kills, seed, clients = 12, enough = { acknowledged: 0, refused: 0 }, say = () => {} } = options;
  const random = new Random(seed);
  const deployment = await deploy(ACCOUNTS, { env: { SANDBOX_TIME_SCALE: TIME_SCALE } });
  try {
    const { port } = deployment.program;
    const { authorization } = deployment;
    const banks = await addBanks({ port, authorization });
    let amount = FIRST_AMOUNT;
    const shared = {
      port,
      authorization,
      accounts: deployment.accounts.map((id) => publicId('InternalAccount', id)),
      banks,
      tooMuch: TOO_MUCH,
      nextAmount: () => amount++,
    };
    const payers = Array.from(
      { length: clients },
      (_, n) => new Payer(`client-${n}`, { ...shared, random: new Random(seed * 1_000 + n) }),
    );
    const hasEnough = () =>
      count(payers, 'acknowledged') >= enough.acknowledged && count(payers, 'refused') >= enough.refused;
    await whilePaying(payers, async () => {
      for (let kill = 1; kill <= kills; kill += 1) {
        await sleep(random.between(200, 1_500));
        const victim = random.pick(VICTIMS);
        await strike(deployment, victim);
        say(`kill ${kill}: ${victim}; ${count(payers, 'acknowledged')} acknowledged so far`);
      }
      do await sleep(500);
      while (!hasEnough());
    });
    const verdict = await judge(
      {
        sql: deployment.sql,
        settled: () => settled(deployment),
        withEngine: (work) => withEngine(deployment.database, work),
        get: getter({ port, authorization }),
      },
      payers.flatMap(({ wants }) => wants),
    );
    return {
      kills,
      acknowledged: count(payers, 'acknowledged'),
      refused: count(payers, 'refused'),
      unanswered: payers.reduce((sum, payer) => sum + payer.unanswered, 0),
      contradictions: payers.flatMap(({ contradictions }) => contradictions),
      ...verdict,
    };
  } finally {
    await deployment.stop();
  }
}

export const count = (payers: readonly Payer[], outcome: 'acknowledged' | 'refused'): number =>
  payers.reduce((sum, { wants }) => sum + wants.filter((want) => want.outcome === outcome).length, 0);

/** Kills, and waits until the platform is ready again. The program brings a PostgreSQL that dies under it back by itself. */
async function strike(deployment: Deployment, victim: (typeof VICTIMS)[number]): Promise<void> {
  const postgres = await postgresPid(deployment.dataDir);
  if (victim !== 'postgres') await deployment.program.kill();
  if (victim !== 'program' && postgres) process.kill(postgres, 'SIGKILL');
  if (victim !== 'postgres') await deployment.restart();
  const giveUpMs = performance.now() + RECOVERY_PATIENCE_MS;
  while (!(await isReady(deployment))) {
    if (performance.now() > giveUpMs) throw new Error(`not ready again ${RECOVERY_PATIENCE_MS / 1_000} s after a kill`);
    await sleep(50);
  }
}

const isReady = ({ program }: Deployment): Promise<boolean> =>
  fetch(`http://127.0.0.1:${program.port}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

/** What the API answers to a GET of these credentials. */
export const getter =
  ({ port, authorization }: { port: number; authorization: string }) =>
  async (path: string): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/2025-10-13${path}`, { headers: { authorization } });
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };

/** Adds an external account for each suffix; answers their public ids. */
export async function addBanks({ port, authorization }: { port: number; authorization: string }): Promise<string[]> {
  const url = `http://127.0.0.1:${port}/2025-10-13/platform/external-accounts`;
  const banks: string[] = [];
  for (const suffix of SUFFIXES) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `bank-${suffix}` },
      body: JSON.stringify({
        currency: 'USD',
        accountInfo: {
          accountType: 'USD_ACCOUNT',
          accountNumber: `123456${suffix}`,
          routingNumber: '021000021',
          bankAccountType: 'CHECKING',
          beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amina Diallo' },
        },
      }),
    });
    const body = (await answer.json()) as { id: string };
    if (answer.status !== 201) throw new Error(`no external account: ${answer.status} ${JSON.stringify(body)}`);
    banks.push(body.id);
  }
  return banks;
}
