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

const success: Script = { ends: 'SETTLED' };

/** Rails that move no money: the outcome follows from the suffix and the time alone, so that asking again tells the same story. */
export function sandboxRails(clock: Clock, timeScale: number): Rails {
  const script = ({ direction, suffix }: Pick<RailOrder, 'direction' | 'suffix'>) =>
    (direction === 'PAYOUT' ? payouts : collections)[suffix] ?? success;
  return {
    async carryOut(order) {
      const { pendingMs = 0, ends } = script(order);
      const readyAt = Date.parse(order.orderedAt) + pendingMs * timeScale;
      if (clock.nowMs() < readyAt) return { outcome: 'PENDING', checkAt: timestamp(readyAt) };
      switch (ends) {
        case 'SETTLED':
        case 'CANCELLED':
          return { outcome: ends };
        case 'RETURNED':
          return order.isSettled
            ? { outcome: 'RETURNED' }
            : { outcome: 'SETTLED', watchUntil: timestamp(clock.nowMs()) };
        default:
          return { outcome: 'REJECTED', failureReason: ends };
      }
    },
    async refund({ suffix }) {
      return !script({ direction: 'PAYOUT', suffix }).isRefundRefused;
    },
  };
}
