import { type CustomerState, customer, isDeleted, isKnown } from '../../../libs/domain/customers/customer.ts';
import { ReceivePayment } from '../../../libs/domain/incoming-payments/incoming-payment.commands.ts';
import type { CollectionRequest } from '../../../libs/domain/incoming-payments/incoming-payment.process.ts';
import type { IncomingPaymentState } from '../../../libs/domain/incoming-payments/incoming-payment.state.ts';
import { incomingPayment } from '../../../libs/domain/incoming-payments/incoming-payment.ts';
import { plainTerms, type RailAnswer, type UmaRoute } from '../../../libs/domain/payments/payment.events.ts';
import type { RailRequest, RefundRequest } from '../../../libs/domain/payments/payment.process.ts';
import { type PaymentState, payment } from '../../../libs/domain/payments/payment.ts';
import { type PlatformState, platform, tenantOf } from '../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../libs/kernel/clock.ts';
import { Rejection } from '../../../libs/kernel/errors.ts';
import { derivedUuid } from '../../../libs/kernel/ids.ts';
import type { Uma, UmaOf } from '../../../libs/providers/uma.port.ts';
import type { WritePath } from '../../../libs/runtime/execute.ts';
import { depositOf } from '../../shared/uma-receivers.ts';

type Here = Extract<UmaRoute, { kind: 'HERE' }>;

/** The first look at a payment under way at another platform, and the longest pause between two. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 60_000;
/** After the time at which the other side looks for a return. */
const AFTER_RETURN_MS = 1_000;

export interface UmaCallsOptions {
  writePath: WritePath;
  umaOf: UmaOf;
  clock: Clock;
}

/**
 * Payments to UMA addresses, as processes call them. Another platform of this deployment is asked as a rail is: the order is its
 * incoming payment, under an id that derives from the payment's, so that asking again gives no second one; the answer is how that
 * stands. Each platform books its own side in its own time (docs/why/uma.md).
 */
export function umaCalls({ writePath, umaOf, clock }: UmaCallsOptions) {
  const umaFor = (tenantId: string): Uma => {
    const uma = umaOf(tenantOf(tenantId).environment);
    if (uma instanceof Rejection) throw uma;
    return uma;
  };
  return {
    /** Pays a UMA address: `request.uma` is its route. */
    async pay(request: RailRequest, route: UmaRoute): Promise<RailAnswer> {
      if (route.kind === 'HERE') return payHere({ writePath, clock }, request, route);
      const { reference, currency, amountMinor, orderedAt } = request;
      const order = { reference, agreement: route.agreement, currency, amountMinor, orderedAt };
      return umaFor(request.tenantId).pay({ ...order, tenant: tenantOf(request.tenantId) });
    },
    /** What another platform here was to get was only reserved: it can always go back. */
    async refund({ reference, tenantId }: RefundRequest, route: UmaRoute): Promise<boolean> {
      return route.kind === 'HERE' || umaFor(tenantId).giveBack({ reference, agreement: route.agreement });
    },
    collect: ({ tenantId, ...order }: CollectionRequest) =>
      umaFor(tenantId).collect({ ...order, tenant: tenantOf(tenantId) }),
    giveBack: ({ tenantId, reference, agreement }: CollectionRequest) =>
      umaFor(tenantId).giveBack({ reference, agreement }),
  };
}

/** The id of the incoming payment that a payment to an address of this deployment is at the other platform. */
export const counterpartId = (paymentId: string): string => derivedUuid('incoming payment', paymentId);

type On = Pick<UmaCallsOptions, 'writePath' | 'clock'>;

async function payHere(on: On, request: RailRequest, route: Here): Promise<RailAnswer> {
  const [paymentId] = request.reference.split('/') as [string];
  const { state } = await on.writePath.state<IncomingPaymentState>(incomingPayment, counterpartId(paymentId));
  const known = state.phase === 'NONE' ? await announce(on.writePath, paymentId, route) : state;
  if (!known) return { outcome: 'REJECTED', failureReason: 'ACCOUNT_CANNOT_RECEIVE' };
  const [senderMs, receiverMs] = [request, route].map(({ tenantId }) => on.clock.nowMs(tenantOf(tenantId)));
  return standing(known, request, { senderMs: senderMs!, receiverMs: receiverMs! });
}

