import { randomUUID } from 'node:crypto';
import { sweepTexts } from '../../libs/domain/accounts/account.events.ts';
import { type CustomerState, customer, ErasePerson, isKnown } from '../../libs/domain/customers/customer.ts';
import { isOver } from '../../libs/domain/payments/payment.state.ts';
import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { reject } from '../../libs/kernel/errors.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { externalAccounts } from '../../projections/external-accounts.ts';
import { internalAccounts } from '../../projections/internal-accounts.ts';
import { payments } from '../../projections/payments.ts';
import { sweeps } from '../../projections/sweeps.ts';
import type { Engine } from './engine.ts';
import { eraseFromInvitations } from './erase-invitations.ts';
import { eraseFromPaymentsOfOthers, paymentsOf, streamsOfPayments, textsGone } from './erase-payments.ts';
import { blankFields, idsWhere, whileNobodyProjects } from './erase-states.ts';
import { eraseWebhooks } from './erase-webhooks.ts';
import { withoutRebuild } from './rebuild-lock.ts';

/** What an erasure took away beside the key. */
export interface Erasure {
  /** External accounts whose personal data went with the key. */
  externalAccounts: number;
  /** Invitations that the person made or claimed. */
  invitations: number;
  /** Payments whose texts went with the key. */
  payments: number;
  /** Payments of the platform's other customers, and of its own, in which the person was the other side. */
  otherSides: number;
  /** Remembered answers of keyed requests. */
  answers: number;
  /** Webhooks whose payload was emptied, and with it what their receivers answered. */
  webhooks: number;
}

const PATIENCE_MS = 30_000;

/**
 * Erases the personal data of a deleted customer for good: records `PersonErased`, destroys the key, waits until the read models have
 * blanked their rows, and purges what was remembered of the person elsewhere. Doing it again finishes what was interrupted.
 *
 * `customerId` is the uuid. Throws `USER_NOT_FOUND`, `CONFLICT` (`NOT_DELETED`, `PAYMENTS_UNDER_WAY`, `REBUILD_UNDER_WAY`), or an error
 * when no projector is running.
 */
export const eraseCustomer = (engine: Engine, tenant: Tenant, customerId: string): Promise<Erasure> =>
  withoutRebuild(engine.url, () => erase(engine, tenant, customerId));

async function erase(engine: Engine, tenant: Tenant, customerId: string): Promise<Erasure> {
  const { writePath, keys, readModel, pool } = engine;
  const { state, position } = await writePath.state<CustomerState>(customer, customerId);
  if (state.tenantId !== tenantIdOf(tenant) || !isKnown(state)) throw reject('USER_NOT_FOUND');
  await projected(engine, tenant, position);
  await refuseWhileMoneyMoves(engine, tenant, customerId);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM ${externalAccounts.name} WHERE customer = $1 AND platform = $2 AND environment = $3`,
    [customerId, tenant.platform, tenant.environment],
  );
  const externalAccountIds = rows.map(({ id }) => id);
  const commandId = randomUUID();
  const erase = new ErasePerson({ customerId, externalAccountIds });
  const done = await writePath.execute(customer, erase, { commandId, correlationId: commandId, actor: 'ops', tenant });
  const erasedFrom = await eraseFromInvitations(engine, customerId);
  const others = await eraseFromPaymentsOfOthers(engine, tenant, customerId);
  await keys.destroy(customerId);
  const streams = [
    `customer-${customerId}`,
    ...externalAccountIds.map((id) => `externalAccount-${id}`),
    ...(await streamsWithTexts(engine, tenant, customerId)),
    ...erasedFrom.map(({ code }) => `invitation-${code}`),
    ...streamsOfPayments([...(await paymentsOf(engine, tenant, customerId)), ...others.ids]),
  ];
  for (const stream of streams) writePath.forget(stream);
  const saidAt = Math.max(done.position, others.position);
  readModel.noteWritten(tenant, saidAt);
  await projected(engine, tenant, saidAt);
  for (const one of erasedFrom) await projected(engine, one.tenant, one.position);
  return {
    externalAccounts: externalAccountIds.length,
    invitations: erasedFrom.length,
    otherSides: others.ids.length,
    ...(await purge(engine, tenant, {
      customerId,
      streams,
      resources: [
        ...erasedFrom.map(({ code }) => publicId('Invitation', code)),
        ...others.ids.map((id) => publicId('Transaction', id)),
      ],
    })),
  };
}

/** A payment that goes on would be announced, and its row written, with what is to go. */
async function refuseWhileMoneyMoves(engine: Engine, tenant: Tenant, customerId: string): Promise<void> {
  const held = { table: payments, tenant, customerId };
  const ids = await idsWhere(engine, held, ({ phase }) => !isOver(String(phase)), 10);
  if (ids.length === 0) return;
  const transactions = ids.map((id) => publicId('Transaction', id));
  throw reject('CONFLICT', { reason: 'PAYMENTS_UNDER_WAY', transactions }, 'Payments of the customer are under way.');
}

/** Rule-based accounts and their sweeps: people wrote texts there too. */
async function streamsWithTexts({ pool }: Engine, tenant: Tenant, customerId: string): Promise<string[]> {
  const { rows } = await pool.query<{ stream: string }>(
    `SELECT 'account-' || id AS stream FROM ${internalAccounts.name}
      WHERE customer = $1 AND type = 'RULE_BASED' AND platform = $2 AND environment = $3
      UNION ALL SELECT 'sweep-' || s.id FROM ${sweeps.name} s JOIN ${internalAccounts.name} a ON a.id = s.account
      WHERE a.customer = $1 AND s.platform = $2 AND s.environment = $3`,
    [customerId, tenant.platform, tenant.environment],
  );
  return rows.map(({ stream }) => stream);
}

/** Waits until the read models have come to a position: before that a batch under way may still write what is to go. */
async function projected({ readModel }: Engine, tenant: Tenant, position: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await readModel.caughtUp(position, tenant))) {
    if (Date.now() > deadline) {
      throw new Error('The read models do not advance: start the platform, then repeat the erasure to finish it.');
    }
  }
}

/** Answers are encrypted but can be read with the master key; webhooks and the texts of payments lie in clear. */
async function purge(
  engine: Engine,
  tenant: Tenant,
  erased: { customerId: string; streams: string[]; resources: string[] },
) {
  const { pool } = engine;
  const { customerId, streams } = erased;
  const answers = await pool.query('DELETE FROM keyed_answers WHERE stream = ANY($1)', [streams]);
  await pool.query('DELETE FROM snapshots WHERE stream = ANY($1)', [streams]);
  const webhooks = await eraseWebhooks(engine, tenant, {
    mention: publicId('Customer', customerId),
    resources: erased.resources,
  });
  const texts = await whileNobodyProjects(engine, tenant, async () => {
    await blankFields(engine, { table: internalAccounts, tenant, customerId }, async () => sweepTexts);
    return blankFields(engine, { table: payments, tenant, customerId }, (id, row) => textsGone(engine, id, row));
  });
  return { payments: texts, answers: answers.rowCount ?? 0, webhooks };
}
