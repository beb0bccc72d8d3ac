import type { ApprovalAnswer } from '../../../libs/domain/incoming-payments/incoming-payment.commands.ts';
import type { ApprovalRequest } from '../../../libs/domain/incoming-payments/incoming-payment.process.ts';
import { incomingPayment } from '../../../libs/domain/incoming-payments/incoming-payment.ts';
import { type PlatformState, platform } from '../../../libs/domain/platforms/platform.ts';
import { recordedAt, timestamp } from '../../../libs/kernel/clock.ts';
import { fold } from '../../../libs/kernel/decider.ts';
import { publicId } from '../../../libs/kernel/ids.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';
import type { Announcement } from '../../../libs/kernel/projection.ts';
import { createSender, type Sender, type SendResult } from '../../../libs/runtime/webhooks/sender.ts';
import { signatureHeaders } from '../../../libs/runtime/webhooks/signing.ts';
import { webhookOf } from '../../../projections/webhooks/body.ts';
import { incomingAnnouncement } from '../../../projections/webhooks/incoming-payments.ts';
import type { Engine } from '../../shared/engine.ts';
import { RESENT } from '../../shared/resent-webhooks.ts';
import { serviceKeys } from '../../shared/service-keys.ts';
import { secretsAt, webhookSecretsOf } from '../../shared/webhook-secrets.ts';
import { approvalAnswer, isDecisive } from './approval-answer.ts';

/** How long a platform has to answer, and to decide after it has only acknowledged (facts §3 and §16). */
const DECISION_MS = 5_000;
const EXCERPT_LENGTH = 1_024;
const UNUSABLE = 'UNUSABLE: The answer does not say what it decides in a way that can be used.';

type ApprovalEngine = Pick<Engine, 'pool' | 'store' | 'codec' | 'clock' | 'writePath' | 'keyFor'>;

export interface ApprovalCall {
  /** Asks the receiver's platform by webhook. Throws when nothing can be said of its answer; it is asked again then. */
  ask(request: ApprovalRequest): Promise<ApprovalAnswer>;
  close(): Promise<void>;
}

/**
 * The approval webhook `INCOMING_PAYMENT.PENDING`: signed and recorded as every webhook is, but sent by the process that needs the
 * answer, and once. The same question after a crash has the same id.
 */
export function approvalCall(engine: ApprovalEngine, options: { allowPrivateTargets: boolean }): ApprovalCall {
  const sender = createSender({ ...options, timeoutMs: DECISION_MS });
  const keyOf = serviceKeys(engine);
  return {
    async ask({ paymentId, tenantId }) {
      const { state } = await engine.writePath.state<PlatformState>(platform, tenantId);
      const { webhookEndpoint: url, platform: id, environment } = state;
      if (url === undefined) return { outcome: 'APPROVED' };
      const { announcement, event } = await questionOf(engine, paymentId);
      const webhook = webhookOf(announcement, event);
      const body = Buffer.from(JSON.stringify(webhook.body));
      const tenant = { platform: id, environment };
      const nowMs = engine.clock.nowMs();
      const secrets = secretsAt(await webhookSecretsOf(engine, tenant), nowMs);
      const headers = signatureHeaders({
        id: publicId('Webhook', webhook.id),
        timestampSeconds: Math.floor(nowMs / 1_000),
        body,
        secrets,
        privateKey: keyOf(environment),
      });
      const result = await sent(sender, { url, headers, body });
      const answer = approvalAnswer(result, timestamp(engine.clock.nowMs(tenant) + DECISION_MS));
      await record(engine, { id: webhook.id, announcement, event, body, result, answer, nowMs: engine.clock.nowMs() });
      return answer;
    },
    close: () => sender.close(),
  };
}

/** The announcement as it was made, whatever has become of the payment since. */
async function questionOf(
  { store, codec }: ApprovalEngine,
  paymentId: string,
): Promise<{ announcement: Announcement; event: RecordedEvent }> {
  const [first, second] = await store.readStream(`${incomingPayment.name}-${paymentId}`, -1);
  const begun = second?.type === 'SenderTold' ? [first!, second] : [first!];
  const [event, ...told] = await codec.decode(begun);
  const state = fold(incomingPayment, [event, ...told] as never[]);
  return { announcement: incomingAnnouncement(state, event!), event: event! };
}

/** What was not sent, because the sender has no connection free or is closing, is no answer. */
async function sent(sender: Sender, request: Parameters<Sender['send']>[0]): Promise<SendResult> {
  const result = await sender.send(request);
  if (result.outcome === 'failed' && (result.reason === 'BUSY' || result.reason === 'CLOSED'))
    throw new Error(`the approval webhook was not sent: ${result.message}`);
  return result;
}

interface Attempt {
  id: string;
  announcement: Announcement;
  event: RecordedEvent;
  body: Buffer;
  result: SendResult;
  answer: ApprovalAnswer;
  nowMs: number;
}

/** The webhook with its attempt among the deliveries. What an approval says is not kept there: it may tell of a person. */
async function record({ pool }: ApprovalEngine, attempt: Attempt): Promise<void> {
  const { id, announcement, event, body, result, answer, nowMs } = attempt;
  const { platform: owner, environment } = event.meta.tenant;
  const isAnswered = result.outcome === 'answered';
  const isDelivered = isAnswered && answer.outcome !== 'ERROR';
  const excerpt = isAnswered && result.status !== 200 ? result.bodyText.slice(0, EXCERPT_LENGTH) : '';
  await pool.query({
    name: 'record_approval_webhook',
    text: `WITH webhook AS (
             INSERT INTO webhooks (id, platform, environment, type, resource, sequence, body, created_at, position)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING
           ), earlier AS (
             INSERT INTO delivery_attempts (webhook_id, number, attempted_at, status, error, duration_ms, response)
             SELECT webhook_id, attempts, last_attempt_at, last_status, last_error, last_duration_ms, last_response
               FROM deliveries WHERE webhook_id = $1 AND attempts > 0
             ON CONFLICT DO NOTHING
           )
           INSERT INTO deliveries (webhook_id, platform, environment, status, attempts, failures, last_attempt_at, last_status,
                                   last_error, last_duration_ms, last_response)
           VALUES ($1, $2, $3, $10, 1, $11, $12, $13, $14, $15, $16)
           ON CONFLICT (webhook_id) DO UPDATE
              SET status = excluded.status, attempts = deliveries.attempts + 1, failures = deliveries.failures + excluded.failures,
                  last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status,
                  last_error = excluded.last_error, last_duration_ms = excluded.last_duration_ms,
                  last_response = excluded.last_response
           RETURNING pg_notify($17, 'late:' || webhook_id::text)`,
    values: [
      id,
      owner,
      environment,
      announcement.type,
      announcement.resource,
      announcement.sequence,
      body.toString('utf8'),
      recordedAt(event),
      event.position,
      isDelivered ? 'DELIVERED' : 'FAILED',
      isDelivered ? 0 : 1,
      new Date(nowMs),
      isAnswered ? result.status : null,
      errorOf(result, answer),
      result.durationMs,
      excerpt || null,
      RESENT,
    ],
  });
}

function errorOf(result: SendResult, { outcome }: ApprovalAnswer): string | null {
  if (result.outcome === 'failed') return `${result.reason}: ${result.message}`;
  return outcome === 'ERROR' && isDecisive(result.status) ? UNUSABLE : null;
}
