import { type Static, Type } from 'typebox';
import { hasQuote, type PaymentState } from '../libs/domain/payments/payment.ts';
import { publicId } from '../libs/kernel/ids.ts';
import { currencyAmount, toWire } from '../libs/kernel/money.ts';
import { cryptoNetworks } from '../libs/kernel/rails.ts';
import { PageOf } from '../libs/runtime/http/page-of.ts';
import { CurrencyAmount } from './currency.view.ts';
import { ERASED_UMA_ADDRESS } from './customer.view.ts';
import { PaymentInstructions } from './payment-instructions.view.ts';
import { PaymentRail } from './payment-rail.view.ts';
import { amountOf, ExchangeRateNumber } from './payment-source.view.ts';
import { accountPublicId, type TransactionState } from './payments.ts';
import { CounterpartyInformation, statusAt } from './quote.view.ts';

const time = () => Type.String({ format: 'date-time' });

export const AccountTransactionSource = Type.Object(
  { sourceType: Type.Literal('ACCOUNT'), accountId: Type.String(), currency: Type.Optional(Type.String()) },
  { $id: 'AccountTransactionSource' },
);

export const OnChainTransaction = Type.Object(
  { transactionHash: Type.String(), network: Type.Enum(cryptoNetworks.filter((one) => one !== 'LIGHTNING')) },
  { $id: 'OnChainTransaction' },
);

export const RealtimeFundingTransactionSource = Type.Object(
  {
    sourceType: Type.Literal('REALTIME_FUNDING'),
    currency: Type.String(),
    customerId: Type.Optional(Type.String()),
    accountHolderName: Type.Optional(Type.String()),
    accountIdentifier: Type.Optional(Type.String()),
    bankName: Type.Optional(Type.String()),
    bankIdentifier: Type.Optional(Type.String()),
    paymentRail: Type.Optional(PaymentRail),
    remittanceInformation: Type.Optional(Type.String()),
    endToEndId: Type.Optional(Type.String()),
    traceNumber: Type.Optional(Type.String()),
    onChainTransaction: Type.Optional(OnChainTransaction),
  },
  { $id: 'RealtimeFundingTransactionSource' },
);

export const UmaAddressTransactionSource = Type.Object(
  { sourceType: Type.Literal('UMA_ADDRESS'), umaAddress: Type.String(), currency: Type.Optional(Type.String()) },
  { $id: 'UmaAddressTransactionSource' },
);

export const TransactionSourceOneOf = Type.Union(
  [AccountTransactionSource, RealtimeFundingTransactionSource, UmaAddressTransactionSource],
  { $id: 'TransactionSourceOneOf', discriminator: { propertyName: 'sourceType' } },
);

export const AccountTransactionDestination = Type.Object(
  { destinationType: Type.Literal('ACCOUNT'), accountId: Type.String(), currency: Type.Optional(Type.String()) },
  { $id: 'AccountTransactionDestination' },
);

export const UmaAddressTransactionDestination = Type.Object(
  { destinationType: Type.Literal('UMA_ADDRESS'), umaAddress: Type.String(), currency: Type.Optional(Type.String()) },
  { $id: 'UmaAddressTransactionDestination' },
);

export const TransactionDestinationOneOf = Type.Union(
  [AccountTransactionDestination, UmaAddressTransactionDestination],
  {
    $id: 'TransactionDestinationOneOf',
    discriminator: { propertyName: 'destinationType' },
  },
);

export const RefundView = Type.Object(
  {
    reference: Type.String(),
    initiatedAt: time(),
    settledAt: Type.Optional(time()),
    status: Type.Enum(['PENDING', 'COMPLETED', 'FAILED']),
    reason: Type.Optional(Type.Enum(['TRANSACTION_FAILED', 'USER_CANCELLATION', 'TIMEOUT'])),
  },
  { $id: 'Refund' },
);

export const ReconciliationInstructions = Type.Object(
  { reference: Type.String() },
  { $id: 'ReconciliationInstructions' },
);

const statuses = ['PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED'] as const;

