import type { AccountEvent } from '../../libs/domain/accounts/account.events.ts';
import { account } from '../../libs/domain/accounts/account.ts';
import type { CustomerCreatedData, CustomerEvent } from '../../libs/domain/customers/customer.events.ts';
import { customer } from '../../libs/domain/customers/customer.ts';
import type { ExternalAccountEvent } from '../../libs/domain/external-accounts/external-account.events.ts';
import { externalAccount } from '../../libs/domain/external-accounts/external-account.ts';
import type { IncomingPaymentEvent } from '../../libs/domain/incoming-payments/incoming-payment.events.ts';
import { incomingPayment } from '../../libs/domain/incoming-payments/incoming-payment.ts';
import type { InvitationEvent } from '../../libs/domain/invitations/invitation.events.ts';
import { invitation } from '../../libs/domain/invitations/invitation.ts';
import type { PaymentEvent, PaymentQuotedData } from '../../libs/domain/payments/payment.events.ts';
import { payment } from '../../libs/domain/payments/payment.ts';
import type { PlatformEvent } from '../../libs/domain/platforms/platform.events.ts';
import { platform, tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import type { SweepEvent } from '../../libs/domain/sweeps/sweep.events.ts';
import { sweep } from '../../libs/domain/sweeps/sweep.ts';
import { timestamp } from '../../libs/kernel/clock.ts';
import { derivedUuid } from '../../libs/kernel/ids.ts';
import type { Event, RecordedEvent, Tenant } from '../../libs/kernel/messages.ts';

const FIRST_AT_MS = Date.UTC(2025, 9, 13, 9, 30);
const id = (name: string) => derivedUuid('webhook sample', name);

const tenant: Tenant = { platform: id('platform'), environment: 'sandbox' };
const tenantId = tenantIdOf(tenant);
const customerId = id('Amina');
const accountId = id('account');
const iban = id('iban');
const ach = id('ach');

const common = { tenantId, customerId, platformCustomerId: 'amina-1' };

function customerCreated(name: string, more: Partial<CustomerCreatedData>): CustomerEvent {
  const data: CustomerCreatedData = {
    customerId: id(name),
    tenantId,
    customerType: 'INDIVIDUAL',
    platformCustomerId: `${name.toLowerCase()}-1`,
    umaAddress: `$${name.toLowerCase()}@example.com`,
    region: 'US',
    currencies: ['USD', 'EUR'],
    claims: [],
    verificationStatus: 'UNVERIFIED',
    isAwaitingTerms: false,
    accounts: ['USD', 'EUR'],
    ...more,
  };
  return { type: 'CustomerCreated', data };
}

const address = { line1: '1 Main Street', city: 'Springfield', state: 'IL', postalCode: '62701', country: 'US' };
const person = { fullName: 'Amina Diallo', birthDate: '1990-01-15', nationality: 'US', address };
const business = { businessInfo: { legalName: 'Acme Imports LLC', country: 'US', taxId: '12-3456789' }, address };

/** A customer who is checked and found good, and one who is not. */
const verified = (customerType: 'INDIVIDUAL' | 'BUSINESS', name: string, profile: object): CustomerEvent[] => {
  const started = (who: string): CustomerEvent => ({
    type: 'VerificationStarted',
    data: { customerId: id(who), status: 'PENDING' },
  });
  const resolved = (who: string, status: 'APPROVED' | 'REJECTED'): CustomerEvent => ({
    type: 'VerificationResolved',
    data: { customerId: id(who), status },
  });
  const other = `${name}-2`;
  return [
    customerCreated(name, { customerType, profile }),
    started(name),
    resolved(name, 'APPROVED'),
    customerCreated(other, { customerType, profile }),
    started(other),
    resolved(other, 'REJECTED'),
  ];
};

const leg = { accountId, currency: 'USD', counterpart: 'mint:USD' };
const accountEvents: AccountEvent[] = [
  { type: 'AccountOpened', data: { ...common, accountId, currency: 'USD', type: 'INTERNAL_FIAT' } },
  {
    type: 'DepositReceived',
    data: { ...common, ...leg, amountMinor: 250_000n, paymentId: id('deposit'), reference: 'FUND-7F3A9A51' },
  },
  { type: 'AccountDebited', data: { ...leg, amountMinor: 250_000n, paymentId: id('withdrawal') } },
  { type: 'AccountClosed', data: { accountId } },
];

const wallet = id('wallet');
const ownership = { externalAccountId: wallet, challengeId: id('challenge'), method: 'WALLET_SIGNATURE' as const };
const externalAccountEvents: ExternalAccountEvent[] = [
  {
    type: 'ExternalAccountAdded',
    data: {
      externalAccountId: wallet,
      tenantId,
      customerId,
      subjectId: customerId,
      status: 'PENDING_OWNERSHIP_VERIFICATION',
      currency: 'USDC',
      accountType: 'ETHEREUM_WALLET',
      accountInfo: { accountType: 'ETHEREUM_WALLET', address: '0x71C7656EC7ab88b098defB751B7401B5f6d8976F' },
      identifierSuffix: '76F',
      paymentRails: [],
      isSelfCustody: true,
      isPullable: false,
      ownershipType: 'FIRST_PARTY',
      beneficiaryVerificationStatus: 'UNSUPPORTED',
      claimId: id('claim'),
    },
  },
  { type: 'OwnershipVerified', data: { ...ownership, previousStatus: 'PENDING_OWNERSHIP_VERIFICATION' } },
];

/** 1,000.00 USD to EUR with 5.00 USD service fee (facts §2). */
const payout: Omit<PaymentQuotedData, 'paymentId'> = {
  ...common,
  type: 'OUTGOING',
  source: { kind: 'INTERNAL', accountId, currency: 'USD', customerId },
  destination: { kind: 'EXTERNAL', accountId: iban, currency: 'EUR', paymentRail: 'SEPA', railSelectionMode: 'AUTO' },
  terms: {
    sendingCurrency: 'USD',
    receivingCurrency: 'EUR',
    sendingMinor: 100_000n,
    receivingMinor: 91_540n,
    serviceFeeMinor: 500n,
    platformFeeMinor: 0n,
    convertedMinor: 99_500n,
    exchangeRate: '1.08695652',
    rateAsOf: '2025-10-13T09:00:00.000Z',
  },
  immediatelyExecute: false,
  reference: 'PAY-01970E0E',
  expiresAt: '2025-10-13T09:35:00.000Z',
};

/** 1,000.00 USD collected from a bank account. */
const pull: Omit<PaymentQuotedData, 'paymentId'> = {
  ...payout,
  type: 'INCOMING',
  source: { kind: 'EXTERNAL', accountId: ach, currency: 'USD', customerId },
  destination: { kind: 'INTERNAL', accountId, currency: 'USD', customerId },
  terms: {
    ...payout.terms,
    receivingCurrency: 'USD',
    receivingMinor: 100_000n,
    serviceFeeMinor: 0n,
    convertedMinor: 100_000n,
    exchangeRate: '1',
  },
};

/** 250.00 USD to a customer's UMA address. */
const received: IncomingPaymentEvent = {
  type: 'IncomingPaymentAnnounced',
  data: {
    ...common,
    paymentId: id('received'),
    type: 'INCOMING',
    source: { kind: 'UMA', accountId: '', currency: 'USD' },
    destination: { kind: 'INTERNAL', accountId, currency: 'USD', customerId },
    terms: { ...pull.terms, sendingMinor: 25_000n, receivingMinor: 25_000n, convertedMinor: 25_000n },
    reference: 'UMA-01970E0E',
    requestedFields: [{ name: 'FULL_NAME', mandatory: true }],
    origin: { kind: 'UMA', agreement: '' },
    subject: customerId,
    senderUmaAddress: '$kofi@sandbox.uma.money',
    receiverUmaAddress: '$amina@example.com',
  },
};

const sweepId = id('sweep');
const sweepEvents: SweepEvent[] = [
  {
    type: 'SweepStarted',
    data: {
      ...common,
      sweepId,
      accountId: id('rule account'),
      canonicalAccountId: accountId,
      destination: { kind: 'EXTERNAL', accountId: ach, paymentRail: 'ACH' },
      currency: 'USD',
      amountMinor: 50n,
      incomingPaymentId: id('rule deposit'),
    },
  },
  { type: 'SweepFailed', data: { sweepId, reason: 'BELOW_MINIMUM' } },
  { type: 'SweepSent', data: { sweepId, paymentId: id('fallback') } },
  { type: 'SweepFellBack', data: { sweepId } },
];

const code = 'k5sa3iv7qhx2m4dbt6ezy7owcu';
const invitationEvents: InvitationEvent[] = [
  {
    type: 'InvitationCreated',
    data: {
      code,
      tenantId,
      customerId,
      inviterUma: '$amina@example.com',
      url: `https://example.com/invitations/${code}`,
      firstName: 'Luis',
      amountToSendMinor: 12_550n,
      currency: 'USD',
      expiresAt: '2025-10-20T09:30:00.000Z',
    },
  },
  {
    type: 'InvitationClaimed',
    data: { code, subject: id('Luis'), inviteeUma: '$luis@bank.example', claimedBy: `${id('bank')}.sandbox` },
  },
];

/** Steps of a payment that need no more data than its id. */
type Step =
  | 'ExecutionRequested'
  | 'PaymentStarted'
  | 'RailAccepted'
  | 'PaymentCompleted'
  | 'PaymentExpired'
  | 'RefundAccepted'
  | 'RefundCompleted'
  | 'RefundFailed';

function life(
  name: string,
  quoted: Omit<PaymentQuotedData, 'paymentId'>,
  ...steps: (Step | 'PaymentFailed')[]
): PaymentEvent[] {
  const paymentId = id(name);
  const failureReason = quoted.type === 'OUTGOING' ? 'ACCOUNT_INVALID' : 'QUOTE_EXECUTION_FAILED';
  const happened = (type: Step | 'PaymentFailed'): PaymentEvent =>
    type === 'PaymentFailed'
      ? { type, data: { paymentId, failureReason, isRefunded: true } }
      : { type, data: { paymentId } };
  return [{ type: 'PaymentQuoted', data: { ...quoted, paymentId } }, ...steps.map(happened)];
}

const executed = ['ExecutionRequested', 'PaymentStarted'] as const;
const rejected = [...executed, 'PaymentFailed', 'RefundAccepted'] as const;
/** Collected, but the account it was for could not take it. */
const undeliverable = [...executed, 'RailAccepted', 'PaymentFailed', 'RefundAccepted'] as const;

const streams: [decider: { name: string; id: string }, events: readonly Event[]][] = [
  [
    platform,
    [
      {
        type: 'PlatformConfigured',
        data: { tenantId, changes: { webhookEndpoint: 'https://example.com/webhooks' }, isEndpointChanged: true },
      } satisfies PlatformEvent,
    ],
  ],
  [customer, verified('INDIVIDUAL', 'Amina', person)],
  [customer, verified('BUSINESS', 'Acme', business)],
  [account, accountEvents],
  [externalAccount, externalAccountEvents],
  [sweep, sweepEvents],
  [payment, life('payout', payout, ...executed, 'RailAccepted', 'PaymentCompleted')],
  [payment, life('late', payout, 'PaymentExpired')],
  [payment, life('refunded payout', payout, ...rejected, 'RefundCompleted')],
  [payment, life('stuck payout', payout, ...rejected, 'RefundFailed')],
  [payment, life('refunded pull', pull, ...undeliverable, 'RefundCompleted')],
  [payment, life('stuck pull', pull, ...undeliverable, 'RefundFailed')],
  [incomingPayment, [received]],
  [invitation, invitationEvents],
];

/** A made-up history in which everything that is announced happens: the samples of webhooks are what is announced of it. */
export function sampleHistory(): RecordedEvent[] {
  const revisions = new Map<string, number>();
  const events = streams.flatMap(([decider, happened]) =>
    happened.map((event) => ({
      ...event,
      stream: `${decider.name}-${(event.data as Record<string, string>)[decider.id]}`,
    })),
  );
  return events.map((event, index) => {
    const revision = (revisions.get(event.stream) ?? -1) + 1;
    revisions.set(event.stream, revision);
    const commandId = id(`command ${index}`);
    return {
      ...event,
      id: id(`event ${index}`),
      at: timestamp(FIRST_AT_MS + index * 1_000),
      revision,
      position: index + 1,
      meta: { commandId, correlationId: commandId, actor: 'ops', tenant },
    };
  });
}
