import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { publicId } from '../../libs/kernel/ids.ts';
import { startHelper } from './children.ts';
import { type Deployment, deploy, settled } from './deployment.ts';
import { feeds } from './feed.ts';
import { makeHistory, memory, reads, rebuilding, starts } from './history.ts';
import type { LoadResult, LoadSpec } from './load.ts';
import { busySince, machine, ticks } from './machine.ts';
import { type Bench, measure, percent, programOf } from './measuring.ts';
import { withServers } from './parts.ts';
import { payments, withReceiver } from './payments.ts';
import { type Figure, table } from './report.ts';
import { twoApis } from './two-apis.ts';
import { visibility } from './visible.ts';
import { latency, writes } from './writes.ts';

/**
 * `npm run bench [-- row …] [--seconds n] [--repetitions n] [--json file] [--profile folder]`: the figures of the platform on this machine,
 * each measured on the built program with its embedded PostgreSQL, over HTTP, beside the load generator. `--profile` writes where the
 * program spent its time, for the developer tools of a browser. The last four rows are of a platform whose parts are processes of their
 * own; those with a topic need a Kafka broker (test/kafka/fetch.ts), and where none can run it is said why they are left out.
 */
const ON_FRESH_LOG = ['fund', 'hot', 'payment', 'latency'] as const;
const ON_LONG_LOG = ['get', 'list', 'rebuild', 'start', 'memory'] as const;
const ON_PARTS = ['two-apis', 'visible', 'relay', 'projector'] as const;
const ROWS = [...ON_FRESH_LOG, ...ON_LONG_LOG, ...ON_PARTS] as const;
type Row = (typeof ROWS)[number];

const ACCOUNTS = 10_000;

async function main(): Promise<void> {
  const options = read();
  const started = ticks();
  const bench: Bench = {
    ...options,
    load: await startHelper<LoadSpec, LoadResult>('load'),
    say: (line) => process.stderr.write(`${line}\n`),
    measured: [],
  };
  process.stdout.write(
    `${machine()}\nload average at the start: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}\n\n`,
  );
  const leftOut: string[] = [];
  const all = [...(await onFreshLog(bench, options)), ...(await onLongLog(bench, options))];
  all.push(...(await onParts(bench, options)), ...(await onPartsWithKafka(bench, options, leftOut)));
  const figures = all.filter(({ row }) => options.rows.has(row as Row));
  await bench.load.stop();
  const busy = busySince(started);
  process.stdout.write(`\n${[table(figures), ...leftOut].join('\n\n')}\n\n`);
  process.stdout.write(`machine over the whole run: busy ${percent(busy.busy)}, steal ${percent(busy.steal)}\n`);
  if (!options.json) return;
  const { measured } = bench;
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim();
  await writeFile(
    options.json,
    `${JSON.stringify({ machine: machine(), command, busy, figures, leftOut, measured }, null, 2)}\n`,
  );
}

function read() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '6' },
      'payment-seconds': { type: 'string', default: '60' },
      repetitions: { type: 'string', default: '3' },
      events: { type: 'string', default: '1000000' },
      json: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const unknown = positionals.filter((name) => !ROWS.includes(name as Row));
  if (unknown.length > 0) throw new Error(`There is no row ${unknown.join(', ')}. There are: ${ROWS.join(', ')}.`);
  const positive = (name: 'seconds' | 'payment-seconds' | 'repetitions' | 'events') => {
    const number = Number(values[name]);
    if (!(number > 0)) throw new Error(`--${name} must be a number above 0.`);
    return number;
  };
  return {
    rows: new Set((positionals.length > 0 ? positionals : ROWS) as readonly Row[]),
    seconds: positive('seconds'),
    paymentSeconds: positive('payment-seconds'),
    repetitions: positive('repetitions'),
    warmUpSeconds: 2,
    history: positive('events'),
    json: values.json,
    nodeArgs: values.profile ? ['--cpu-prof', `--cpu-prof-dir=${path.resolve(values.profile)}`] : [],
  };
}

type Options = ReturnType<typeof read>;

async function onFreshLog(bench: Bench, { rows, paymentSeconds, nodeArgs }: Options): Promise<Figure[]> {
  if (!ON_FRESH_LOG.some((row) => rows.has(row))) return [];
  const figures: Figure[] = [];
  const deployment = await deploy(ACCOUNTS, { nodeArgs });
  try {
    await warmUp(bench, deployment);
    if (rows.has('fund') || rows.has('hot')) figures.push(...(await writes(bench, deployment)));
    if (rows.has('latency')) figures.push(await latency(bench, deployment, 'fund', false));
    if (rows.has('payment') || rows.has('latency')) {
      await withReceiver(deployment, async (received) => {
        if (rows.has('payment')) figures.push(...(await payments(bench, deployment, received, paymentSeconds)));
        if (rows.has('latency')) figures.push(await latency(bench, deployment, 'pay', true));
      });
    }
  } finally {
    await deployment.stop();
  }
  return figures;
}

/** Everything compiled, every account used once: what is measured is a platform that has been running. */
async function warmUp(bench: Bench, deployment: Deployment): Promise<void> {
  for (let targets = deployment.accounts.map((id) => publicId('InternalAccount', id)); targets.length > 0; ) {
    const load = { shape: 'fund', targets, inOrder: true, seconds: 6 } as const;
    const { answered } = await measure(bench, 'warm-up', programOf(deployment), load);
    targets = targets.slice(answered);
  }
  await settled(deployment);
}

async function onLongLog(bench: Bench, { rows, nodeArgs }: Options): Promise<Figure[]> {
  if (!ON_LONG_LOG.some((row) => rows.has(row))) return [];
  const figures: Figure[] = [];
  const deployment = await deploy(ACCOUNTS, { nodeArgs });
  try {
    const transactions = await makeHistory(bench, deployment);
    if (rows.has('get') || rows.has('list')) figures.push(...(await reads(bench, deployment, transactions)));
    if (rows.has('memory')) figures.push(memory(bench, deployment));
    if (rows.has('rebuild')) figures.push(await rebuilding(bench, deployment));
    if (rows.has('start')) figures.push(...(await starts(bench, deployment)));
  } finally {
    await deployment.stop();
  }
  return figures;
}

async function onParts(bench: Bench, { rows }: Options): Promise<Figure[]> {
  if (!rows.has('two-apis') && !rows.has('visible')) return [];
  const figures = await withServers('postgres+direct', async (servers) => [
    ...(rows.has('two-apis') ? await twoApis(bench, servers) : []),
    ...(rows.has('visible') ? await visibility(bench, servers) : []),
  ]);
  if ('reason' in figures) throw new Error(figures.reason);
  return figures;
}

async function onPartsWithKafka(bench: Bench, { rows }: Options, leftOut: string[]): Promise<Figure[]> {
  const wanted = (['visible', 'relay', 'projector'] as const).filter((row) => rows.has(row));
  if (wanted.length === 0) return [];
  const figures = await withServers('postgres+kafka', async (servers) => [
    ...(rows.has('visible') ? await visibility(bench, servers) : []),
    ...(rows.has('relay') || rows.has('projector') ? await feeds(bench, servers) : []),
  ]);
  if (!('reason' in figures)) return figures;
  leftOut.push(`Left out on Kafka: ${wanted.join(', ')}, because ${figures.reason}.`);
  return [];
}

await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
