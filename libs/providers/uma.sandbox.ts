import { type Clock, timestamp } from '../kernel/clock.ts';
import { type ErrorCode, type ErrorDetails, reject } from '../kernel/errors.ts';
import type { Uma, UmaOrder } from './uma.port.ts';
import { errors, providers, receivers, SANDBOX_UMA_DOMAIN, senders, vasps } from './uma.sandbox.table.ts';

/** A sandbox receiver takes between one smallest unit and 1,000,000.00 of its currency. */
const MAX_MINOR = 100_000_000n;
/** What those take that refuse at the agreement. */
const REFUSING_TAKES = 'USD';

const found = <V>(table: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** The local part of an address at the sandbox's domain, `$` included; undefined elsewhere. */
function localPart(address: string): string | undefined {
  const [name, domain] = address.split('@');
  return domain === SANDBOX_UMA_DOMAIN ? name : undefined;
}

function refusalOf(address: string, stage: 'LOOKUP' | 'AGREEMENT'): void {
  const [code, at] = found<readonly [ErrorCode, string]>(errors, localPart(address) ?? '') ?? [];
  if (code && at === stage) throw reject(code, detailsOf(code));
}

/** `QUOTE_REQUEST_FAILED` is the one that may be tried again (spec, Errors). */
const detailsOf = (code: ErrorCode): ErrorDetails => ({
  provider: SANDBOX_UMA_DOMAIN,
  ...(code === 'QUOTE_REQUEST_FAILED' && { retryable: true }),
});

/**
 * UMA without a network: receivers, senders and errors are the literal tables of uma.sandbox.table.ts. What comes of an order follows
 * from the local part and the time alone, so that asking again tells the same story.
 */
export function sandboxUma(clock: Clock, timeScale: number): Uma {
  const readyAt = ({ orderedAt }: UmaOrder, pendingMs = 0) => Date.parse(orderedAt) + pendingMs * timeScale;
  return {
    async lookUp(receiver) {
      refusalOf(receiver, 'LOOKUP');
      const name = localPart(receiver) ?? '';
      const known = found(receivers, name);
      if (!known && !found(errors, name)) throw reject('UMA_NOT_FOUND');
      const code = known?.currency ?? REFUSING_TAKES;
      return {
        currencies: [{ code, minMinor: 1n, maxMinor: MAX_MINOR }],
        requiredPayerFields: known?.requiredPayerFields ?? [],
      };
    },
    async agree({ receiver }) {
      refusalOf(receiver, 'AGREEMENT');
      return localPart(receiver)!;
    },
    async pay(order) {
      const { pendingMs, fails } = found(receivers, order.agreement) ?? {};
      const at = readyAt(order, pendingMs);
      if (clock.nowMs(order.tenant) < at) return { outcome: 'PENDING', checkAt: timestamp(at) };
      return fails ? { outcome: 'REJECTED', failureReason: fails } : { outcome: 'SETTLED' };
    },
    announcedBy(sender) {
      const name = localPart(sender) ?? '';
      return found(senders, name) ? name : '';
    },
    async collect(order) {
      const { pendingMs, fails } = found(senders, order.agreement) ?? {};
      const at = readyAt(order, pendingMs);
      if (clock.nowMs(order.tenant) < at) return { outcome: 'PENDING', checkAt: timestamp(at) };
      return fails ? { outcome: 'REJECTED', failureReason: fails } : { outcome: 'SETTLED' };
    },
    async giveBack({ agreement }) {
      return !(found(senders, agreement) ?? found(receivers, agreement))?.isRefundRefused;
    },
    providers: async () => providers,
    vasps: async () => vasps,
  };
}
