import type { Clock } from '../../../libs/kernel/clock.ts';
import { counter, gauge, histogram } from '../../../libs/runtime/http/metrics.ts';
import { createSender } from '../../../libs/runtime/webhooks/sender.ts';
import type { Engine } from '../../shared/engine.ts';
import { serviceKeys } from '../../shared/service-keys.ts';
import { webhookSecretsOf } from '../../shared/webhook-secrets.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';

/** What a dispatcher stands on: an engine, or as much of one as a thread of its own makes. */
export type DispatcherEngine = Pick<Engine, 'url' | 'store' | 'codec' | 'keyFor'> & { clock: Clock };

export type DispatcherConfig = Partial<DispatcherOptions> & {
  /** Whether webhooks may go to private and loopback addresses and over plain http. */
  allowPrivateTargets: boolean;
  log: DispatcherOptions['log'];
};

const IN_FLIGHT_PER_PLATFORM = 128;

/** The dispatcher of a deployment, not yet started. Where the process shows no metrics, pass `attempted` and `waiting`. */
export function createDispatcher(engine: DispatcherEngine, config: DispatcherConfig): Dispatcher {
  const { allowPrivateTargets, ...options } = config;
  const maxInFlightPerPlatform = options.maxInFlightPerPlatform ?? IN_FLIGHT_PER_PLATFORM;
  return new Dispatcher({
    url: engine.url,
    sender: createSender({ allowPrivateTargets, connectionsPerTarget: maxInFlightPerPlatform }),
    secrets: (tenant) => webhookSecretsOf(engine, tenant),
    serviceKey: serviceKeys(engine),
    clock: engine.clock,
    ...dispatcherMetrics(),
    ...options,
    maxInFlightPerPlatform,
  });
}

/** Counts what the dispatcher says in this process's metrics; also for messages from a dispatcher in a thread. */
export function dispatcherMetrics(): Required<Pick<DispatcherOptions, 'attempted' | 'waiting'>> {
  const total = counter('webhook_deliveries_total', 'Attempts that are over: delivered, to be retried, given up.', [
    'outcome',
  ]);
  const duration = histogram('webhook_delivery_duration_seconds', 'Time from request to answer of an attempt.');
  const pending = gauge('webhook_deliveries_pending', 'Deliveries that are not over, counted up to 100,000.');
  const oldest = gauge('webhook_deliveries_oldest_due_seconds', 'How long the oldest delivery that is due has waited.');
  return {
    attempted(status, durationMs) {
      total.inc({ outcome: OUTCOMES[status] });
      duration.observe(durationMs / 1_000);
    },
    waiting(backlog) {
      pending.set(backlog.pending);
      oldest.set(backlog.oldestDueSeconds);
    },
  };
}

const OUTCOMES = { DELIVERED: 'delivered', PENDING: 'retry', FAILED: 'given_up' } as const;
