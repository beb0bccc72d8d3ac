import type { AccountEvent, AccountOpenedData, Leg } from '../../../libs/domain/accounts/account.events.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import { movements } from '../../../projections/journal.ts';

/** What the ledger holds of an internal account, by the movements of money alone. */
export interface AccountBalance {
  currency: string;
  postedMinor: bigint;
  pendingMinor: bigint;
}

/** A fault in the ledger, at a position of the log. */
export interface LedgerFault {
  account: string;
  position: number;
  message: string;
}

/** A system account that must never owe: `transit:USD`. */
const neverNegative = /^(transit|suspense):/;

/**
 * The ledger as an auditor adds it up: from the movements of the events, not from the states that the platform folds, so that the two
 * can be held against each other.
 */
export class Ledger {
  /** By account id. */
  readonly accounts = new Map<string, AccountBalance>();
  /** By name, which ends in the currency: `rail:USD`. */
  readonly system = new Map<string, bigint>();
  /** What is in transit, by payment and currency: `<payment> <currency>`. */
  readonly inTransit = new Map<string, bigint>();
  /** What payments under way have reserved: `<account> <payment>`. */
  private readonly reserved = new Map<string, bigint>();
  private readonly found: (fault: LedgerFault) => void;

  constructor(found: (fault: LedgerFault) => void) {
    this.found = found;
  }

  take(event: RecordedEvent): void {
    this.reserve(event as RecordedEvent<AccountEvent>);
    const moved = movements(event);
    const { paymentId } = event.data as { paymentId?: string };
    for (const { from, to, currency, amountMinor } of moved) {
      if (amountMinor <= 0n) this.fault(event, from, `moves ${amountMinor}`);
      this.move(event, from, currency, -amountMinor);
      this.move(event, to, currency, amountMinor);
      for (const [account, change] of [
        [from, -amountMinor],
        [to, amountMinor],
      ] as const) {
        if (account.startsWith('transit:')) this.carry(`${paymentId} ${currency}`, change);
      }
    }
    for (const { from } of moved) this.checkNotNegative(event, from);
    if (event.type === 'FundsPended') this.checkNotNegative(event, `account:${(event.data as Leg).accountId}`);
  }

  /** The sum over all accounts, per currency: zero unless money was invented or lost. */
  totals(): Map<string, bigint> {
    const totals = new Map<string, bigint>();
    const add = (currency: string, minor: bigint) => totals.set(currency, (totals.get(currency) ?? 0n) + minor);
    for (const { currency, postedMinor } of this.accounts.values()) add(currency, postedMinor);
    for (const [name, minor] of this.system) add(name.slice(name.indexOf(':') + 1), minor);
    return totals;
  }

  private reserve(event: RecordedEvent<AccountEvent>): void {
    if (event.type === 'AccountOpened') {
      const { accountId, currency } = event.data as AccountOpenedData;
      this.accounts.set(accountId, { currency, postedMinor: 0n, pendingMinor: 0n });
    }
    if (event.type !== 'FundsPended' && event.type !== 'FundsPosted' && event.type !== 'FundsVoided') return;
    const { accountId, paymentId, amountMinor } = event.data as Leg;
    const account = this.accounts.get(accountId);
    if (!account) return;
    const key = `${accountId} ${paymentId}`;
    if (event.type === 'FundsPended') {
      account.pendingMinor += amountMinor;
      this.reserved.set(key, amountMinor);
      return;
    }
    const held = this.reserved.get(key) ?? 0n;
    if (held !== amountMinor)
      this.fault(event, `account:${accountId}`, `${event.type} of ${amountMinor}, held ${held}`);
    account.pendingMinor -= amountMinor;
    this.reserved.delete(key);
  }

  private move(event: RecordedEvent, name: string, currency: string, minor: bigint): void {
    if (!name.startsWith('account:')) {
      if (!name.endsWith(`:${currency}`)) this.fault(event, name, `moves ${currency}`);
      this.system.set(name, (this.system.get(name) ?? 0n) + minor);
      return;
    }
    const account = this.accounts.get(name.slice('account:'.length));
    if (!account) {
      this.fault(event, name, 'was never opened');
      return;
    }
    if (account.currency !== currency) this.fault(event, name, `holds ${account.currency}, moves ${currency}`);
    account.postedMinor += minor;
  }

  private carry(key: string, change: bigint): void {
    const net = (this.inTransit.get(key) ?? 0n) + change;
    if (net === 0n) this.inTransit.delete(key);
    else this.inTransit.set(key, net);
  }

  private checkNotNegative(event: RecordedEvent, name: string): void {
    if (name.startsWith('account:')) {
      const account = this.accounts.get(name.slice('account:'.length));
      if (account && account.postedMinor < account.pendingMinor) {
        this.fault(event, name, `holds ${account.postedMinor}, of which ${account.pendingMinor} are reserved`);
      }
    } else if (neverNegative.test(name) && (this.system.get(name) ?? 0n) < 0n) {
      this.fault(event, name, `holds ${this.system.get(name)}`);
    }
  }

  private fault({ position }: Pick<RecordedEvent, 'position'>, account: string, message: string): void {
    this.found({ account, position, message });
  }
}