/** Tells the receiver's platform; undefined when the customer takes no such payment any more. */
async function announce(
  writePath: WritePath,
  paymentId: string,
  { tenantId, customerId }: Here,
): Promise<IncomingPaymentState | undefined> {
  const { state: sent } = await writePath.state<PaymentState>(payment, paymentId);
  const { state: receiver } = await writePath.state<CustomerState>(customer, customerId);
  const { receivingCurrency: currency, receivingMinor } = sent.terms;
  const destination = await depositOf(writePath, receiver, currency);
  if (!isKnown(receiver) || isDeleted(receiver) || !destination) return undefined;
  const { state: from } = await writePath.state<PlatformState>(platform, sent.tenantId);
  const asked = from.supportedCurrencies.find(({ currencyCode }) => currencyCode === sent.terms.sendingCurrency);
  const incomingId = counterpartId(paymentId);
  const senderUmaAddress = await senderAddress(writePath, sent, from);
  const command = new ReceivePayment({
    paymentId: incomingId,
    tenantId,
    customerId,
    platformCustomerId: receiver.platformCustomerId,
    source: { kind: 'UMA', accountId: '', currency },
    destination,
    terms: plainTerms(currency, receivingMinor, sent.terms.rateAsOf),
    reference: `UMA-${incomingId.slice(-12).toUpperCase()}`,
    requestedFields: asked?.requiredCounterpartyFields ?? [],
    origin: { kind: 'CLEARING', tenantId: sent.tenantId, paymentId },
    senderUmaAddress,
    ...(sent.tenantId === tenantId && sent.customerId !== undefined && { senderCustomerId: sent.customerId }),
    ...(sent.destinationUmaAddress !== undefined && { receiverUmaAddress: sent.destinationUmaAddress }),
    ...(sent.senderCustomerInfo && { senderCustomerInfo: sent.senderCustomerInfo }),
  });
  const { state } = await writePath.execute(incomingPayment, command, {
    commandId: derivedUuid('announce', incomingId),
    correlationId: paymentId,
    causationId: `${payment.name}-${paymentId}`,
    actor: 'process:completePayment',
    tenant: tenantOf(tenantId),
  });
  return state as IncomingPaymentState;
}

/** A platform's own payments come from `$platform` at its domain. */
async function senderAddress(writePath: WritePath, sent: PaymentState, from: PlatformState): Promise<string> {
  const own = `$platform@${from.umaDomain}`;
  if (sent.customerId === undefined) return sent.sourceUmaAddress ?? own;
  const { state } = await writePath.state<CustomerState>(customer, sent.customerId);
  return sent.sourceUmaAddress ?? state.umaAddress ?? own;
}

/** How the other platform's payment stands, as a rail would say it, by the sender's clock. */
function standing(
  { phase, status, waitUntil, failureReason, receiverCustomerInfo }: IncomingPaymentState,
  { isSettled, orderedAt }: RailRequest,
  { senderMs, receiverMs }: { senderMs: number; receiverMs: number },
): RailAnswer {
  const told = receiverCustomerInfo && { counterpartyInformation: receiverCustomerInfo };
  if (phase === 'DONE') {
    if (status === 'COMPLETED') return { outcome: 'SETTLED', ...told };
    if (isSettled) return { outcome: 'RETURNED' };
    if (failureReason === 'COMPLIANCE_REJECTED') return { outcome: 'REJECTED', failureReason };
    const isUndeliverable = failureReason === 'OFFRAMP_FAILED';
    return {
      outcome: 'REJECTED',
      failureReason: isUndeliverable ? 'ACCOUNT_CANNOT_RECEIVE' : 'COUNTERPARTY_POST_TX_FAILED',
    };
  }
  if (phase === 'DEPOSITED' || phase === 'CHECKING_DEPOSIT') {
    const returnsInMs = waitUntil === undefined ? 0 : Math.max(0, Date.parse(waitUntil) - receiverMs);
    return { outcome: 'SETTLED', ...told, watchUntil: timestamp(senderMs + returnsInMs + AFTER_RETURN_MS) };
  }
  const elapsedMs = senderMs - Date.parse(orderedAt);
  const pauseMs = Math.min(Math.max(FIRST_LOOK_MS, elapsedMs / 2), LAST_LOOK_MS);
  return { outcome: 'PENDING', checkAt: timestamp(senderMs + pauseMs) };
}
