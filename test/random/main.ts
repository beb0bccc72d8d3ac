import { parseArgs } from 'node:util';
import { deploy, withEngine } from '../bench/deployment.ts';
import { machine } from '../bench/machine.ts';
import { linesOf } from '../faults/verdict.ts';
import { runRandom } from './run.ts';

/**
 * `npm run random [-- --steps n] [--seed n]`: starts the program and asks it for random things, right and wrong. Exit code 1 when an
 * answer is not as promised, or when what is there afterwards is not what was asked for.
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [steps, seed] = [values.steps, values.seed].map(Number) as [number, number];
if (![steps, seed].every((value) => Number.isInteger(value) && value >= 0)) {
  process.stderr.write('--steps and --seed must be whole numbers.\n');
  process.exit(1);
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
say(`${machine()}\nseed ${seed}, ${steps} steps\n`);
const deployment = await deploy(0);
const { outcomes, ...lists } = await runRandom({
  port: deployment.program.port,
  sql: deployment.sql,
  withEngine: (work) => withEngine(deployment.database, work),
  steps,
  seed,
  say,
}).finally(() => deployment.stop());

say('');
for (const [outcome, count] of [...outcomes].sort()) say(`${String(count).padStart(7)} ${outcome}`);
say('');
for (const line of linesOf(lists)) say(line);
process.exit(Object.values(lists).every((list) => list.length === 0) ? 0 : 1);
