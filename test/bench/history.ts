import pg from 'pg';
import { rebuild } from '../../apps/projector/src/rebuild.ts';
import { projections } from '../../projections/index.ts';
import { type Deployment, settled, withEngine } from './deployment.ts';
import { fill } from './fill.ts';
import { residentMb } from './machine.ts';
import { type Bench, measure, programOf, withServer } from './measuring.ts';
import { postgresPid } from './program.ts';
import type { Figure } from './report.ts';

/** Fills the log of a deployment while its program projects. Answers ids of transactions. */
export async function makeHistory(bench: Bench, deployment: Deployment): Promise<string[]> {
  const startMs = performance.now();
  const transactions = await withEngine(deployment.database, (engine) => fill(engine, deployment, bench.history));
  const seconds = (performance.now() - startMs) / 1_000;
  await settled(deployment, { patienceMs: 300_000 });
  const projected = (performance.now() - startMs) / 1_000;
  bench.say(`${bench.history} events written in ${seconds.toFixed(1)} s, projected after ${projected.toFixed(1)} s`);
  const admin = new pg.Client({ connectionString: deployment.database.url });
  await admin.connect();
  await admin.query('VACUUM ANALYZE');
  await admin.end();
  return transactions;
}

/** GET by id next to a bare NestJS GET with the same query, in turns; and a page of a list. */
export async function reads(bench: Bench, deployment: Deployment, transactions: readonly string[]): Promise<Figure[]> {
  const { database, tenant, authorization } = deployment;
  const program = programOf(deployment);
  const byId: number[] = [];
  const bareById: number[] = [];
  const lists: number[] = [];
  const args = [database.url, tenant.platform, tenant.environment];
  await withServer('bare', args, { authorization, dataDir: deployment.dataDir }, async (bare) => {
    for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
      const ours = await measure(bench, 'GET by id', program, { shape: 'transaction', targets: transactions });
      const bares = await measure(bench, 'bare GET', bare, { shape: 'row', targets: transactions });
      byId.push(ours.perSecond);
      bareById.push(bares.perSecond);
      lists.push((await measure(bench, 'list', program, { shape: 'list', targets: transactions })).perSecond);
    }
  });
  const ratio = byId.map((rate, i) => rate / bareById[i]!);
  return [
    { row: 'get', what: 'GET by id', unit: '/s', runs: byId },
    { row: 'get', what: 'GET by id, of a bare NestJS GET', unit: 'x', runs: ratio, must: 0.6, aim: 0.8, digits: 2 },
    {
      row: 'list',
      what: `page of 20 of ${transactions.length} rows`,
      unit: '/s',
      runs: lists,
      must: 1_500,
      aim: 2_500,
    },
  ];
}

/** All read tables built anew while the program runs, and nothing found to be different. */
export async function rebuilding(bench: Bench, deployment: Deployment): Promise<Figure> {
  const runs: number[] = [];
  for (let repetition = 0; repetition < Math.min(2, bench.repetitions); repetition += 1) {
    const { events, seconds, tables } = await withEngine(deployment.database, (engine) => rebuild(engine, projections));
    const different = tables.filter(({ compared }) => compared && compared.differing > 0).map(({ name }) => name);
    if (different.length > 0) throw new Error(`the rebuilt tables are not the live ones: ${different.join(', ')}`);
    bench.say(`rebuild: ${events} events in ${seconds.toFixed(1)} s`);
    runs.push(events / seconds);
  }
  return { row: 'rebuild', what: 'rebuild of all projections', unit: 'events/s', runs, must: 30_000, aim: 60_000 };
}

/** From `node` to the first answer of the API, after Ctrl-C and after `kill -9` of program and PostgreSQL. */
export async function starts(bench: Bench, deployment: Deployment): Promise<Figure[]> {
  const clean: number[] = [];
  const killed: number[] = [];
  for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
    await deployment.program.stop();
    clean.push((await deployment.restart()).startedMs / 1_000);
    const postgres = await postgresPid(deployment.dataDir);
    await deployment.program.kill();
    if (postgres) process.kill(postgres, 'SIGKILL');
    killed.push((await deployment.restart()).startedMs / 1_000);
    bench.say(`start: ${clean.at(-1)!.toFixed(2)} s after a clean stop, ${killed.at(-1)!.toFixed(2)} s after kill -9`);
  }
  const figure = (what: string, runs: number[]): Figure => ({
    row: 'start',
    what: `start with ${bench.history} events, ${what}`,
    unit: 's',
    runs,
    must: 3,
    aim: 1,
    atMost: true,
    digits: 2,
  });
  return [figure('after a clean stop', clean), figure('after kill -9', killed)];
}

/** Memory of the Node process as it is after the history and what was measured on it. */
export function memory(bench: Bench, { program }: Deployment): Figure {
  return {
    row: 'memory',
    what: `resident memory after ${bench.history} events`,
    unit: 'MB',
    runs: [residentMb(program.pid)],
    must: 400,
    aim: 300,
    atMost: true,
  };
}
