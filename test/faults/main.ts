import { parseArgs } from 'node:util';
import { machine } from '../bench/machine.ts';
import { type FaultReport, runFaults } from './faults.ts';
import { isClean } from './verdict.ts';

/** `npm run faults [-- --kills n] [--seed n] [--clients n]`: exit code 1 when anything is lost, doubled, invented, stuck or unbalanced. */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '12' },
  },
});
const [kills, seed, clients] = [values.kills, values.seed, values.clients].map(Number) as [number, number, number];
if (![kills, seed, clients].every((value) => Number.isInteger(value) && value >= 0)) {
  process.stderr.write('--kills, --seed and --clients must be whole numbers.\n');
  process.exit(1);
}

process.stdout.write(`${machine()}\nseed ${seed}, ${clients} clients\n\n`);
const report = await runFaults({ kills, seed, clients, say: (line) => process.stdout.write(`${line}\n`) });
process.stdout.write(`\n${told(report)}\n`);
process.exit(isClean(report) && report.contradictions.length === 0 ? 0 : 1);

function told(report: FaultReport): string {
  const { kills: killed, acknowledged, refused, unanswered, contradictions, ...rest } = report;
  const lists = { ...rest, contradictions };
  const numbers = { kills: killed, acknowledged, refused, 'unanswered, then repeated': unanswered };
  const lines = Object.entries(numbers).map(([name, value]) => `${name.padEnd(28)}${value}`);
  for (const [name, list] of Object.entries(lists)) {
    lines.push(`${name.padEnd(28)}${list.length}`, ...list.slice(0, 20).map((line) => `  ${line}`));
  }
  return lines.join('\n');
}
