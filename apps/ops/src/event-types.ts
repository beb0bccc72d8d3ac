import { InvalidArgumentError } from 'commander';
import { accountEventTypes } from '../../../libs/domain/accounts/account.events.ts';
import { customerEventTypes } from '../../../libs/domain/customers/customer.events.ts';
import { externalAccountEventTypes } from '../../../libs/domain/external-accounts/external-account.events.ts';
import { umaDepositEventTypes } from '../../../libs/domain/external-accounts/uma-deposit.events.ts';
import { incomingPaymentEventTypes } from '../../../libs/domain/incoming-payments/incoming-payment.events.ts';
import { invitationEventTypes } from '../../../libs/domain/invitations/invitation.events.ts';
import { operationEventTypes } from '../../../libs/domain/operations/operation.events.ts';
import { paymentEventTypes } from '../../../libs/domain/payments/payment.events.ts';
import { platformEventTypes } from '../../../libs/domain/platforms/platform.events.ts';
import { sweepEventTypes } from '../../../libs/domain/sweeps/sweep.events.ts';
import { tokenEventTypes } from '../../../libs/domain/tokens/token.events.ts';
import { COMMAND_REFUSED } from '../../../libs/kernel/refusal.ts';
import { several } from './command.ts';
import { stateMachines } from './spec.ts';

/** In logs of earlier versions only. */
const FORMER = ['CreationAbandoned'];

/** Every type of event that a log may hold: those that read models handle, those that transitions cause, refusals, former ones. */
export const eventTypes: readonly string[] = [
  ...new Set<string>([
    ...accountEventTypes,
    ...customerEventTypes,
    ...externalAccountEventTypes,
    ...umaDepositEventTypes,
    ...incomingPaymentEventTypes,
    ...invitationEventTypes,
    ...operationEventTypes,
    ...paymentEventTypes,
    ...platformEventTypes,
    ...sweepEventTypes,
    ...tokenEventTypes,
    COMMAND_REFUSED,
    ...FORMER,
    ...stateMachines.flatMap(({ transitions }) => transitions.flatMap(({ event }) => event?.split(/, */) ?? [])),
  ]),
]
  .filter((type) => type !== 'nothing')
  .sort();

/** Collects types of events; refuses one that there is not. */
export function severalEventTypes(text: string, before: readonly string[] = []): string[] {
  const unknown = several(text).find((type) => !eventTypes.includes(type));
  if (unknown === undefined) return several(text, before);
  throw new InvalidArgumentError(`There is no type ${unknown}. There are: ${eventTypes.join(', ')}.`);
}
