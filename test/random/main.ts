import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { machine } from '../bench/machine.ts';
import type { Random } from '../faults/random.ts';
import { linesOf } from '../faults/verdict.ts';
import { parts, program } from './deployments.ts';
import { runRandom } from './run.ts';

/**
 * `npm run random [-- --steps n] [--seed n] [--clients n] [--kills n]`: starts the program and asks it for random things, right and wrong,
 * one after the other or by many clients at once, while it is killed so many times at most. With `--distributed`, each part of it runs
 * twice, as processes of their own. Exit code 1 when an answer is not as promised, or when what is there afterwards is not what was asked
 * for.
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '5000' },
    clients: { type: 'string', default: '1' },
    kills: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    distributed: { type: 'boolean', default: false },
  },
});
const numbers = [values.steps, values.seed, values.clients, values.kills].map(Number);
const [steps, seed, clients, kills] = numbers as [number, number, number, number];
if (!numbers.every((value) => Number.isInteger(value) && value >= 0) || clients < 1) {
  process.stderr.write('--steps, --seed, --clients and --kills must be whole numbers, and there must be a client.\n');
  process.exit(1);
}
if (clients === 1 && (kills > 0 || values.distributed)) {
  process.stderr.write('--kills and --distributed need several --clients: one expects to be alone.\n');
  process.exit(1);
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
say(`${machine()}\nseed ${seed}, ${steps} steps, ${clients} at once\n`);
const asked = await (values.distributed ? parts() : program());
let left = kills;
const { outcomes, ...lists } = await runRandom({
  ...asked,
  steps,
  seed,
  clients,
  say,
  ...(kills > 0 && { disturb }),
}).finally(() => asked.stop());

async function disturb(random: Random): Promise<void> {
  await sleep(random.between(200, 3_000));
  if (left === 0) return;
  left -= 1;
  say(await asked.strike(random));
}

say('');
for (const [outcome, count] of [...outcomes].sort()) say(`${String(count).padStart(7)} ${outcome}`);
say('');
for (const line of linesOf(lists)) say(line);
process.exit(Object.values(lists).every((list) => list.length === 0) ? 0 : 1);
