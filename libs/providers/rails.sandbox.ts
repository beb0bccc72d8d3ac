import { type Clock, timestamp } from '../kernel/clock.ts';
import type { RailOrder, RailOrderAnswer, Rails } from './rails.port.ts';

const SECOND = 1_000;

/** What happens to an order: how long it is pending, and what follows. */
interface Script {
  pendingMs?: number;
  ends: 'SETTLED' | 'CANCELLED' | 'RETURNED' | Extract<RailOrderAnswer, { outcome: 'REJECTED' }>['failureReason'];
  isRefundRefused?: true;
}

/** Quote outcome by the suffix of the destination (spec, Sandbox behavior; facts §16). */
const payouts: Readonly<Record<string, Script>> = {
  '002': { ends: 'QUOTE_EXECUTION_FAILED' },
  '003': { pendingMs: 360 * SECOND, ends: 'SETTLED' },
  '004': { ends: 'COUNTERPARTY_POST_TX_FAILED' },
  '005': { ends: 'RETURNED' },
  '006': { ends: 'CANCELLED' },
  '007': { ends: 'COUNTERPARTY_POST_TX_FAILED', isRefundRefused: true },
};

/** Outcome of a pull by the suffix of its source (spec, Sandbox behavior). */
const collections: Readonly<Record<string, Script>> = {
  '002': { ends: 'COLLECTION_FAILED' },
  '003': { ends: 'COLLECTION_FAILED' },
  '004': { ends: 'COLLECTION_FAILED' },
  '005': { pendingMs: 30 * SECOND, ends: 'COLLECTION_FAILED' },
};

/** Outcome of a payout that a deprecated transfer ordered, by the suffix of its destination (spec, Sandbox behavior; decision 24). */
const transfers: Readonly<Record<string, Script>> = {
  '002': { ends: 'QUOTE_EXECUTION_FAILED' },
  '003': { ends: 'ACCOUNT_INVALID' },
  '004': { ends: 'ACCOUNT_CANNOT_RECEIVE' },
  '005': { pendingMs: 30 * SECOND, ends: 'COUNTERPARTY_POST_TX_FAILED' },
};

const success: Script = { ends: 'SETTLED' };

/** Rails that move no money: the outcome follows from the suffix and the time alone, so that asking again tells the same story. */
export function sandboxRails(clock: Clock, timeScale: number): Rails {
  const script = ({ direction, suffix, isTransfer }: Pick<RailOrder, 'direction' | 'suffix' | 'isTransfer'>) =>
    (direction === 'COLLECTION' ? collections : isTransfer ? transfers : payouts)[suffix] ?? success;
  const readyAtMs = (order: RailOrder) => Date.parse(order.orderedAt) + (script(order).pendingMs ?? 0) * timeScale;
  return {
    async carryOut(order) {
      const { ends } = script(order);
      const readyAt = readyAtMs(order);
      const nowMs = clock.nowMs(order.tenant);
      if (nowMs < readyAt) return { outcome: 'PENDING', checkAt: timestamp(readyAt) };
      switch (ends) {
        case 'SETTLED':
        case 'CANCELLED':
          return { outcome: ends };
        case 'RETURNED':
          return order.isSettled ? { outcome: 'RETURNED' } : { outcome: 'SETTLED', watchUntil: timestamp(nowMs) };
        default:
          return { outcome: 'REJECTED', failureReason: ends };
      }
    },
    async refund(order) {
      return !script({ ...order, direction: 'PAYOUT' }).isRefundRefused;
    },
    async cancel(order) {
      return Date.parse(order.requestedAt) < readyAtMs(order);
    },
  };
}
