import type { AnyDecider } from '../kernel/decider.ts';
import { account } from './accounts/account.ts';
import { claim } from './claims/claim.ts';
import { customer } from './customers/customer.ts';
import { externalAccount } from './external-accounts/external-account.ts';
import { umaDeposit } from './external-accounts/uma-deposit.ts';
import { incomingPayment } from './incoming-payments/incoming-payment.ts';
import { invitation } from './invitations/invitation.ts';
import { operation } from './operations/operation.ts';
import { payment } from './payments/payment.ts';
import { platform } from './platforms/platform.ts';
import { sweep } from './sweeps/sweep.ts';
import { token } from './tokens/token.ts';

/** Every decider of the platform. Command handlers, the codec and the audit tools are made from this list. */
export const deciders: readonly AnyDecider[] = [
  platform,
  token,
  claim,
  customer,
  account,
  payment,
  incomingPayment,
  externalAccount,
  umaDeposit,
  sweep,
  invitation,
  operation,
];
