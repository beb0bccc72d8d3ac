/**
 * `npm test -- [jest's arguments]`: does the set-up that a fresh clone lacks, then runs jest. Without arguments it runs every test, and
 * then the journeys that mean most to an engine once more on each of the other engines.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { build, checkNode, install, root } from '../apps/standalone/setup.mjs';
import { closingLine } from './reporter.mjs';

/** What runs on every engine: every way money moves, keys, crashes, read-your-writes, time, webhooks. */
const ON_EVERY_ENGINE = [
  'conformance/uma-settlement',
  'journeys/cancellation',
  'journeys/config',
  'journeys/customers',
  'journeys/customers-erasure',
  'journeys/customers-life',
  'journeys/engine',
  'journeys/external-accounts.crash',
  'journeys/fees-and-limits',
  'journeys/funding',
  'journeys/idempotency',
  'journeys/internal-accounts',
  'journeys/invitations',
  'journeys/payment-webhooks',
  'journeys/payments',
  'journeys/quotes',
  'journeys/read-position',
  'journeys/realtime-funding',
  'journeys/rule-accounts',
  'journeys/sandbox-clock',
  'journeys/tokens',
  'journeys/transfers',
  'journeys/uma-incoming',
  'journeys/uma-lookups',
  'journeys/uma-payments',
  'journeys/withdrawal-fees',
].map((name) => `test/${name}.spec.ts`);
const PARTS = 5;

checkNode();
process.chdir(root);
const args = process.argv.slice(2);
await install();
if (!(await build())) {
  if (args.length === 0) process.exit(1);
  process.stderr.write('The build failed; tests that start the built program use the last one.\n');
}

let running;
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isInterrupted = true;
    // Ctrl-C reaches jest by itself; the others are handed on. Either way jest tidies up first.
    if (signal !== 'SIGINT') running?.kill(signal);
  });
}

const folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-test-totals-'));
const totals = { passed: 0, failed: 0, skipped: 0 };
const passes = args.length > 0 ? [{ args }] : [...everything(), ...(await onOtherEngines())];
for (const pass of passes) {
  if (isInterrupted) break;
  const code = await jest(pass);
  process.exitCode ||= code;
}
rmSync(folder, { recursive: true });
process.stdout.write(closingLine(totals));

/** Every test, a part after the other: the modules that each file loads stay in jest's memory until it ends. */
function everything() {
  const parts = Array.from({ length: PARTS }, (_, i) => `${i + 1}/${PARTS}`);
  return parts.map((part) => ({ title: `every test, part ${part}`, args: [`--shard=${part}`] }));
}

/** What else runs without arguments. Where there can be no broker its tests are counted as skipped, and it is said why. */
async function onOtherEngines() {
  await import('./ts-loader.mjs');
  const { fetchKafka } = await import('./kafka/fetch.ts');
  const fetched = await fetchKafka();
  return [
    { engine: 'postgres-kafka', title: 'PostgreSQL and Kafka' },
    { engine: 'eventstoredb-kafka', title: 'the protocol of EventStoreDB and Kafka' },
  ].map(({ engine, title }) =>
    'reason' in fetched
      ? {
          title: `journeys on ${title}, skipped because ${fetched.reason}`,
          args: [...ON_EVERY_ENGINE, '--testNamePattern=$^', '--silent', '--reporters=<rootDir>/test/reporter.mjs'],
        }
      : { title: `journeys on ${title}`, engine, args: ON_EVERY_ENGINE },
  );
}

/** Runs jest once and adds up its totals; answers its exit code. */
async function jest({ title, engine, args }) {
  if (title) process.stdout.write(`\n== ${title}\n`);
  const file = path.join(folder, 'totals.json');
  rmSync(file, { force: true });
  running = spawn(process.execPath, [path.join(root, 'node_modules/jest/bin/jest.js'), ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(engine && { TEST_ENGINE: engine }),
      TEST_TOTALS: file,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --no-warnings`.trim(),
    },
  });
  const [code, signal] = await once(running, 'exit');
  const exitCode = code ?? 128 + constants.signals[signal];
  if (existsSync(file)) {
    for (const [name, count] of Object.entries(JSON.parse(readFileSync(file, 'utf8')))) totals[name] += count;
  } else if (exitCode !== 0) totals.failed += 1; // it ended before it could count
  return exitCode;
}
