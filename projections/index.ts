import { serveCustomer } from '../libs/domain/customers/customer.process.ts';
import { serveExternalAccount } from '../libs/domain/external-accounts/external-account.process.ts';
import { receiveUmaPayment } from '../libs/domain/incoming-payments/incoming-payment.process.ts';
import { expireInvitation } from '../libs/domain/invitations/invitation.process.ts';
import { completePayment } from '../libs/domain/payments/payment.process.ts';
import { completeSweep, startSweeps } from '../libs/domain/sweeps/sweep.process.ts';
import type { AnyProcess } from '../libs/kernel/process.ts';
import type { Announcer, AnyProjection } from '../libs/kernel/projection.ts';
import { customers } from './customers.ts';
import { externalAccounts } from './external-accounts.ts';
import { internalAccounts } from './internal-accounts.ts';
import { invitations } from './invitations.ts';
import { journal } from './journal.ts';
import { payments } from './payments.ts';
import { platforms } from './platforms.ts';
import { sweeps } from './sweeps.ts';
import { tokens } from './tokens.ts';
import { customerAnnouncer } from './webhooks/customers.ts';
import { externalAccountAnnouncer } from './webhooks/external-accounts.ts';
import { incomingPaymentAnnouncer } from './webhooks/incoming-payments.ts';
import { internalAccountAnnouncer } from './webhooks/internal-accounts.ts';
import { invitationAnnouncer } from './webhooks/invitations.ts';
import { paymentAnnouncer } from './webhooks/payments.ts';
import { platformAnnouncer } from './webhooks/platforms.ts';
import { sweepAnnouncer } from './webhooks/sweeps.ts';

/** Every read model, in the order in which an event is applied to them: what a later one reads stands before it. */
export const projections: readonly AnyProjection[] = [
  platforms,
  tokens,
  customers,
  internalAccounts,
  externalAccounts,
  payments,
  sweeps,
  invitations,
  journal,
];

/** Event → webhooks. */
export const announcers: readonly Announcer[] = [
  platformAnnouncer,
  customerAnnouncer,
  internalAccountAnnouncer,
  paymentAnnouncer,
  incomingPaymentAnnouncer,
  externalAccountAnnouncer,
  sweepAnnouncer,
  invitationAnnouncer,
];

/** Processes and the read model that their timers follow. */
export const processes: readonly { process: AnyProcess; projection: AnyProjection }[] = [
  { process: serveCustomer, projection: customers },
  { process: serveExternalAccount, projection: externalAccounts },
  { process: completePayment, projection: payments },
  { process: receiveUmaPayment, projection: payments },
  { process: startSweeps, projection: internalAccounts },
  { process: completeSweep, projection: sweeps },
  { process: expireInvitation, projection: invitations },
];
