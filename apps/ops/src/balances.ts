import { InvalidArgumentError } from 'commander';
import { type AccountState, account, availableMinor } from '../../../libs/domain/accounts/account.ts';
import { recordedAt } from '../../../libs/kernel/clock.ts';
import { evolved } from '../../../libs/kernel/decider.ts';
import { isUuid, parsePublicId, publicId } from '../../../libs/kernel/ids.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import { currencyCodes, isCurrency } from '../../../libs/kernel/money.ts';
import { journal, movements } from '../../../projections/journal.ts';
import type { Engine } from '../../shared/engine.ts';
import { isUpTo, type Moment } from './moment.ts';
import type { Output } from './output.ts';
import { replay } from './replay.ts';

/** An account as operators name it: an internal account, or a system account such as `transit:USD`. */
export type AccountName = { uuid: string } | { system: string };

/** What an account held at a moment, made from the log alone. Smallest units. */
export interface Balance {
  account: string;
  currency: string;
  /** Whose it is: the customer, or the platform itself. */
  holder?: string;
  status?: string;
  postedMinor: bigint;
  /** Reserved by payments under way; 0 for system accounts. */
  pendingMinor: bigint;
  availableMinor: bigint;
  /** The last event that changed it, as of the moment; 0 when there is none. */
  position: number;
  /** When that was stored, by the clock that moments go by. */
  at: string | undefined;
}

/** The accounts that are no streams, one per currency each: docs/why/system-accounts.md. */
export const systemAccounts = ['mint', 'rail', 'clearing', 'transit', 'fx', 'fees', 'suspense', 'receivable'] as const;

/** Reads `InternalAccount:<uuid>`, a bare uuid, the name of a stream, or a system account that there can be. */
export function accountName(text: string): AccountName {
  const uuid = parsePublicId('InternalAccount', text) ?? text.replace(/^account[-:]/, '').toLowerCase();
  if (isUuid(uuid)) return { uuid };
  const [kind, code, ...more] = text.split(':');
  if (!systemAccounts.some((one) => one === kind) || code === undefined || more.length > 0)
    throw new InvalidArgumentError(
      `It must be InternalAccount:<uuid>, or a system account such as transit:USD: ${systemAccounts.join(', ')}.`,
    );
  if (isCurrency(code)) return { system: text };
  throw new InvalidArgumentError(`There is no currency ${code}. There are: ${currencyCodes().join(', ')}.`);
}

/** As it is shown. */
export const shownAccount = (name: AccountName): string =>
  'uuid' in name ? publicId('InternalAccount', name.uuid) : name.system;

/** The events of an internal account, decoded. Throws when there is no such account. */
export async function accountEvents({ store, codec }: Engine, uuid: string): Promise<RecordedEvent[]> {
  const stored = await store.readStream(`${account.name}-${uuid}`, -1);
  if (stored.length === 0) throw new Error(`There is no internal account ${publicId('InternalAccount', uuid)}.`);
  return codec.decode(stored);
}

/** Every event that moves money, batch by batch, from the log. */
export async function* moneyEvents(engine: Engine, out?: Pick<Output, 'progress'>, types = journal.handles) {
  for await (const batch of replay(engine, { types, ...(out && { out }) })) yield await engine.codec.decode(batch);
}

/** The balance of an account as of a moment; now when there is none. */
export async function balance(engine: Engine, name: AccountName, until?: Moment, out?: Output): Promise<Balance> {
  if ('system' in name) return systemBalance(engine, name.system, until, out);
  let state: AccountState = account.initial;
  let last: RecordedEvent | undefined;
  for (const event of await accountEvents(engine, name.uuid)) {
    if (!isUpTo(until, event)) continue;
    state = evolved(account, state, event as never);
    last = event;
  }
  if (!last) throw new Error('The account was not open yet.');
  return {
    account: shownAccount(name),
    currency: state.currency,
    holder: state.customerId === undefined ? 'platform' : publicId('Customer', state.customerId),
    status: state.status,
    postedMinor: state.postedMinor,
    pendingMinor: state.pendingMinor,
    availableMinor: availableMinor(state),
    position: last.position,
    at: recordedAt(last),
  };
}

async function systemBalance(
  engine: Engine,
  name: string,
  until: Moment | undefined,
  out: Output | undefined,
): Promise<Balance> {
  let postedMinor = 0n;
  let last: RecordedEvent | undefined;
  for await (const batch of moneyEvents(engine, out)) {
    for (const event of batch) {
      if (!isUpTo(until, event)) continue;
      for (const { from, to, amountMinor } of movements(event)) {
        if (from !== name && to !== name) continue;
        postedMinor += to === name ? amountMinor : -amountMinor;
        last = event;
      }
    }
  }
  const currency = name.slice(name.indexOf(':') + 1);
  const at = { position: last?.position ?? 0, at: last && recordedAt(last) };
  return { account: name, currency, postedMinor, pendingMinor: 0n, availableMinor: postedMinor, ...at };
}
