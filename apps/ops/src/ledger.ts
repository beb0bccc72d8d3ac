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
  kind: 'ledger' | 'trial balance';
  /** An account, or a currency. */
  subject: string;
  position: number;
  message: string;
}

/** A system account that must never owe: `transit:USD`. */
const neverNegative = /^(transit|suspense):/;

/**
 * The ledger as an auditor adds it up: from the movements of the events, not from the states that the platform folds, so that the two
 * can be held against each other. After every event the sum over all accounts must be zero in every currency.
 */
export class Ledger {
  /** By account id. */
  readonly accounts = new Map<string, AccountBalance>();
  /** By name, which ends in the currency: `rail:USD`. */
  readonly system = new Map<string, bigint>();
  /** The sum over all accounts, per currency: zero unless money was invented or lost. */
  readonly totals = new Map<string, bigint>();
  /** What payments under way have reserved: `<account> <payment>`. */
  readonly reserved = new Map<string, bigint>();
  /** Accounts as they were before the first event that the read models do not show; undefined: not open. */
  private readonly shownAs = new Map<string, AccountBalance | undefined>();
  private readonly found: (fault: LedgerFault) => void;

  constructor(found: (fault: LedgerFault) => void) {
    this.found = found;
  }

  /** `isShown`: the read models have come to this event. */
  take(event: RecordedEvent, isShown = true): void {
    const moved = movements(event);
    if (!isShown) this.keepShown(event, moved);
    this.reserve(event as RecordedEvent<AccountEvent>);
    for (const { from, to, currency, amountMinor } of moved) {
      if (amountMinor <= 0n) this.fault(event, from, `moves ${amountMinor}`);
      this.move(event, from, currency, -amountMinor);
      this.move(event, to, currency, amountMinor);
    }
    for (const { currency } of moved) this.checkTotal(event, currency);
    for (const { from } of moved) this.checkNotNegative(event, from);
    if (event.type === 'FundsPended') this.checkNotNegative(event, `account:${(event.data as Leg).accountId}`);
  }

  /** An account as the read models must show it; undefined when they must not. */
  shown(accountId: string): AccountBalance | undefined {
    return this.shownAs.has(accountId) ? this.shownAs.get(accountId) : this.accounts.get(accountId);
  }

  private keepShown({ data }: RecordedEvent, moved: readonly { from: string; to: string }[]): void {
    const names = [`account:${(data as Partial<Leg>).accountId}`, ...moved.flatMap(({ from, to }) => [from, to])];
    for (const name of names) {
      const id = name.slice('account:'.length);
      if (!name.startsWith('account:') || this.shownAs.has(id)) continue;
      const now = this.accounts.get(id);
      this.shownAs.set(id, now && { ...now });
    }
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
      this.add(name.slice(name.indexOf(':') + 1), minor);
      return;
    }
    const account = this.accounts.get(name.slice('account:'.length));
    if (!account) {
      this.fault(event, name, 'was never opened');
      return;
    }
    if (account.currency !== currency) this.fault(event, name, `holds ${account.currency}, moves ${currency}`);
    account.postedMinor += minor;
    this.add(account.currency, minor);
  }

  private add(currency: string, minor: bigint): void {
    this.totals.set(currency, (this.totals.get(currency) ?? 0n) + minor);
  }

  /** Said once each time that a total changes to something else than zero. */
  private readonly saidTotals = new Map<string, bigint>();

  private checkTotal({ position }: RecordedEvent, currency: string): void {
    const total = this.totals.get(currency) ?? 0n;
    if (total === (this.saidTotals.get(currency) ?? 0n)) return;
    this.saidTotals.set(currency, total);
    if (total !== 0n)
      this.found({ kind: 'trial balance', subject: currency, position, message: `sums up to ${total}, not to 0` });
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

  private fault({ position }: Pick<RecordedEvent, 'position'>, subject: string, message: string): void {
    this.found({ kind: 'ledger', subject, position, message });
  }
}
