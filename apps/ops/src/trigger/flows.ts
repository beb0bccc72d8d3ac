import { randomUUID } from 'node:crypto';
import {
  customer as customerDecider,
  ResolveVerification,
  StartVerification,
} from '../../../../libs/domain/customers/customer.ts';
import type { PlatformSettings } from '../../../../libs/domain/platforms/platform.events.ts';
import type { WebhookEvent } from '../../../../libs/domain/webhooks/event-types.ts';
import type { PlatformClient } from './client.ts';
import { bank, customer, funded, payout, quote, receive, received, usdAccount } from './steps.ts';

/** How an event is brought about. */
export interface Flow {
  /** What is done, for the list. */
  does: string;
  run(client: PlatformClient): Promise<unknown>;
  /** Why it cannot be done on a platform with these settings; undefined when it can. */
  hinders?(settings: PlatformSettings): string | undefined;
}

const flow = (does: string, run: Flow['run'], hinders?: Flow['hinders']): Flow => ({
  does,
  run,
  ...(hinders && { hinders }),
});

const refunded = flow('a payment that the receiving bank refuses', (client) => payout(client, '004'));
const returned = flow('a payment by UMA that cannot be paid out, which goes back to its sender', (client) =>
  received(client, '$somebody', '004'),
);

/** What the sandbox makes of a person at creation, by the end of the name, where the platform resolves people then. */
const nameEnds = { PENDING: ' 001', APPROVED: '', REJECTED: ' 002' };

/** A new customer whose verification comes to this: at creation, or by the commands that a verification will send. */
function verification(customerType: 'INDIVIDUAL' | 'BUSINESS', status: 'PENDING' | 'APPROVED' | 'REJECTED'): Flow {
  const isPerson = customerType === 'INDIVIDUAL';
  const profile = isPerson ? { fullName: `Trigger Example${nameEnds[status]}` } : { fullName: undefined, ...business };
  return flow(`${isPerson ? 'a person' : 'a business'} whose verification is ${status}`, async (client) => {
    const { id, kycStatus, kybStatus } = await customer(client, { customerType, ...profile });
    if ((kycStatus ?? kybStatus) === status) return;
    const customerId = id.slice('Customer:'.length);
    await client.send(customerDecider, new StartVerification({ customerId }));
    if (status !== 'PENDING') {
      await client.send(customerDecider, new ResolveVerification({ customerId, outcome: status }));
    }
  });
}

const business = {
  businessInfo: { legalName: 'Trigger Example LLC', country: 'US', taxId: '12-3456789', incorporatedOn: '2020-01-31' },
};

/** The flow that leads to each event. */
export const flows: Partial<Record<WebhookEvent, Flow>> = {
  'OUTGOING_PAYMENT.PENDING': flow('a quote', (client) => quote(client, '789')),
  'OUTGOING_PAYMENT.PROCESSING': flow('a payment to a bank', (client) => payout(client, '789')),
  'OUTGOING_PAYMENT.COMPLETED': flow('a payment to a bank', (client) => payout(client, '789')),
  'OUTGOING_PAYMENT.FAILED': refunded,
  'OUTGOING_PAYMENT.EXPIRED': flow(
    'a quote whose time is over: the sandbox clock of the platform goes forward to it',
    async (client) => {
      const { expiresAt } = await quote(client, '789');
      await client.post('/sandbox/clock/advance', { to: expiresAt });
    },
  ),
  'OUTGOING_PAYMENT.REFUND_PENDING': refunded,
  'OUTGOING_PAYMENT.REFUND_COMPLETED': refunded,
  'OUTGOING_PAYMENT.REFUND_FAILED': flow('a payment that fails and whose refund fails', (client) =>
    payout(client, '007'),
  ),
  'INCOMING_PAYMENT.PENDING': flow('a payment by UMA', (client) => receive(client, '$somebody')),
  'INCOMING_PAYMENT.COMPLETED': flow('a deposit', funded),
  'INCOMING_PAYMENT.FAILED': flow('a payment by UMA that fails at its sender', (client) =>
    received(client, '$fail.compliance.usd'),
  ),
  'INCOMING_PAYMENT.REFUND_PENDING': returned,
  'INCOMING_PAYMENT.REFUND_COMPLETED': returned,
  'INCOMING_PAYMENT.REFUND_FAILED': flow('a payment by UMA that can neither be paid out nor go back', (client) =>
    received(client, '$fail.refund', '004'),
  ),
  'CUSTOMER.KYC_PENDING': verification('INDIVIDUAL', 'PENDING'),
  'CUSTOMER.KYC_APPROVED': verification('INDIVIDUAL', 'APPROVED'),
  'CUSTOMER.KYC_REJECTED': verification('INDIVIDUAL', 'REJECTED'),
  'CUSTOMER.KYB_PENDING': verification('BUSINESS', 'PENDING'),
  'CUSTOMER.KYB_APPROVED': verification('BUSINESS', 'APPROVED'),
  'CUSTOMER.KYB_REJECTED': verification('BUSINESS', 'REJECTED'),
  'EXTERNAL_ACCOUNT.STATUS_UPDATED': flow('a wallet whose owner passes the check', async (client) => {
    const { id: customerId } = await customer(client);
    const address = `0x${randomUUID().replaceAll('-', '')}00000000`;
    const accountInfo = { accountType: 'BASE_WALLET', address };
    const wallet = { customerId, currency: 'USDC', ownershipType: 'FIRST_PARTY', accountInfo };
    const { id } = await client.post('/customers/external-accounts', wallet);
    await client.post(`/customers/external-accounts/${id}/challenge`, { method: 'LIVENESS' });
    await client.post(`/sandbox/external-accounts/${id}/liveness`, { outcome: 'COMPLETED' });
  }),
  'INTERNAL_ACCOUNT.BALANCE_UPDATED': flow('a deposit', funded),
  'INTERNAL_ACCOUNT.STATUS_UPDATED': flow('a customer who is deleted', async (client) => {
    const { id } = await customer(client);
    await client.delete(`/customers/${id}`);
  }),
  'INTERNAL_ACCOUNT.SWEEP_FAILED': flow(
    'a deposit on a rule-based account whose destination refuses it',
    async (client) => {
      const { id: customerId } = await customer(client);
      await usdAccount(client, customerId);
      const { id: accountId } = await bank(client, customerId, '004');
      const rule = { customerId, type: 'RULE_BASED', currency: 'USD', sweepRule: { destination: { accountId } } };
      const { id } = await client.post('/internal-accounts', rule);
      await client.post(`/sandbox/internal-accounts/${id}/fund`, { amount: 10_000 });
    },
    ({ allowRuleBasedAccounts }) =>
      allowRuleBasedAccounts
        ? undefined
        : 'it has no rule-based accounts: `ops platform create --rule-based` makes one that has',
  ),
  'INVITATION.CLAIMED': flow(
    'an invitation that another customer claims',
    async (client) => {
      const [inviter, invitee] = [await customer(client), await customer(client)];
      const { code } = await client.post('/invitations', { inviterUma: inviter.umaAddress, firstName: 'Example' });
      await client.post(`/invitations/${code}/claim`, { inviteeUma: invitee.umaAddress });
    },
    ({ hasNoInvitations }) => (hasNoInvitations ? 'its customers invite nobody' : undefined),
  ),
  TEST: flow('a test, which is sent to the endpoint at once and is not forwarded', (client) =>
    client.post('/sandbox/webhooks/test'),
  ),
};
