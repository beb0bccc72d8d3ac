import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Engine, openEngine } from '../../apps/shared/engine.ts';
import { partitionsOf } from '../../apps/shared/feed.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import { createLogger } from '../../libs/runtime/http/logging.ts';
import { makePlatform } from '../bench/deployment.ts';
import { type ApartRole, RoleDeployment } from '../roles/deployment.ts';
import { addBanks, count, type FaultReport, getter, TIME_SCALE, TOO_MUCH } from './faults.ts';
import { Hooks } from './hooks.ts';
import { Payer, whilePaying } from './payer.ts';
import { Random } from './random.ts';
import { configOn, type EngineName, type Servers, startServers } from './servers.ts';
import { judge } from './verdict.ts';

export interface DistributedOptions {
  engine: EngineName;
  /** How many faults; every kind comes once before one comes again. */
  faults: number;
  seed: number;
  clients?: number;
  /** How long a process stands still; a lease lasts ten seconds. */
  pauseMs?: number;
  /** How many of each part; two when absent. */
  processes?: Partial<Record<ApartRole, number>>;
  /** Told about each fault. */
  say?: (line: string) => void;
}

export interface DistributedReport extends Omit<FaultReport, 'kills'> {
  /** What was done, in order. */
  faults: string[];
  /** Webhooks that never arrived. */
  unsent: string[];
}

const ACCOUNTS = 12;
const FIRST_AMOUNT = 1_000;
const RECOVERY_PATIENCE_MS = 300_000;
const REST_PATIENCE_MS = 180_000;
const TWO_OF_EACH: Record<ApartRole, number> = { api: 2, relay: 2, projector: 2, worker: 2, dispatcher: 2 };

/**
 * Clients move money with idempotency keys while the parts of a deployment, and the servers that they stand on, are killed with `kill -9`
 * or stand still for longer than a lease lasts. Then everything that was acknowledged must be there exactly once, and nothing else, every
 * webhook must have arrived, and nothing may lag. Answers why where the servers cannot run on this machine.
 */
export async function runDistributedFaults(
  options: DistributedOptions,
): Promise<DistributedReport | { reason: string }> {
  const servers = await startServers(options.engine);
  if ('reason' in servers) return servers;
  try {
    const roles = new RoleDeployment({
      databaseUrl: servers.databaseUrl,
      env: { ...servers.env, SANDBOX_TIME_SCALE: TIME_SCALE, LOG_LEVEL: 'warn' },
    });
    try {
      return await new Ordeal(servers, roles, options).run();
    } finally {
      await roles.stop();
    }
  } finally {
    await servers.stop();
  }
}

class Ordeal {
  private readonly servers: Servers;
  private readonly roles: RoleDeployment;
  private readonly options: DistributedOptions;
  private readonly random: Random;
  private readonly sql: pg.Pool;

  constructor(servers: Servers, roles: RoleDeployment, options: DistributedOptions) {
    this.servers = servers;
    this.roles = roles;
    this.options = options;
    this.random = new Random(options.seed);
    this.sql = new pg.Pool({ connectionString: servers.databaseUrl, max: 2, application_name: 'faults' });
    this.sql.on('error', () => {}); // a connection that is lost is made anew
  }

  async run(): Promise<DistributedReport> {
    const hooks = await Hooks.listen();
    try {
      const { authorization, accounts } = await this.withEngine((engine) => makePlatform(engine, ACCOUNTS));
      const processes = { ...TWO_OF_EACH, ...this.options.processes };
      await this.roles.startAll(...this.kinds().flatMap((role) => Array<ApartRole>(processes[role]).fill(role)));
      const ports = this.ofRole('api').map(({ port }) => port);
      await hooks.announceTo(ports[0]!, authorization);
      const banks = await addBanks({ port: ports[0]!, authorization });
      const payers = this.payers(ports, authorization, accounts, banks);
      const faults = await this.underLoad(payers);
      const verdict = await judge(
        {
          sql: this.sql,
          settled: () => this.settled(),
          withEngine: (work) => this.withEngine(work),
          get: getter({ port: ports[0]!, authorization }),
        },
        payers.flatMap(({ wants }) => wants),
      );
      return {
        faults,
        acknowledged: count(payers, 'acknowledged'),
        refused: count(payers, 'refused'),
        unanswered: payers.reduce((sum, payer) => sum + payer.unanswered, 0),
        contradictions: payers.flatMap(({ contradictions }) => contradictions),
        ...verdict,
        unsent: await hooks.missing(this.sql, REST_PATIENCE_MS),
      };
    } finally {
      await hooks.stop();
      await this.sql.end();
    }
  }

  private kinds(): ApartRole[] {
    const all: ApartRole[] = ['api', 'relay', 'projector', 'worker', 'dispatcher'];
    return this.servers.env.FEED === 'kafka' ? all : all.filter((role) => role !== 'relay');
  }

