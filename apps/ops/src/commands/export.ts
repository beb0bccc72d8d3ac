import path from 'node:path';
import type { Command } from 'commander';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Engine } from '../../../shared/engine.ts';
import { alone } from '../alone.ts';
import { type CommonOptions, FINE, nonEmpty, type Perform } from '../command.ts';
import { whileProjecting } from '../connection.ts';
import { severalEventTypes } from '../event-types.ts';
import { type ExportOptions, exportLog, fileSink } from '../export.ts';
import { type ImportOptions, importLog } from '../import.ts';
import { exportKeys, importKeys } from '../keys.ts';
import { type Moment, moment, requireSpan } from '../moment.ts';
import { count, counted, type Output } from '../output.ts';
import { whoami } from '../reveal.ts';

interface Options extends CommonOptions {
  from?: Moment;
  to?: Moment;
  type?: string[];
  customer?: string;
  reveal?: true;
  by?: string;
  output?: string;
}

/** `export`, `import`, `keys export`, `keys import`. */
export function addExportCommands(program: Command, perform: Perform): void {
  addExport(program, perform);
  addImport(program, perform);
  addKeys(program, perform);
}

function addExport(program: Command, perform: Perform): void {
  program
    .command('export')
    .description('Writes the log as NDJSON, in its order and byte by byte. Personal data stays encrypted.')
    .option('--from <moment>', 'from a position, a date or a time on', moment('first'))
    .option('--to <moment>', 'up to a position, a date (its end, UTC) or a time', moment('last'))
    .option('--type <types>', 'only events of these types', severalEventTypes)
    .option('--customer <id>', 'only what concerns a customer: Customer:<uuid>')
    .option('--reveal', 'personal data in clear beside it, which is recorded in the log first')
    .option('--by <name>', 'who asks, for the record; the user of this machine when absent', nonEmpty)
    .option('--output <file>', 'into a file, which an interrupted export goes on with when it is run again', nonEmpty)
    .action((options: Options, command: Command) => {
      const { customer } = options;
      const customerId = customer === undefined ? undefined : parsePublicId('Customer', customer);
      if (customer !== undefined && !customerId) command.error('error: --customer must be Customer:<uuid>');
      const asked: ExportOptions = {
        ...(options.from && { from: options.from }),
        ...(options.to && { to: options.to }),
        ...(options.type && { types: options.type }),
        ...(customerId && { customerId }),
        ...(options.reveal && { reveal: { by: options.by ?? whoami() } }),
      };
      return perform.onEngine(options, async (engine, out) => {
        await requireSpan(engine.store, options);
        if (options.output !== undefined) await exportInto(options.output, engine, asked, out);
        else await exportLog(engine, asked, { write: (line) => out.stream(line) }, out);
        return FINE;
      });
    });
}

/** Alone with the file: two at once would both write into it, and one would call it whole. */
function exportInto(file: string, engine: Engine, asked: ExportOptions, out: Output): Promise<void> {
  return alone(engine, `export ${path.resolve(file)}`, `Another export into ${file} is under way.`, async () => {
    const sink = await fileSink(file);
    const end = await exportLog(engine, asked, sink, out).finally(() => sink.close());
    sink.finish();
    out.progressDone();
    out.result({ file, ...end });
    out.line(`${counted(end.events, 'event')} in ${file}, sha256 ${end.sha256}`);
  });
}

function addImport(program: Command, perform: Perform): void {
  program
    .command('import')
    .description('Brings a whole export into an empty event store. No webhook is sent for it again.')
    .argument('<file>', 'the file of an export; - for the standard input')
    .option('--resume', 'go on with an import that was interrupted')
    .option('--renumber', 'into PostgreSQL, from a store whose positions have gaps: events get new ones')
    .option('--without-keys', 'without the keys of personal data, which cannot be read then')
    .action((file: string, options: CommonOptions & ImportOptions) =>
      perform.alone(options, (out, { connect, stdin }) =>
        connect(
          async (engine) => {
            const source = file === '-' ? stdin : file;
            const done = await alone(engine, 'import', 'Another import is under way on this database.', () =>
              importLog(engine, source, options, out),
            );
            await whileProjecting(engine, async () => {}, out);
            out.progressDone();
            out.result(done);
            const before = done.resumed > 0 ? `, ${count(done.resumed)} of them were there` : '';
            out.line(
              `${counted(done.events, 'event')} in ${done.seconds.toFixed(1)} s${before}; the log ends at ${done.head}`,
            );
            return FINE;
          },
          out,
          'existing or new',
        ),
      ),
    );
}

function addKeys(program: Command, perform: Perform): void {
  const group = program.command('keys').description('The keys of personal data, wrapped by the master key.');
  group
    .command('export')
    .description('Writes the wrapped keys as NDJSON. Keep it apart from the log: with the master key it opens it.')
    .action((options: CommonOptions) =>
      perform.onEngine(options, async (engine, out) => {
        await exportKeys(engine, out);
        return FINE;
      }),
    );
  group
    .command('import')
    .description('Brings wrapped keys in. Both deployments must have the same master key.')
    .argument('<file>', 'the file of `keys export`; - for the standard input')
    .action((file: string, options: CommonOptions) =>
      perform.alone(options, (out, { connect, stdin }) =>
        connect(
          async (engine) => {
            const keys = await importKeys(engine, file === '-' ? stdin : file);
            out.result({ keys });
            out.line(counted(keys, 'key'));
            return FINE;
          },
          out,
          'existing or new',
        ),
      ),
    );
}
