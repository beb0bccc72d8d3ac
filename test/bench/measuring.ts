import { type Helper, startHelper } from './children.ts';
import type { Deployment } from './deployment.ts';
import type { LoadResult, LoadSpec } from './load.ts';
import { type Busy, busySince, cpuSeconds, ticks } from './machine.ts';
import { postgresPid } from './program.ts';

export const CONNECTIONS = 64;

/** What the rows are measured with. */
export interface Bench {
  /** Measured time of a repetition; warm-up comes before it. */
  seconds: number;
  repetitions: number;
  warmUpSeconds: number;
  /** Events of the long log. */
  history: number;
  load: Helper<LoadSpec, LoadResult>;
  say(line: string): void;
  /** Every measurement, for the JSON. */
  measured: Measured[];
}

/** A load and what it cost. Processor milliseconds are per answer. */
export interface Measured extends LoadResult {
  name: string;
  busy: Busy;
  serverMs: number;
  postgresMs: number;
  clientMs: number;
}

export interface Target {
  port: number;
  pid: number;
  authorization: string;
  /** Data folder of the PostgreSQL behind it. */
  dataDir: string;
}

/** The program of a deployment as the target of a load. */
export const programOf = ({ program, authorization, dataDir }: Deployment): Target => ({
  port: program.port,
  pid: program.pid,
  authorization,
  dataDir,
});

type Load = Pick<LoadSpec, 'shape' | 'targets' | 'rate' | 'inOrder'> & { seconds?: number };

/** Loads a target once. Throws when anything was refused or lost: such a figure would say nothing. */
export function measure(bench: Bench, name: string, target: Target, load: Load): Promise<Measured> {
  return measureAtOnce(bench, name, [{ target, by: bench.load }], load);
}

/**
 * The same with several load generators at the same time, each with a target of its own or all with one. Rates are added up; of the
 * latencies the worst is told.
 */
export async function measureAtOnce(
  bench: Bench,
  name: string,
  loads: readonly { target: Target; by: Bench['load'] }[],
  load: Load,
): Promise<Measured> {
  const { seconds = bench.seconds, ...spec } = load;
  const postgres = (await postgresPid(loads[0]!.target.dataDir)) ?? 0;
  const servers = [...new Set(loads.map(({ target }) => target.pid))];
  const used = () => ({
    server: servers.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    postgres: cpuSeconds(postgres, true),
  });
  const warmUpMs = bench.warmUpSeconds * 1_000;
  const result = Promise.all(
    loads.map(({ target: { port, authorization }, by }) =>
      by.ask({ port, authorization, connections: CONNECTIONS, warmUpMs, measureMs: seconds * 1_000, ...spec }),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, bench.warmUpSeconds * 1_000));
  const [before, machineBefore] = [used(), ticks()];
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const [after, busy] = [used(), busySince(machineBefore)];
  const answer = (await result).reduce(together);
  const perAnswer = (cpu: number) => (cpu * 1_000) / Math.max(1, answer.answered);
  const measured: Measured = {
    name,
    ...answer,
    busy,
    serverMs: perAnswer(after.server - before.server),
    postgresMs: perAnswer(after.postgres - before.postgres),
    clientMs: perAnswer(answer.cpuSeconds),
  };
  bench.measured.push(measured);
  bench.say(describe(measured));
  if (Object.keys(answer.failed).length > 0) {
    throw new Error(`${name}: answers that were not expected, by status: ${JSON.stringify(answer.failed)}`);
  }
  return measured;
}

function together(one: LoadResult, other: LoadResult): LoadResult {
  const failed = { ...one.failed };
  for (const [status, count] of Object.entries(other.failed)) failed[status] = (failed[status] ?? 0) + count;
  return {
    answered: one.answered + other.answered,
    perSecond: one.perSecond + other.perSecond,
    p50Ms: Math.max(one.p50Ms, other.p50Ms),
    p99Ms: Math.max(one.p99Ms, other.p99Ms),
    maxMs: Math.max(one.maxMs, other.maxMs),
    failed,
    cpuSeconds: one.cpuSeconds + other.cpuSeconds,
  };
}

function describe({ name, perSecond, p50Ms, p99Ms, serverMs, postgresMs, clientMs, busy }: Measured): string {
  const cpu = `cpu ms: server ${serverMs.toFixed(2)}, postgres ${postgresMs.toFixed(2)}, client ${clientMs.toFixed(2)}`;
  const rest = `machine busy ${percent(busy.busy)}, steal ${percent(busy.steal)}, load ${busy.load1.toFixed(1)}`;
  return `${name}: ${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms; ${cpu}; ${rest}`;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Runs a helper that serves HTTP, gives it as a target, and ends it. */
export async function withServer<T>(
  name: 'probe' | 'naive' | 'bare',
  args: readonly string[],
  target: Pick<Target, 'authorization' | 'dataDir'>,
  work: (server: Target) => Promise<T>,
): Promise<T> {
  const server = await startHelper<never, never, { port: number }>(name, { args, saysReady: true });
  try {
    return await work({ ...target, port: server.ready.port, pid: server.pid });
  } finally {
    await server.stop();
  }
}