const common = {
  id: Type.String({ examples: ['Transaction:019542f5-b3e7-1d02-0000-000000000030'] }),
  direction: Type.Enum(['CREDIT', 'DEBIT'], { description: 'Whether money comes in or is taken from the source.' }),
  destination: TransactionDestinationOneOf,
  customerId: Type.String({ description: "Whose transaction it is; the platform's id for its own." }),
  platformCustomerId: Type.String(),
  settledAt: Type.Optional(time()),
  createdAt: time(),
  updatedAt: time(),
  receiptDeliveryConfirmedAt: Type.Optional(time()),
  description: Type.Optional(Type.String()),
  exchangeRate: Type.Optional(ExchangeRateNumber),
  quoteId: Type.Optional(Type.String()),
  refund: Type.Optional(RefundView),
  pendingReason: Type.Optional(
    Type.Enum([
      'COUNTERPARTY_DECLARATION_REQUIRED',
      'WALLET_VERIFICATION_REQUIRED',
      'COUNTERPARTY_INFORMATION_REQUIRED',
      'COMPLIANCE_REVIEW',
    ]),
  ),
  counterpartyInformation: Type.Optional(CounterpartyInformation),
  agentId: Type.Optional(Type.String({ description: 'The agent that began the transaction.' })),
  fees: Type.Optional(amountOf('All fees, in the smallest unit of the sending currency.')),
  reconciliationInstructions: Type.Optional(ReconciliationInstructions),
};

export const IncomingTransaction = Type.Object(
  {
    ...common,
    status: Type.Enum(['CREATED', ...statuses, 'REJECTED', 'REFUNDED']),
    type: Type.Literal('INCOMING'),
    source: Type.Optional(TransactionSourceOneOf),
    sentAmount: Type.Optional(CurrencyAmount),
    receivedAmount: CurrencyAmount,
    failureReason: Type.Optional(
      Type.Enum([
        'LNURLP_FAILED',
        'PAY_REQUEST_FAILED',
        'PAYMENT_APPROVAL_WEBHOOK_ERROR',
        'PAYMENT_APPROVAL_TIMED_OUT',
        'OFFRAMP_FAILED',
        'MISSING_MANDATORY_PAYEE_DATA',
        'QUOTE_EXPIRED',
        'QUOTE_EXECUTION_FAILED',
        'COMPLIANCE_REJECTED',
        'COLLECTION_FAILED',
      ]),
    ),
  },
  { $id: 'IncomingTransaction' },
);

export const OutgoingTransaction = Type.Object(
  {
    ...common,
    status: Type.Enum([...statuses]),
    type: Type.Literal('OUTGOING'),
    source: TransactionSourceOneOf,
    sentAmount: CurrencyAmount,
    receivedAmount: Type.Optional(CurrencyAmount),
    paymentInstructions: Type.Optional(Type.Array(PaymentInstructions)),
    platformFees: Type.Optional(amountOf("The platform's part of the fees.")),
    failureReason: Type.Optional(
      Type.Enum([
        'QUOTE_EXPIRED',
        'QUOTE_EXECUTION_FAILED',
        'FUNDING_AMOUNT_MISMATCH',
        'PAYOUT_RETURNED',
        'ACCOUNT_CANNOT_RECEIVE',
        'ACCOUNT_INVALID',
        'COMPLIANCE_REJECTED',
        'COUNTERPARTY_POST_TX_FAILED',
      ]),
    ),
    expectedSettlementAt: Type.Optional(Type.Union([time(), Type.Null()])),
    settlementTimelineSeconds: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
    paymentRail: Type.Optional(Type.Union([PaymentRail, Type.Null()])),
    railSelectionMode: Type.Optional(Type.Union([Type.Enum(['AUTO', 'MANUAL']), Type.Null()])),
  },
  { $id: 'OutgoingTransaction' },
);

export const TransactionOneOf = Type.Union([IncomingTransaction, OutgoingTransaction], {
  $id: 'TransactionOneOf',
  discriminator: { propertyName: 'type' },
});
export type TransactionView = Static<typeof TransactionOneOf>;

export const TransactionListResponse = PageOf(TransactionOneOf, 'TransactionListResponse');

/**
 * A transaction as the API shows it at a time. `owner` is what `customerId` says for the platform's own. Lists and webhooks make many:
 * fields are set one by one, for objects put together from parts cost several times as much.
 */
