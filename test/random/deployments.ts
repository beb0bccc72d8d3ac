import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { deploy, withEngine } from '../bench/deployment.ts';
import type { Random } from '../faults/random.ts';
import { startServers } from '../faults/servers.ts';
import { type ApartRole, RoleDeployment } from '../roles/deployment.ts';
import type { RandomOptions } from './run.ts';

/** What is asked, and what can befall it meanwhile. */
export interface Asked extends Pick<RandomOptions, 'ports' | 'sql' | 'withEngine'> {
  /** Kills one of its processes, or has it stand still, until it runs again; answers which. */
  strike(random: Random): Promise<string>;
  stop(): Promise<void>;
}

const ROLES: readonly ApartRole[] = ['api', 'projector', 'worker', 'dispatcher'];
/** Those whose work another one takes over when their lease, of ten seconds, is over. */
const LEASED: readonly ApartRole[] = ['projector', 'worker', 'dispatcher'];
const PAUSE_MS = 12_000;
const PAUSED = 0.2;

/** The program that runs everything. */
export async function program(): Promise<Asked> {
  const deployment = await deploy(0);
  return {
    ports: [deployment.program.port],
    sql: deployment.sql,
    withEngine: (work) => withEngine(deployment.database, work),
    async strike() {
      await deployment.program.kill();
      await deployment.restart();
      return 'kill program';
    },
    stop: () => deployment.stop(),
  };
}

/** Each part twice, as processes of their own on one PostgreSQL. */
export async function parts(): Promise<Asked> {
  const servers = await startServers('postgres+direct');
  if ('reason' in servers) throw new Error(servers.reason);
  const { databaseUrl: url } = servers;
  const roles = new RoleDeployment({ databaseUrl: url, env: { LOG_LEVEL: 'warn' } });
  const sql = new pg.Pool({ connectionString: url, max: 2, application_name: 'random' });
  const stop = async () => {
    await sql.end();
    await roles.stop();
    await servers.stop();
  };
  try {
    const started = await roles.startAll(...ROLES, ...ROLES);
    return {
      ports: started.flatMap(({ role, port }) => (role === 'api' ? [port] : [])),
      sql,
      withEngine: (work) => withEngine({ url, masterKey: roles.masterKey }, work),
      strike: (random) => strike(roles, random),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function strike(roles: RoleDeployment, random: Random): Promise<string> {
  const isPause = random.next() < PAUSED;
  const victim = random.pick(
    [...roles.processes.values()].filter(({ role }) => (isPause ? LEASED : ROLES).includes(role)),
  );
  if (isPause) {
    victim.pause();
    await sleep(PAUSE_MS);
    victim.continue();
    return `pause ${victim.name}`;
  }
  await victim.kill();
  const restarted = await roles.restart(victim.name);
  await restarted.untilReady();
  return `kill ${victim.name}`;
}
