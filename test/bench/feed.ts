import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Servers } from '../faults/servers.ts';
import { type ApartRole, RoleDeployment, type RoleProcess } from '../roles/deployment.ts';
import { freshDatabase } from './databases.ts';
import { makePlatform, withEngine } from './deployment.ts';
import { fill } from './fill.ts';
import type { Bench } from './measuring.ts';
import type { Figure } from './report.ts';

/** Enough that every partition has some. */
const PLATFORMS = 16;
const ACCOUNTS_PER_PLATFORM = 50;
const MOST_EVENTS = 300_000;
const LOG = 'bench_feed_log';
const ASK_EVERY_MS = 50;
const PATIENCE_MS = 600_000;

/** A log that nothing has read yet, for each measurement to take a copy of. */
interface UnreadLog {
  masterKey: Buffer;
  events: number;
}

/** How fast a relay brings a log into a topic, and a projector what is there into the read tables; beside it, without Kafka. */
export async function feeds(bench: Bench, servers: Servers): Promise<Figure[]> {
  const log = await makeLog(bench, servers);
  const relayed: number[] = [];
  const projected: number[] = [];
  const directly: number[] = [];
  for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
    const take = async (name: string, env: Record<string, string>, steps: readonly Step[]) => {
      const databaseUrl = await freshDatabase(servers.databaseUrl, `bench_feed_${name}_${repetition}`, LOG);
      const roles = new RoleDeployment({ databaseUrl, masterKey: log.masterKey, env: { ...env, LOG_LEVEL: 'error' } });
      try {
        for (const { what, role, counter, rates } of steps) {
          const process = await roles.start(role);
          const rate = await rateOf(process, counter, log.events);
          await process.terminate();
          bench.say(`${what}: ${Math.round(rate)} events/s`);
          rates.push(rate);
        }
      } finally {
        await roles.stop();
      }
    };
    const kafka = { ...servers.env, KAFKA_TOPIC: `ledgerline.bench.feed.${repetition}` };
    const counted = { role: 'projector', counter: 'projection_batch_events_sum' } as const;
    await take('kafka', kafka, [
      { what: RELAY, role: 'relay', counter: 'relay_events_total', rates: relayed },
      { what: FROM_KAFKA, ...counted, rates: projected },
    ]);
    await take('direct', {}, [{ what: FROM_LOG, ...counted, rates: directly }]);
  }
  const figure = (row: string, what: string, runs: number[]): Figure => ({ row, what, unit: 'events/s', runs });
  return [
    figure('relay', RELAY, relayed),
    figure('projector', FROM_KAFKA, projected),
    figure('projector', FROM_LOG, directly),
  ];
}

const RELAY = 'relay, from the log to Kafka';
const FROM_KAFKA = 'projector, from Kafka';
const FROM_LOG = 'projector, from the log itself';

interface Step {
  what: string;
  role: ApartRole;
  /** The metric that counts its events. */
  counter: string;
  rates: number[];
}

async function makeLog(bench: Bench, servers: Servers): Promise<UnreadLog> {
  const upTo = Math.min(bench.history, MOST_EVENTS);
  const url = await freshDatabase(servers.databaseUrl, LOG);
  const masterKey = randomBytes(32);
  const startMs = performance.now();
  const events = await withEngine({ url, masterKey }, async (engine) => {
    const platforms = [];
    for (let i = 0; i < PLATFORMS; i += 1) platforms.push(await makePlatform(engine, ACCOUNTS_PER_PLATFORM));
    const head = await engine.store.head();
    const each = head + Math.ceil(Math.max(0, upTo - head) / PLATFORMS);
    await Promise.all(platforms.map((platform) => fill(engine, platform, each, head)));
    return engine.store.head();
  });
  bench.say(
    `${events} events of ${PLATFORMS} platforms written in ${((performance.now() - startMs) / 1_000).toFixed(1)} s`,
  );
  return { masterKey, events };
}

/** Events per second from the first that a process counts to the last; from its start where the first look finds them all. */
async function rateOf(process: RoleProcess, counter: string, events: number): Promise<number> {
  const giveUpMs = performance.now() + PATIENCE_MS;
  let atMs = performance.now();
  let first: { atMs: number; count: number } | undefined;
  for (;;) {
    const count = counted(await process.metrics().catch(() => ''), counter);
    const nowMs = performance.now();
    if (count === 0) atMs = nowMs;
    else first ??= count < events ? { atMs: nowMs, count } : { atMs, count: 0 };
    if (first && count >= events) return ((count - first.count) * 1_000) / (nowMs - first.atMs);
    if (process.isOver) throw new Error(`${process.name} has ended:\n${process.output}`);
    if (nowMs > giveUpMs) throw new Error(`${process.name} is at ${count} of ${events} events`);
    await sleep(ASK_EVERY_MS);
  }
}

const counted = (metrics: string, counter: string): number =>
  Number(new RegExp(`^${counter}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0);
