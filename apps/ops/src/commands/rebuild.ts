import type { Command } from 'commander';
import { projections } from '../../../../projections/index.ts';
import { dropFormerTables } from '../../../projector/src/prepare.ts';
import { type Rebuilt, rebuild } from '../../../projector/src/rebuild.ts';
import { type CommonOptions, FINE, type Perform, wholeNumber } from '../command.ts';
import { count, counted, howFar, type Output, shownValue } from '../output.ts';
import { requireSkipped, requireStuck } from '../skips.ts';

interface Options extends CommonOptions {
  all?: true;
  atOnce?: number;
  skip?: number[];
  unskip?: number[];
  ahead?: true;
}

const positions = (text: string, before: readonly number[] = []): number[] => [
  ...before,
  ...text.split(',').map(wholeNumber(1)),
];

/** `rebuild <projection…|--all>`. */
export function addRebuild(program: Command, perform: Perform): void {
  program
    .command('rebuild')
    .description(
      'Builds read models anew from the log and exchanges them for the live ones. Interrupted, it goes on next time.',
    )
    .argument('[projections...]', `of ${projections.map(({ name }) => name).join(', ')}`)
    .option('--all', 'every read model')
    .option('--at-once <number>', 'fill at most so many by one pass over the log, to save memory', wholeNumber(1))
    .option('--skip <positions>', 'pass over these events, which cannot be projected, from now on; recorded', positions)
    .option('--unskip <positions>', 'with --all: pass over these events no longer', positions)
    .option('--ahead', 'only fill the new tables; a later rebuild goes on from them and exchanges')
    .action((names: string[], options: Options, command: Command) => {
      const unknown = names.find((name) => !projections.some((projection) => projection.name === name));
      if (unknown !== undefined) command.error(`error: there is no read model ${unknown}`);
      if (names.length > 0 === (options.all === true)) command.error('error: name read models, or give --all');
      if (options.unskip && !options.all)
        command.error('error: --unskip needs --all: every read model lacks the event');
      const chosen = projections.filter(({ name }) => options.all || names.includes(name));
      return perform.onEngine(options, async (engine, out) => {
        const { skip = [], unskip = [] } = options;
        await requireStuck(engine, skip);
        await requireSkipped(engine, unskip);
        const done = await rebuild(engine, chosen, {
          skip,
          unskip,
          signal: out.signal,
          ...(options.atOnce && { atOnce: options.atOnce }),
          ...(options.ahead && { ahead: true }),
          progress: (at) => out.progress(() => howFar(at)),
        });
        if (options.all && !options.ahead) await dropFormerTables(engine.pool, projections);
        tell(done, out);
        return FINE;
      });
    });
}

/** Without what stands in the rows about people. */
function shown(done: Rebuilt) {
  const tables = done.tables.map(({ compared, ...table }) => {
    const differences = compared?.differences.map(({ id, field, live, rebuilt: made }) => {
      return { id, field, live: shownValue(field, live), rebuilt: shownValue(field, made) };
    });
    return { ...table, compared: compared && { ...compared, differences: differences! } };
  });
  return { ...done, tables };
}

function tell(rebuilt: Rebuilt, out: Output): void {
  const done = shown(rebuilt);
  out.progressDone();
  out.result(done);
  const rate = done.seconds > 0 ? count(done.events / done.seconds) : '0';
  out.line(`${counted(done.events, 'event')} in ${done.seconds.toFixed(1)} s (${rate}/s)`);
  for (const { name, rows, compared } of done.tables) {
    const differed = compared && compared.differing > 0 ? `${count(compared.differing)} differed` : 'as before';
    out.line(`  ${name}: ${counted(rows, 'row')}, ${compared === undefined ? 'new shape' : differed}`);
    for (const { id, field, live, rebuilt } of compared?.differences ?? []) {
      out.line(`    ${id}: ${field} was ${live}, is ${rebuilt}`);
    }
  }
}
