import type { AccountEvent, Deposit, Leg, SweepRule } from '../../libs/domain/accounts/account.events.ts';
import type { ClaimEvent } from '../../libs/domain/claims/claim.events.ts';
import type { CustomerEvent } from '../../libs/domain/customers/customer.events.ts';
import type { ExternalAccountEvent } from '../../libs/domain/external-accounts/external-account.events.ts';
import type { UmaDepositEvent } from '../../libs/domain/external-accounts/uma-deposit.events.ts';
import type { IncomingPaymentEvent } from '../../libs/domain/incoming-payments/incoming-payment.events.ts';
import type { InvitationEvent } from '../../libs/domain/invitations/invitation.events.ts';
import type { OperationEvent } from '../../libs/domain/operations/operation.events.ts';
import type { PaymentEvent } from '../../libs/domain/payments/payment.events.ts';
import type { PlatformEvent } from '../../libs/domain/platforms/platform.events.ts';
import type { SweepEvent } from '../../libs/domain/sweeps/sweep.events.ts';
import type { TokenEvent } from '../../libs/domain/tokens/token.events.ts';
import type { Event } from '../../libs/kernel/messages.ts';
import type { COMMAND_REFUSED, CommandRefusedData } from '../../libs/kernel/refusal.ts';
import { incomingPayments } from './incoming-payments.examples.ts';
import { invitationExamples } from './invitations.examples.ts';
import { platformExamples } from './platforms.examples.ts';

type StoredEvent =
  | Event<typeof COMMAND_REFUSED, CommandRefusedData & { accountId: string }>
  | AccountEvent
  | ClaimEvent
  | CustomerEvent
  | ExternalAccountEvent
  | IncomingPaymentEvent
  | InvitationEvent
  | OperationEvent
  | PaymentEvent
  | PlatformEvent
  | SweepEvent
  | TokenEvent
  | UmaDepositEvent;

const platform = '0199dd29-0000-7000-8000-000000000001';
export const tenantId = `${platform}.sandbox`;
const accountId = '0199dd29-1111-7000-8000-00000000000a';
const customerId = '0199dd29-2222-7000-8000-00000000000c';
const externalAccountId = '0199dd29-3333-7000-8000-00000000000e';
const paymentId = '0199dd29-4444-7000-8000-00000000000f';
const tokenId = '0199dd29-5555-7000-8000-00000000000b';
const challengeId = '0199dd29-6666-7000-8000-00000000000d';
const claimId = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const leg: Leg = {
  accountId,
  currency: 'USD',
  amountMinor: 9_007_199_254_740_993n,
  counterpart: `transit:USD`,
  paymentId,
};
const entry = { from: 'transit:USD', to: 'fees:USD', currency: 'USD', amountMinor: 500n };
const deposit: Deposit = {
  accountId,
  currency: 'USD',
  amountMinor: 12_345n,
  counterpart: 'mint:USD',
  paymentId,
  tenantId,
  customerId,
  platformCustomerId: 'user-42',
  reference: 'FUND-0199DD29',
};
const sweepId = '0199dd29-8888-7000-8000-0000000000a8';
const sweepRule: SweepRule = {
  canonicalAccountId: '0199dd29-9999-7000-8000-0000000000a9',
  destination: { kind: 'EXTERNAL', accountId: externalAccountId, paymentRail: 'ACH' },
  purposeOfPayment: 'SELF',
  minimumMinor: 1n,
  maximumMinor: 1_000_000_000n,
};
const sweepTexts = { label: 'Rent', description: 'Rent of flat 3', remittanceInformation: 'Inv. 7' };
const outcome = { externalAccountId, challengeId, method: 'WALLET_SIGNATURE', previousStatus: 'UNVERIFIED' } as const;

/**
 * One realistic example of the data of each event type, from which `make.ts` writes the golden file that is missing. A golden file
 * that is there is never written again, whatever changes here.
 */
