import { isDelivered, nextAttemptDelayMs, RETRY_FOR_MS } from '../../../libs/domain/webhooks/backoff.ts';
import { webhookEventType, webhookEventTypes } from '../../../libs/domain/webhooks/event-types.ts';
import type { SendResult } from '../../../libs/runtime/webhooks/sender.ts';
import type { Outcome } from './delivery-table.ts';
import type { Delivery } from './lane.ts';

/** How long to wait after the schedule's failure of that number (the first is 1). */
export type DelayMs = (failure: number) => number | 'GIVE_UP';

export const standardDelayMs: DelayMs = (failure) => nextAttemptDelayMs(failure, Math.random());

const sentOnce = new Set(webhookEventTypes.filter(({ isRetried }) => !isRetried).map(({ type }) => type));

const approvalQuestion = webhookEventType('INCOMING_PAYMENT.PENDING').type;

/** What an attempt means for its delivery: delivered, to be tried again and when, or given up. */
export function outcomeOf(delivery: Delivery, result: SendResult, nowMs: number, delayMs: DelayMs): Outcome {
  const attempt =
    result.outcome === 'answered'
      ? { httpStatus: result.status, ...(isKept(delivery, result.status) && { responseText: result.bodyText }) }
      : { error: `${result.reason}: ${result.message}` };
  const common = { delivery, attemptedMs: nowMs, durationMs: result.durationMs, ...attempt };
  if (result.outcome === 'answered' && isDelivered(result.status)) return { ...common, status: 'DELIVERED' };
  const delay = sentOnce.has(delivery.type) ? 'GIVE_UP' : delayMs(delivery.failures + 1);
  if (delay === 'GIVE_UP' || isOver(delivery, nowMs + delay)) return { ...common, status: 'FAILED' };
  return { ...common, status: 'PENDING', nextAttemptMs: nowMs + delay };
}

/** An approval may tell of a person: nothing is kept of it, also where the question is only sent again. */
const isKept = ({ type }: Delivery, status: number): boolean => type !== approvalQuestion || status !== 200;

/** Why a delivery must not be sent at all; undefined when it may. */
export function givenUp(delivery: Delivery, nowMs: number): Outcome | undefined {
  const error =
    delivery.body === ''
      ? 'ERASED: The payload was erased.'
      : isOver(delivery, nowMs)
        ? 'EXPIRED: The platform had no endpoint for too long.'
        : undefined;
  return error === undefined ? undefined : { delivery, status: 'FAILED', attemptedMs: nowMs, durationMs: 0, error };
}

const isOver = ({ startedMs }: Delivery, atMs: number): boolean => atMs > startedMs + RETRY_FOR_MS;
