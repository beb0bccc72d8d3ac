import type { Command } from 'commander';
import { type AccountName, accountName, balance } from '../balances.ts';
import { type CommonOptions, FINE, type Perform, WRONG } from '../command.ts';
import { type Moment, moment, requirePast, requireSpan, shownMoment } from '../moment.ts';
import { amount, counted, type Output } from '../output.ts';
import { type Statement, statement } from '../statement.ts';
import { type TrialBalance, trialBalance, trialBalanceAt } from '../trial-balance.ts';

const ACCOUNT = 'InternalAccount:<uuid>, or a system account such as transit:USD';
const AT = 'as of a position of the log, a date (its end, UTC) or a time';

/** `balance`, `trial-balance`, `statement`: replayed from the log, as of any point in the past. */
export function addAuditCommands(program: Command, perform: Perform): void {
  program
    .command('balance')
    .description('What an account held, made from the log alone.')
    .argument('<account>', ACCOUNT, accountName)
    .option('--at <moment>', AT, moment('last'))
    .action((name: AccountName, options: CommonOptions & { at?: Moment }) =>
      perform.onEngine(options, async (engine, out) => {
        await requirePast(engine.store, options.at);
        const found = await balance(engine, name, options.at, out);
        out.result(found);
        const { currency, position, at, holder, status } = found;
        out.table([
          ['Account', found.account],
          ...(holder ? [['Holder', holder]] : []),
          ...(status ? [['Status', status]] : []),
          ['Posted', amount(found.postedMinor, currency)],
          ['Pending', amount(found.pendingMinor, currency)],
          ['Available', amount(found.availableMinor, currency)],
          ['As of', options.at ? shownMoment(options.at) : 'now'],
          ['Last event', at === undefined ? 'none' : `position ${position}, ${at}`],
        ]);
        return FINE;
      }),
    );
  addTrialBalance(program, perform);
  program
    .command('statement')
    .description('Every movement on an account, with the balance after each, made from the log alone.')
    .argument('<account>', ACCOUNT, accountName)
    .option('--from <moment>', 'from a position, a date or a time on', moment('first'))
    .option('--to <moment>', 'up to a position, a date (its end, UTC) or a time', moment('last'))
    .action((name: AccountName, options: CommonOptions & { from?: Moment; to?: Moment }) =>
      perform.onEngine(options, async (engine, out) => {
        const { from, to } = options;
        await requireSpan(engine.store, options);
        const made = await statement(engine, name, { out, ...(from && { from }), ...(to && { to }) });
        out.result(made);
        tellStatement(made, out);
        return FINE;
      }),
    );
}

function addTrialBalance(program: Command, perform: Perform): void {
  program
    .command('trial-balance')
    .description(
      'What every account received and gave, per currency. It sums up to zero. Exit code 1 when it does not.',
    )
    .option('--at <moment>', AT, moment('last'))
    .option('--journal', 'from the journal, which is quicker, instead of from the log')
    .action((options: CommonOptions & { at?: Moment; journal?: true }, command: Command) => {
      if (options.journal && options.at) command.error('error: the journal stands where it stands: no --at with it');
      return perform.onEngine(options, async (engine, out) => {
        await requirePast(engine.store, options.at);
        const found = options.journal ? await trialBalance(engine) : await trialBalanceAt(engine, options.at, out);
        out.progressDone();
        const isBalanced = Object.values(found.totals).every((total) => total === 0n);
        out.result({ ...found, isBalanced });
        tellTrialBalance(found, isBalanced, out);
        return isBalanced ? FINE : WRONG;
      });
    });
}

function tellTrialBalance({ lines, totals, position }: TrialBalance, isBalanced: boolean, out: Output): void {
  const rows = lines.map(({ account, currency, inMinor, outMinor, balanceMinor }) => [
    account,
    amount(inMinor, currency),
    amount(outMinor, currency),
    amount(balanceMinor, currency),
  ]);
  const sums = Object.entries(totals).map(([currency, total]) => ['total', '', '', amount(total, currency)]);
  out.table([['ACCOUNT', 'IN', 'OUT', 'BALANCE'], ...rows, ...sums], [1, 2, 3]);
  out.line(isBalanced ? `Balanced, up to event ${position}.` : 'NOT BALANCED.');
}

function tellStatement(made: Statement, out: Output): void {
  const { account, currency, lines, openingMinor, closingMinor, pendingMinor } = made;
  const money = (minor: bigint) => amount(minor, currency);
  out.line(`${account}, ${counted(lines.length, 'movement')}`);
  out.table(
    [
      ['AT', 'POSITION', 'EVENT', 'AMOUNT', 'RESERVED', 'BALANCE', 'COUNTERPART', 'TRANSACTION'],
      ['', '', 'opening', '', '', money(openingMinor)],
      ...lines.map((line) => [
        line.at,
        String(line.position),
        line.event,
        line.postedMinor === 0n ? '' : money(line.postedMinor),
        line.pendingMinor === 0n ? '' : money(line.pendingMinor),
        money(line.balanceMinor),
        line.counterpart,
        line.transaction,
      ]),
      ['', '', 'closing', '', money(pendingMinor), money(closingMinor)],
    ],
    [1, 3, 4, 5],
  );
}
