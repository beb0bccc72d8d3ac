import type { Leg } from '../../../libs/domain/accounts/account.events.ts';
import { recordedAt } from '../../../libs/kernel/clock.ts';
import { publicId } from '../../../libs/kernel/ids.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import { movements } from '../../../projections/journal.ts';
import type { Engine } from '../../shared/engine.ts';
import { type AccountName, accountEvents, moneyEvents, shownAccount } from './balances.ts';
import { isFrom, isUpTo, type Moment } from './moment.ts';
import type { Output } from './output.ts';

/** One movement on an account. Smallest units; what leaves is negative. */
export interface StatementLine {
  position: number;
  /** When it was stored, by the clock that moments go by. */
  at: string;
  event: string;
  /** Where it came from or went. */
  counterpart: string;
  /** `Transaction:<uuid>`. */
  transaction: string;
  postedMinor: bigint;
  /** What was reserved, or released when negative. */
  pendingMinor: bigint;
  /** Posted balance after it. */
  balanceMinor: bigint;
}

/** What happened on an account between two moments, made from the log alone. */
export interface Statement {
  account: string;
  currency: string;
  openingMinor: bigint;
  lines: StatementLine[];
  closingMinor: bigint;
  /** Reserved at the end. */
  pendingMinor: bigint;
}

/** The statement of an account; both moments belong to it. */
export async function statement(
  engine: Engine,
  name: AccountName,
  { from, to, out }: { from?: Moment; to?: Moment; out?: Output } = {},
): Promise<Statement> {
  const made: Statement = {
    account: shownAccount(name),
    currency: 'system' in name ? name.system.slice(name.system.indexOf(':') + 1) : '',
    openingMinor: 0n,
    lines: [],
    closingMinor: 0n,
    pendingMinor: 0n,
  };
  const lines: Omit<StatementLine, 'balanceMinor'>[] = [];
  for await (const batch of 'uuid' in name ? [await accountEvents(engine, name.uuid)] : moneyEvents(engine, out)) {
    for (const event of batch) {
      if (!isUpTo(to, event)) continue;
      if (event.type === 'AccountOpened') made.currency = (event.data as { currency: string }).currency;
      for (const line of linesOf(event, 'uuid' in name ? `account:${name.uuid}` : name.system)) {
        made.closingMinor += line.postedMinor;
        made.pendingMinor += line.pendingMinor;
        if (isFrom(from, event)) lines.push(line);
        else made.openingMinor += line.postedMinor;
      }
    }
  }
  if (made.currency === '') throw new Error('The account was not open yet.');
  let balanceMinor = made.openingMinor; // known now only: clocks of several machines differ, so an earlier time may come later
  for (const line of lines) {
    balanceMinor += line.postedMinor;
    made.lines.push({ ...line, balanceMinor });
  }
  return made;
}

/** What an event does to an account. A posting moves money and ends its reservation. */
function linesOf(event: RecordedEvent, name: string): Omit<StatementLine, 'balanceMinor'>[] {
  const { paymentId, amountMinor, counterpart } = event.data as Leg;
  const common = {
    position: event.position,
    at: recordedAt(event),
    event: event.type,
    transaction: publicId('Transaction', paymentId),
  };
  const isOwn = event.stream === name.replace(':', '-');
  const lines = movements(event)
    .filter(({ from, to }) => from === name || to === name)
    .map((entry) => ({
      ...common,
      counterpart: entry.to === name ? entry.from : entry.to,
      postedMinor: entry.to === name ? entry.amountMinor : -entry.amountMinor,
      pendingMinor: 0n,
    }));
  if (!isOwn) return lines;
  const reserved = event.type === 'FundsPended' ? amountMinor : -amountMinor;
  if (event.type === 'FundsPosted') return lines.map((line) => ({ ...line, pendingMinor: reserved }));
  if (event.type !== 'FundsPended' && event.type !== 'FundsVoided') return lines;
  return [{ ...common, counterpart, postedMinor: 0n, pendingMinor: reserved }];
}
