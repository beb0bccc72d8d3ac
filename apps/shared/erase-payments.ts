import { randomUUID } from 'node:crypto';
import { EraseSender } from '../../libs/domain/incoming-payments/incoming-payment.commands.ts';
import { incomingPayment } from '../../libs/domain/incoming-payments/incoming-payment.ts';
import { paymentTexts } from '../../libs/domain/payments/payment.events.ts';
import { EraseReceiver, payment } from '../../libs/domain/payments/payment.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import { fromJson } from '../../libs/kernel/json.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { payments, type TransactionState } from '../../projections/payments.ts';
import type { Engine } from './engine.ts';

/** Payments of others in which a customer was the other side. */
export interface ErasedFromPayments {
  ids: string[];
  /** The log position up to which the read models have to come. */
  position: number;
}

/**
 * Erases a customer from the payments of the same platform's others that it received or sent by UMA address. Each one says so itself, so
 * that a later event of it, or a rebuild, does not bring back what a row was blanked of (docs/why/uma.md).
 */
export async function eraseFromPaymentsOfOthers(
  { pool, writePath }: Pick<Engine, 'pool' | 'writePath'>,
  tenant: Tenant,
  customerId: string,
): Promise<ErasedFromPayments> {
  const { rows } = await pool.query<{ id: string; state: string }>(
    `SELECT id, state FROM ${payments.name}
      WHERE platform = $1 AND environment = $2 AND customer <> $3 AND position($3 IN state) > 0`,
    [tenant.platform, tenant.environment, customerId],
  );
  const erased: ErasedFromPayments = { ids: [], position: 0 };
  for (const { id, state } of rows) {
    const command = erasing(fromJson<TransactionState>(state), customerId);
    if (!command) continue;
    const commandId = randomUUID();
    const envelope = { commandId, correlationId: commandId, actor: 'ops', tenant };
    const { position } = await writePath.execute(...command, envelope);
    erased.ids.push(id);
    erased.position = Math.max(erased.position, position);
  }
  return erased;
}

/** What says so: nothing where the customer is named otherwise, as the holder of an account for example. */
function erasing(state: TransactionState, customerId: string): [AnyDecider, EraseReceiver | EraseSender] | undefined {
  const { paymentId, destination, senderCustomerId } = state;
  if (senderCustomerId === customerId) return [incomingPayment, new EraseSender({ paymentId })];
  const isReceiver = destination.uma?.kind === 'HERE' && destination.uma.customerId === customerId;
  return isReceiver ? [payment, new EraseReceiver({ paymentId })] : undefined;
}

/** The streams of payments: a receipt is confirmed beside an incoming one. */
export const streamsOfPayments = (ids: readonly string[]): string[] =>
  ids.flatMap((id) => [`${payment.name}-${id}`, `${incomingPayment.name}-${id}`]);

/** The payments of a customer. */
export async function paymentsOf(
  { pool }: Pick<Engine, 'pool'>,
  { platform, environment }: Tenant,
  customerId: string,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM ${payments.name} WHERE customer = $1 AND platform = $2 AND environment = $3`,
    [customerId, platform, environment],
  );
  return rows.map(({ id }) => id);
}

/** What rows of payments hold in clear of the people who pay and are paid. */
const textsOfPayments = [
  ...paymentTexts,
  'fundingSender',
  'senderUmaAddress',
  'receiverUmaAddress',
  'receiverCustomerInfo',
  'rejectionReason',
];

/**
 * The texts in the row of a payment that the log does not tell any more, now that a key is gone. What it tells of the other side, under that
 * one's own key, stays: a row made anew would have it.
 */
export async function textsGone(
  { writePath }: Pick<Engine, 'writePath'>,
  id: string,
  state: Record<string, unknown>,
): Promise<string[]> {
  const present = textsOfPayments.filter((field) => Object.hasOwn(state, field));
  if (present.length === 0) return [];
  const told = await writePath.state<object>(state.origin ? incomingPayment : payment, id);
  return present.filter((field) => (told.state as Record<string, unknown>)[field] === undefined);
}