export function transactionView(state: PaymentState, now: string, owner: string): TransactionView {
  const { terms, customerId, paymentId, type } = state;
  const isReceived = state.source.kind === 'UMA';
  const isIncoming = type === 'INCOMING';
  const view: Record<string, unknown> = {
    id: publicId('Transaction', paymentId),
    status: statusAt(state, now),
    destination: destinationOf(state),
    customerId: customerId ? publicId('Customer', customerId) : owner,
    platformCustomerId: state.platformCustomerId,
  };
  if (state.settledAt) view.settledAt = state.settledAt;
  view.createdAt = state.createdAt;
  view.updatedAt = state.updatedAt;
  if (state.receiptDeliveryConfirmedAt) view.receiptDeliveryConfirmedAt = state.receiptDeliveryConfirmedAt;
  if (state.description !== undefined) view.description = state.description;
  if (hasQuote(state)) {
    view.exchangeRate = Number(terms.exchangeRate);
    view.quoteId = publicId('Quote', paymentId);
  }
  if (isReceived) addCounterparty(view, state);
  else if (state.counterpartyInformation) view.counterpartyInformation = state.counterpartyInformation;
  if (state.refund) view.refund = state.refund;
  view.fees = toWire(terms.serviceFeeMinor + terms.platformFeeMinor);
  view.reconciliationInstructions = { reference: state.reference };
  const failureReason = view.status === 'EXPIRED' ? 'QUOTE_EXPIRED' : state.failureReason;
  if (failureReason) view.failureReason = failureReason;
  view.type = type;
  view.direction = isIncoming && !hasQuote(state) ? 'CREDIT' : 'DEBIT';
  view.source = sourceOf(state);
  view.sentAmount = currencyAmount(terms.sendingMinor, terms.sendingCurrency);
  view.receivedAmount = currencyAmount(terms.receivingMinor, terms.receivingCurrency);
  if (!isIncoming) {
    if (state.funding) view.paymentInstructions = state.funding.instructions;
    if (state.phase === 'WAITING') addTimeline(view, state);
    view.platformFees = toWire(terms.platformFeeMinor);
    view.paymentRail = state.destination.paymentRail ?? null;
    view.railSelectionMode = state.destination.railSelectionMode ?? null;
  }
  return view as TransactionView;
}

/** What an incoming UMA payment waits for, and what is known of its sender. */
function addCounterparty(view: Record<string, unknown>, state: TransactionState): void {
  const { status, requestedFields = [], senderCustomerInfo } = state;
  if (status === 'PENDING' && requestedFields.some(({ mandatory }) => mandatory))
    view.pendingReason = 'COUNTERPARTY_INFORMATION_REQUIRED';
  if (senderCustomerInfo) view.counterpartyInformation = senderCustomerInfo;
}

function destinationOf({ destination, destinationUmaAddress, terms }: PaymentState) {
  const currency = terms.receivingCurrency;
  if (destination.kind === 'UMA') {
    return {
      destinationType: 'UMA_ADDRESS' as const,
      umaAddress: destinationUmaAddress ?? ERASED_UMA_ADDRESS,
      currency,
    };
  }
  return { destinationType: 'ACCOUNT' as const, accountId: accountPublicId(destination)!, currency };
}

/** When the rail will have decided, as it says while it has the order. */
function addTimeline(view: Record<string, unknown>, { waitUntil, orderedAt, startedAt }: PaymentState): void {
  view.expectedSettlementAt = waitUntil;
  const tookFrom = Date.parse(orderedAt ?? startedAt!);
  view.settlementTimelineSeconds = Math.max(0, Math.round((Date.parse(waitUntil!) - tookFrom) / 1_000));
}

function sourceOf(state: TransactionState) {
  const { source, terms, customerId, sourceUmaAddress } = state;
  if (source.kind === 'UMA') {
    const umaAddress = state.senderUmaAddress ?? ERASED_UMA_ADDRESS;
    return { sourceType: 'UMA_ADDRESS' as const, umaAddress, currency: terms.sendingCurrency };
  }
  const accountId = accountPublicId(source);
  if (accountId) return { sourceType: 'ACCOUNT' as const, accountId, currency: terms.sendingCurrency };
  if (sourceUmaAddress) {
    return { sourceType: 'UMA_ADDRESS' as const, umaAddress: sourceUmaAddress, currency: terms.sendingCurrency };
  }
  return {
    sourceType: 'REALTIME_FUNDING' as const,
    currency: terms.sendingCurrency,
    ...(customerId && { customerId: publicId('Customer', customerId) }),
    ...state.fundingSender,
  };
}
