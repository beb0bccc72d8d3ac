import type { Command } from 'commander';
import { type CommonOptions, FINE, type Perform, wholeNumber } from '../command.ts';
import { count, counted, duration, type Output } from '../output.ts';
import { type Follower, readStatus, type Status } from '../status.ts';

const SAMPLE_MS = 1_000;

/** `status`. */
export function addStatus(program: Command, perform: Perform): void {
  program
    .command('status')
    .description('How read models, processes, timers and deliveries stand, and who works on them.')
    .option('--sample <ms>', 'how long to watch, for the rates', wholeNumber(), SAMPLE_MS)
    .action((options: CommonOptions & { sample: number }) =>
      perform.onEngine(options, async (engine, out) => {
        const status = await readStatus(engine, options.sample);
        out.result(status);
        tell(status, out);
        return FINE;
      }),
    );
}

function tell(status: Status, out: Output): void {
  const { head, followers, leases, timers, deliveries, parked, deliveriesFrom, skipped } = status;
  out.line(`The log ends at position ${count(head)}.`);
  const following = ['FOLLOWER', 'OF', 'POSITION', 'BEHIND', 'SINCE', 'RATE', 'OWNER', 'HEARTBEAT', 'LAST ERROR'];
  section(out, [following, ...followers.map(row)], [2, 3, 4, 5, 7]);
  section(out, [['LEASES OF', 'HELD', 'OWNER', 'HEARTBEAT'], ...held(leases)], [1, 3]);
  const waking = timers.map((one) => [
    one.process,
    count(one.waiting),
    count(one.due),
    one.due > 0 ? duration(one.lateSeconds) : '-',
    one.nextAt,
  ]);
  section(out, [['TIMERS OF', 'WAITING', 'DUE', 'LATE', 'NEXT'], ...waking], [1, 2, 3]);
  const queues = deliveries.map((one) => [
    one.platform,
    one.environment,
    count(one.pending),
    count(one.due),
    one.due > 0 ? duration(one.lateSeconds) : '-',
    count(one.failed),
    one.lastError ?? '',
  ]);
  const sending = ['DELIVERIES TO', 'ENVIRONMENT', 'PENDING', 'DUE', 'LATE', 'FAILED', 'LAST ERROR'];
  section(out, [sending, ...queues], [2, 3, 4, 5]);
  out.line();
  out.line(`Parked work of processes: ${count(parked)}${parked > 0 ? ', see `dead-letters`' : ''}.`);
  if (deliveriesFrom !== undefined) out.line(`Webhooks are sent for events after position ${deliveriesFrom}.`);
  if (skipped.length > 0) out.line(`Read models pass over ${counted(skipped.length, 'event')}: ${skipped.join(', ')}.`);
}

/** A table with its headings, unless it is empty. */
function section(out: Output, rows: readonly string[][], right: readonly number[]): void {
  if (rows.length === 1) return;
  out.line();
  out.table(rows, right);
}

/** A line per group of shards and owner. */
function held(leases: Status['leases']): string[][] {
  const groups = new Map<string, { name: string; owner: string; count: number; heartbeatSeconds: number }>();
  for (const { name, owner = 'nobody', heartbeatSeconds } of leases) {
    const group = name.replace(/\/\d+$/, '');
    const one = groups.get(`${group} ${owner}`) ?? { name: group, owner, count: 0, heartbeatSeconds };
    groups.set(`${group} ${owner}`, one);
    one.count += 1;
    one.heartbeatSeconds = Math.max(one.heartbeatSeconds, heartbeatSeconds);
  }
  return [...groups.values()].map((one) => [
    one.name,
    String(one.count),
    one.owner,
    one.owner === 'nobody' ? '-' : duration(one.heartbeatSeconds),
  ]);
}

function row(one: Follower): string[] {
  return [
    one.name,
    one.kind,
    count(one.position),
    `${count(one.lagEvents)}${one.isMore ? '+' : ''}`,
    one.lagEvents > 0 ? duration(one.lagSeconds) : '-',
    `${count(one.rate)}/s`,
    one.owner ?? '-',
    one.heartbeatSeconds === undefined ? '-' : duration(one.heartbeatSeconds),
    one.lastError ?? '',
  ];
}