  private payers(ports: number[], authorization: string, accounts: readonly string[], banks: string[]): Payer[] {
    let amount = FIRST_AMOUNT;
    const { clients = 8, seed } = this.options;
    return Array.from({ length: clients }, (_, n) => {
      const random = new Random(seed * 1_000 + n);
      return new Payer(`client-${n}`, {
        port: ports[n % ports.length]!,
        authorization,
        random,
        accounts: accounts.map((id) => publicId('InternalAccount', id)),
        banks,
        tooMuch: TOO_MUCH,
        nextAmount: () => amount++,
      });
    });
  }

  private async underLoad(payers: readonly Payer[]): Promise<string[]> {
    const { faults, say = () => {} } = this.options;
    const done: string[] = [];
    await whilePaying(payers, async () => {
      for (const [name, strike] of this.plan(faults)) {
        await sleep(this.random.between(200, 1_500));
        await strike();
        await this.recovered();
        done.push(name);
        say(`${done.length}: ${name}; ${count(payers, 'acknowledged')} acknowledged so far`);
      }
      await sleep(500);
    });
    return done;
  }

  /** Every kind of fault in a random order, and again, until there are enough. */
  private plan(faults: number): [string, () => Promise<void>][] {
    const kinds: [string, () => Promise<void>][] = [
      ...this.kinds().map((role) => [`kill ${role}`, () => this.kill(role)] as [string, () => Promise<void>]),
      ...this.kinds().map((role) => [`pause ${role}`, () => this.pause(role)] as [string, () => Promise<void>]),
      ...Object.entries(this.servers.strikes).map(
        ([name, strike]) => [`kill ${name}`, strike] as [string, () => Promise<void>],
      ),
    ];
    if (this.servers.env.FEED === 'kafka') kinds.push(['rewind offsets', () => this.rewind()]);
    const plan: typeof kinds = [];
    while (plan.length < faults) {
      const left = [...kinds];
      while (left.length > 0) plan.push(left.splice(this.random.between(0, left.length - 1), 1)[0]!);
    }
    return plan.slice(0, faults);
  }

  private ofRole(role: ApartRole) {
    return [...this.roles.processes.values()].filter((one) => one.role === role);
  }

  /** As an orchestrator does, it is started again. */
  private async kill(role: ApartRole): Promise<void> {
    const victim = this.random.pick(this.ofRole(role));
    await victim.kill();
    await this.roles.restart(victim.name);
  }

  private async pause(role: ApartRole): Promise<void> {
    const victim = this.random.pick(this.ofRole(role));
    victim.pause();
    await sleep(this.options.pauseMs ?? 30_000);
    victim.continue();
  }

  /** The marks of the feed are forgotten: whoever takes a partition begins with the first message again. */
  private async rewind(): Promise<void> {
    await this.sql.query(`UPDATE checkpoints SET mark = '0' WHERE name LIKE 'live/%'`);
    for (const victim of this.ofRole('projector')) {
      await victim.kill();
      await this.roles.restart(victim.name);
    }
  }

  /** Every process runs and is ready, so that each fault strikes a whole deployment. */
  private async recovered(): Promise<void> {
    const deadline = performance.now() + RECOVERY_PATIENCE_MS;
    for (const one of this.roles.processes.values()) {
      for (;;) {
        const { status, checks } = await one.readiness();
        if (status === 200) break;
        if (performance.now() > deadline) {
          const said = [...this.roles.processes.values()].map(
            ({ name, output }) => `-- ${name}\n${output.slice(-5_000)}`,
          );
          throw new Error(`${one.name} is not ready again: ${JSON.stringify(checks)}\n${said.join('\n')}`);
        }
        await sleep(100);
      }
    }
  }

  /** Waits until the log has reached the topic and the read models. */
  private settled(): Promise<void> {
    return this.withEngine(async ({ store }) => {
      const deadline = performance.now() + REST_PATIENCE_MS;
      for (;;) {
        const head = await store.head();
        const { rows } = await this.sql.query<{ relayed: string; behind: string; live: string }>(
          `SELECT COALESCE((SELECT position FROM relays), 0) AS relayed,
                  COALESCE((SELECT sum(greatest(p.last - COALESCE(c.position, 0), 0))
                              FROM relays r, unnest(r.last_positions) WITH ORDINALITY AS p(last, n)
                              LEFT JOIN checkpoints c ON c.name = 'live/' || (p.n - 1)), 0) AS behind,
                  COALESCE((SELECT position FROM checkpoints WHERE name = 'live'), 0) AS live`,
        );
        const { relayed, behind, live } = rows[0]!;
        const isKafka = this.servers.env.FEED === 'kafka';
        if (isKafka ? Number(relayed) >= head && Number(behind) === 0 : Number(live) >= head) return;
        if (performance.now() > deadline) {
          throw new Error(`not settled: the log is at ${head}, ${JSON.stringify(rows[0])}`);
        }
        await sleep(100);
      }
    });
  }

  private async withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    const { esdbUrl, kafka } = configOn(this.servers);
    const engine = await openEngine({
      databaseUrl: this.servers.databaseUrl,
      esdbUrl,
      masterKey: this.roles.masterKey,
      partitions: partitionsOf(kafka),
      logger: createLogger({ level: 'fatal' }),
    });
    try {
      return await work(engine);
    } finally {
      await engine.close();
    }
  }
}
