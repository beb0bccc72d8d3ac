import type { Command } from 'commander';
import { projections } from '../../../../projections/index.ts';
import { prepareReadTables } from '../../../projector/src/prepare.ts';
import { type CommonOptions, FINE, type Perform, WRONG, wholeNumber } from '../command.ts';
import { count, counted, howFar, type Output } from '../output.ts';
import { checks, type Verification, verify } from '../verify.ts';

/** `verify`. */
export function addVerify(program: Command, perform: Perform): void {
  program
    .command('verify')
    .description(
      'Replays the whole log and holds it against the ledger and every read model. Exit code 1 when it differs.',
    )
    .option('--show <number>', 'differences to show per check', wholeNumber(1), 10)
    .action((options: CommonOptions & { show: number }) =>
      perform.onEngine(options, async (engine, out) => {
        const { show } = options;
        await prepareReadTables(engine.pool, projections); // on a database that no platform has been started on
        const found = await verify(engine, projections, { show, progress: (at) => out.progress(() => howFar(at)) });
        out.progressDone();
        out.result(found);
        tell(found, out);
        return found.findings.length === 0 ? FINE : WRONG;
      }),
    );
}

function tell(found: Verification, out: Output): void {
  const { events, accounts, transactions, seconds } = found;
  const rate = seconds > 0 ? ` (${count(events / seconds)}/s)` : '';
  const what = [counted(events, 'event'), counted(accounts, 'account'), counted(transactions, 'transaction')];
  out.line(`${what.join(', ')}, ${seconds.toFixed(1)} s${rate}`);
  if (found.unprojected > 0)
    out.line(`${count(found.unprojected)} events were not projected yet: read models are checked without them`);
  if (found.skipped > 0) out.line(`Read models pass over ${counted(found.skipped, 'event')} by an operator's order.`);
  for (const check of checks) {
    const failures = found.failures[check];
    out.line(`${failures === 0 ? 'ok    ' : 'FAILED'}  ${check}${failures > 0 ? `: ${count(failures)}` : ''}`);
    for (const { subject, message } of found.findings.filter((finding) => finding.check === check)) {
      out.line(`        ${subject}: ${message}`);
    }
  }
}