export const examples: { readonly [T in StoredEvent['type']]?: Extract<StoredEvent, { type: T }>['data'] } = {
  AccountOpened: {
    accountId,
    tenantId,
    customerId,
    platformCustomerId: 'user-42',
    currency: 'USD',
    type: 'INTERNAL_FIAT',
  },
  DepositReceived: deposit,
  AccountCredited: { ...leg, entries: [entry] },
  AccountDebited: leg,
  FundsPended: leg,
  FundsPosted: { ...leg, entries: [entry] },
  FundsVoided: leg,
  AccountClosed: { accountId },
  AccountReopened: { accountId },
  SweepRuleSet: { accountId, subject: customerId, rule: sweepRule, ...sweepTexts },
  SweepRequested: { accountId, paymentId, amountMinor: 12_345n },
  SweepsStarted: { accountId, paymentIds: [paymentId] },

  SweepStarted: {
    sweepId,
    tenantId,
    customerId,
    platformCustomerId: 'user-42',
    accountId,
    canonicalAccountId: sweepRule.canonicalAccountId,
    destination: sweepRule.destination,
    currency: 'USD',
    amountMinor: 12_345n,
    incomingPaymentId: paymentId,
  },
  SweepQuoted: {
    sweepId,
    subject: customerId,
    quote: {
      paymentId,
      tenantId,
      type: 'OUTGOING',
      customerId,
      platformCustomerId: 'user-42',
      source: { kind: 'INTERNAL', accountId, currency: 'USD', customerId },
      destination: {
        kind: 'EXTERNAL',
        accountId: externalAccountId,
        currency: 'USD',
        paymentRail: 'ACH',
        railSelectionMode: 'MANUAL',
      },
      terms: {
        sendingCurrency: 'USD',
        receivingCurrency: 'USD',
        sendingMinor: 12_345n,
        receivingMinor: 12_345n,
        serviceFeeMinor: 0n,
        platformFeeMinor: 0n,
        convertedMinor: 12_345n,
        exchangeRate: '1',
        rateAsOf: '2025-10-13T12:00:00.000Z',
      },
      dailyLimitMinor: 5_000_000_000n,
      immediatelyExecute: true,
      day: '2025-10-13',
      purposeOfPayment: 'SELF',
      reference: 'SWEEP-0199DD29',
      expiresAt: '2025-10-13T12:05:00.000Z',
    },
    description: 'Rent of flat 3',
    remittanceInformation: 'Inv. 7',
  },
  SweepSent: { sweepId, paymentId },
  SweepPending: { sweepId, checkAt: '2025-10-13T12:00:30.000Z' },
  SweepWoken: { sweepId },
  SweepCompleted: { sweepId },
  SweepFailed: { sweepId, reason: 'NO_ELIGIBLE_RAIL' },
  SweepFallbackReturned: { sweepId, checkAt: '2025-10-13T12:00:30.000Z' },
  SweepFellBack: { sweepId },
  SweepLost: { sweepId },

  ValueClaimed: { claimId, rule: 'UMA_ADDRESS', owner: customerId },
  ValueReleased: { claimId, rule: 'UMA_ADDRESS', owner: customerId },

  CustomerCreated: {
    customerId,
    tenantId,
    customerType: 'INDIVIDUAL',
    platformCustomerId: 'user-42',
    umaAddress: '$amina@pay.example',
    region: 'NG',
    currencies: ['NGN', 'USD'],
    claims: [{ rule: 'UMA_ADDRESS', claimId, epoch: 1 }],
    profile: {
      fullName: 'Amina Diop “Ami” ﷽ 😀',
      birthDate: '1990-01-15',
      email: 'amina@example.com',
      nationality: 'SN',
    },
    identifier: '123-45-6789',
    endUserTermsConsent: {
      acceptedAt: '2025-10-13T11:59:00.000Z',
      ipAddress: '203.0.113.7',
      termsVersion: '2025-01',
      acceptanceMethod: 'CLICK_TO_ACCEPT',
    },
    termsVersion: '2025-01',
    verificationStatus: 'APPROVED',
    isAwaitingTerms: false,
    accounts: ['NGN', 'USD'],
  },
  CustomerUpdated: {
    customerId,
    currencies: ['NGN', 'USD', 'EUR'],
    umaAddress: '$ami@pay.example',
    claim: { rule: 'UMA_ADDRESS', claimId, epoch: 2 },
    profile: { fullName: 'Amina D. Diop' },
    accounts: ['EUR'],
  },
  CustomerAccountsOpened: { customerId, currencies: ['NGN', 'USD'] },
  CustomerClaimsReleased: { customerId, claimIds: [claimId] },
  CustomerDeletionStarted: { customerId },
  CustomerAccountsClosed: { customerId, currencies: ['NGN', 'USD'] },
  CustomerDeletionRefused: { customerId, closed: ['NGN'] },
  CustomerRestored: { customerId },
  CustomerDeleted: { customerId },
  PersonErased: { customerId, externalAccountIds: [externalAccountId] },
  CreationAbandoned: { customerId },
  ClaimForgone: { customerId, claimId, epoch: 1 },
  VerificationStarted: { customerId, status: 'PENDING' },
  VerificationResolved: { customerId, status: 'APPROVED' },
  RuleAccountRequested: { customerId, accountId, currency: 'USD', rule: sweepRule, ...sweepTexts },
  RuleAccountsOpened: { customerId, accountIds: [accountId] },

  ExternalAccountAdded: {
    externalAccountId,
    tenantId,
    customerId,
    subjectId: customerId,
    status: 'ACTIVE',
    currency: 'EUR',
    accountType: 'EUR_ACCOUNT',
    accountInfo: {
      accountType: 'EUR_ACCOUNT',
      iban: 'DE89370400440532013000',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amina Diop' },
    },
    identifierSuffix: '000',
    paymentRails: ['SEPA', 'SEPA_INSTANT'],
    isSelfCustody: false,
    isPullable: false,
    platformAccountId: 'payout-1',
    ownershipType: 'FIRST_PARTY',
    beneficiaryVerificationStatus: 'MATCHED',
    verifiedFullName: 'AMINA DIOP',
    claimId,
    isDefaultWanted: true,
  },
  OwnershipChallengeStarted: {
    externalAccountId,
    subjectId: customerId,
    previousStatus: 'UNVERIFIED',
    challengeId,
    method: 'WALLET_SIGNATURE',
    expiresAt: '2025-10-13T12:15:00.000Z',
    messageToSign: 'I own 0x52908400098527886E0F7030069857D2E4169EE7',
  },
  OwnershipVerified: outcome,
  OwnershipVerificationFailed: { ...outcome, reason: 'WRONG_SIGNER' },
  ExternalAccountMadeDefault: { externalAccountId },
  ExternalAccountDeleted: { externalAccountId },
  ExternalAccountReleased: { externalAccountId },
  ExternalAccountAbandoned: { externalAccountId },
  UmaDepositAccountChosen: { customerId, tenantId, externalAccountId, addedAt: '2025-10-13T12:00:00.000Z' },
  UmaDepositAccountCleared: { customerId, externalAccountId },

  PaymentQuoted: {
    paymentId,
    tenantId,
    type: 'OUTGOING',
    customerId,
    platformCustomerId: 'user-42',
    source: { kind: 'INTERNAL', accountId, currency: 'USD', customerId },
    destination: {
      kind: 'EXTERNAL',
      accountId: externalAccountId,
      currency: 'EUR',
      paymentRail: 'SEPA',
      railSelectionMode: 'AUTO',
    },
    terms: {
      sendingCurrency: 'USD',
      receivingCurrency: 'EUR',
      sendingMinor: 100_000n,
      receivingMinor: 91_540n,
      serviceFeeMinor: 500n,
      platformFeeMinor: 0n,
      convertedMinor: 99_500n,
      exchangeRate: '1.08695652',
      rateAsOf: '2025-10-13T12:00:00.000Z',
    },
    immediatelyExecute: true,
    purposeOfPayment: 'GIFT',
    reference: 'PAY-0199DD29',
    expiresAt: '2025-10-13T12:05:00.000Z',
  },
  ReceiverErased: { paymentId },
  PaymentDescribed: { paymentId, subject: customerId, description: 'Rent', remittanceInformation: 'Inv. 7 “final”' },
  CounterpartyTold: { paymentId, subject: customerId, counterpartyInformation: { FULL_NAME: 'Kofi Mensah' } },
  ExecutionRequested: { paymentId },
  ExecutionRefused: { paymentId, code: 'INVALID_INPUT', reason: 'INSUFFICIENT_FUNDS' },
  PaymentStarted: { paymentId },
  RailPending: { paymentId, checkAt: '2025-10-13T12:00:30.000Z' },
  PaymentWoken: { paymentId },
  RailAccepted: { paymentId, watchUntil: '2025-10-13T12:06:00.000Z', entries: [entry] },
  PaymentCompleted: { paymentId },
  ReturnExcluded: { paymentId },
  PaymentFailed: { paymentId, failureReason: 'PAYOUT_RETURNED', isRefunded: true, isFeeCredited: true },
  PaymentCancelled: { paymentId },
  RefundAccepted: { paymentId },
  RefundRefused: { paymentId },
  PlatformFeeReversed: { paymentId, entries: [entry] },
  RefundCompleted: { paymentId, entries: [entry] },
  RefundFailed: { paymentId, entries: [entry] },
  PaymentExpired: { paymentId },
  FundingReceived: { paymentId, amountMinor: 100_000n, entries: [entry] },
  FundingSenderNamed: {
    paymentId,
    subject: customerId,
    sender: {
      accountHolderName: 'Amina Diop',
      accountIdentifier: 'DE89370400440532013000',
      bankName: 'Commerzbank',
      bankIdentifier: 'COBADEFF',
      paymentRail: 'SEPA',
      remittanceInformation: 'PAY-0199DD29',
      endToEndId: 'E2E-7',
      traceNumber: '021000021000001',
    },
  },
  CancellationRequested: {
    paymentId,
    subject: customerId,
    requestedAt: '2025-10-13T12:01:00.000Z',
    reason: 'Sent to the wrong person',
  },
  CancellationRefused: { paymentId },
  ReceiptDeliveryConfirmed: { paymentId, receiptDeliveryConfirmedAt: '2025-10-13T12:02:00.000Z' },

  ...incomingPayments,
  PersonalDataRevealed: {
    operationId: '0199dd29-7777-7000-8000-00000000000a',
    by: 'amina@desk',
    command: 'export',
    from: '2025-10-01',
    to: '41',
    types: ['CustomerCreated'],
    customerId,
    upTo: 41,
  },

  TokenIssued: {
    tokenId,
    platform,
    environment: 'sandbox',
    name: 'Backend',
    permissions: ['VIEW', 'TRANSACT'],
    clientId: '0199dd295555700080000000000000b0',
    secretHash: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  },
  TokenRevoked: { tokenId },

  ...platformExamples,
  ...invitationExamples,

  CommandRefused: {
    accountId,
    command: 'DebitAccount',
    code: 'INVALID_INPUT',
    message: 'The account does not hold enough available funds.',
    details: { reason: 'INSUFFICIENT_FUNDS' },
  },
};
