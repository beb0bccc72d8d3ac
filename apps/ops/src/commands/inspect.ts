import type { Command } from 'commander';
import type { Engine } from '../../../shared/engine.ts';
import { type CommonOptions, FINE, nonEmpty, type Perform, wholeNumber } from '../command.ts';
import { streamsOf, told } from '../inspect.ts';
import { amount, type Output } from '../output.ts';
import { recordReveal, whoami } from '../reveal.ts';
import { type Inspection, inspectAll, subjectOf } from '../surroundings.ts';
import type { Trail } from '../trail.ts';

interface Options extends CommonOptions {
  reveal?: true;
  by?: string;
  trails: number;
}

/** `inspect <id>`. */
export function addInspect(program: Command, perform: Perform): void {
  program
    .command('inspect')
    .description(
      'A resource: its events with the state before and after each, claims, timers, deliveries, and what followed.',
    )
    .argument('<id>', 'a public id (Customer:…), a bare uuid, or the name of a stream')
    .option('--reveal', 'show personal data and secrets, which is recorded in the log first')
    .option('--by <name>', 'who asks, for the record; the user of this machine when absent', nonEmpty)
    .option('--trails <number>', 'of how many requests to follow what they caused, the newest ones', wholeNumber(), 20)
    .action((id: string, options: Options) =>
      perform.onEngine(options, async (engine, out) => {
        const streams = await streamsOf(engine, id);
        if (streams.length === 0) throw new Error(`Nothing is recorded about ${id}.`);
        const reveal = options.reveal === true;
        if (reveal) await record(engine, id, streams, options.by);
        const found = await inspectAll(engine, id, { reveal, trails: options.trails });
        out.result(found);
        tell(found, out);
        return FINE;
      }),
    );
}

async function record(engine: Engine, subject: string, streams: readonly string[], by = whoami()): Promise<void> {
  const customerId = streams.map(subjectOf).find((one) => one !== undefined);
  const upTo = await engine.store.head();
  await recordReveal(engine, { by, command: 'inspect', subject, ...(customerId && { customerId }), upTo });
}

function tell({ streams, claims, timers, deliveries, trails }: Inspection, out: Output): void {
  for (const stream of streams) for (const line of [...told(stream), '']) out.line(line);
  for (const { stream, rule, status, owner, isOwn } of claims) {
    const whose = isOwn ? 'its own' : `of ${owner}`;
    out.line(`claim   ${rule} ${status}${status === 'HELD' ? `, ${whose}` : ''}   ${stream}`);
  }
  for (const { stream, process, dueAt } of timers) out.line(`timer   ${process} wakes ${stream} at ${dueAt}`);
  for (const one of deliveries) {
    const next = one.nextAttemptAt ? `, next attempt ${one.nextAttemptAt}` : '';
    out.line(`webhook ${one.type} ${one.status}, ${one.attemptCount} attempts${next}   ${one.id}`);
  }
  for (const trail of trails) tellTrail(trail, out);
}

function tellTrail({ correlationId, commands }: Trail, out: Output): void {
  out.line();
  out.line(`what followed from ${correlationId}`);
  for (const { commandId, actor, at, events } of commands) {
    out.line(`  command ${commandId} by ${actor}   ${at}`);
    for (const { position, stream, type, entries, webhooks } of events) {
      out.line(`    event   ${type}   position ${position}   ${stream}`);
      for (const { from, to, currency, amountMinor } of entries)
        out.line(`      entry   ${amount(amountMinor, currency)}   ${from} → ${to}`);
      for (const one of webhooks) out.line(`      webhook ${one.type} ${one.status}   ${one.id}`);
    }
  }
}
