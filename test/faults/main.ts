import { parseArgs } from 'node:util';
import { machine } from '../bench/machine.ts';
import { runDistributedFaults } from './distributed.ts';
import { type FaultReport, runFaults } from './faults.ts';
import { ENGINES } from './servers.ts';
import { linesOf } from './verdict.ts';

/**
 * `npm run faults [-- --kills n] [--seed n] [--clients n]`: the program that runs everything. With `--distributed`, its parts as separate
 * processes, `--engine` naming what they stand on, `--kills` the number of faults and `--pause` for how many seconds a process stands
 * still. Exit code 1 when anything is lost, doubled, invented, stuck, unsent or unbalanced.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '12' },
    distributed: { type: 'boolean', default: false },
    engine: { type: 'string', default: 'postgres+kafka' },
    pause: { type: 'string', default: '30' },
  },
});
const [kills, seed, clients] = [values.kills, values.seed, values.clients].map(Number) as [number, number, number];
if (![kills, seed, clients].every((value) => Number.isInteger(value) && value >= 0)) {
  process.stderr.write('--kills, --seed and --clients must be whole numbers.\n');
  process.exit(1);
}

process.stdout.write(`${machine()}\nseed ${seed}, ${clients} clients\n\n`);
const say = (line: string) => void process.stdout.write(`${line}\n`);
process.exit(values.distributed ? await apart() : judged(await runFaults({ kills, seed, clients, say })));

async function apart(): Promise<number> {
  const engine = ENGINES.find((name) => name === values.engine);
  const pauseMs = Number(values.pause) * 1_000;
  if (!engine || !(pauseMs > 0)) {
    process.stderr.write(`--engine must be ${ENGINES.join(' or ')}, and --pause a number of seconds.\n`);
    return 1;
  }
  const report = await runDistributedFaults({ engine, faults: kills, seed, clients, pauseMs, say });
  if (!('reason' in report)) return judged({ ...report, kills: report.faults.length });
  process.stderr.write(`Not on this machine: ${report.reason}\n`);
  return 1;
}

function judged({ faults: _, ...report }: FaultReport & { faults?: string[] }): number {
  const { kills: done, acknowledged, refused, unanswered, ...lists } = report;
  say(`\n${told(report)}`);
  return Object.values(lists).every((list) => list.length === 0) ? 0 : 1;
}

function told(report: FaultReport): string {
  const { kills: killed, acknowledged, refused, unanswered, contradictions, ...rest } = report;
  const lists = { ...rest, contradictions };
  const numbers = { faults: killed, acknowledged, refused, 'unanswered, then repeated': unanswered };
  const lines = Object.entries(numbers).map(([name, value]) => `${name.padEnd(28)}${value}`);
  return [...lines, ...linesOf(lists)].join('\n');
}
