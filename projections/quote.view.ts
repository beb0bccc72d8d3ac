import { type Static, Type } from 'typebox';
import type { PaymentDestination } from '../libs/domain/payments/payment.events.ts';
import type { PaymentState, PaymentStatus } from '../libs/domain/payments/payment.ts';
import { publicId } from '../libs/kernel/ids.ts';
import { currency, toWire } from '../libs/kernel/money.ts';
import { cryptoNetworks } from '../libs/kernel/rails.ts';
import { Currency } from './currency.view.ts';
import { ERASED_UMA_ADDRESS } from './customer.view.ts';
import { PaymentInstructions } from './payment-instructions.view.ts';
import { PaymentRail } from './payment-rail.view.ts';
import { amountOf, ExchangeRateNumber } from './payment-source.view.ts';
import { accountPublicId } from './payments.ts';

export const AccountQuoteSource = Type.Object(
  {
    sourceType: Type.Literal('ACCOUNT'),
    accountId: Type.String({ description: 'An internal account, or an external one that can be pulled from.' }),
    customerId: Type.Optional(Type.String()),
  },
  { $id: 'AccountQuoteSource' },
);

export const RealtimeFundingQuoteSource = Type.Object(
  {
    sourceType: Type.Literal('REALTIME_FUNDING'),
    customerId: Type.Optional(Type.String()),
    currency: Type.String(),
    cryptoNetwork: Type.Optional(Type.Enum([...cryptoNetworks])),
  },
  { $id: 'RealtimeFundingQuoteSource' },
);

export const UmaAddressQuoteSource = Type.Object(
  {
    sourceType: Type.Literal('UMA_ADDRESS'),
    umaAddress: Type.String(),
    currency: Type.String(),
    cryptoNetwork: Type.Optional(Type.Enum([...cryptoNetworks])),
  },
  { $id: 'UmaAddressQuoteSource' },
);

export const AccountDestination = Type.Object(
  {
    destinationType: Type.Literal('ACCOUNT'),
    accountId: Type.String(),
    paymentRail: Type.Optional(PaymentRail),
  },
  { $id: 'AccountDestination' },
);

export const UmaAddressDestination = Type.Object(
  {
    destinationType: Type.Literal('UMA_ADDRESS'),
    umaAddress: Type.String(),
    currency: Type.Optional(Type.String()),
  },
  { $id: 'UmaAddressDestination' },
);

export const QuoteSourceOneOf = Type.Union([AccountQuoteSource, RealtimeFundingQuoteSource, UmaAddressQuoteSource], {
  $id: 'QuoteSourceOneOf',
  discriminator: { propertyName: 'sourceType' },
});

export const QuoteDestinationOneOf = Type.Union([AccountDestination, UmaAddressDestination], {
  $id: 'QuoteDestinationOneOf',
  discriminator: { propertyName: 'destinationType' },
});

export const CounterpartyInformation = Type.Object(
  {},
  {
    $id: 'CounterpartyInformation',
    additionalProperties: true,
    description:
      'What the other side told of its customer, by `CustomerInfoFieldName`: any JSON, objects and lists included.',
  },
);

export const Quote = Type.Object(
  {
    id: Type.String({ examples: ['Quote:019542f5-b3e7-1d02-0000-000000000025'] }),
    status: Type.Enum(['PENDING', 'PENDING_AUTHORIZATION', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED']),
    createdAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time' }),
    source: QuoteSourceOneOf,
    destination: QuoteDestinationOneOf,
    sendingCurrency: Currency,
    receivingCurrency: Currency,
    totalSendingAmount: amountOf('What leaves the source, fees included. Smallest unit of the sending currency.', 1),
    totalReceivingAmount: amountOf('What arrives. Smallest unit of the receiving currency.', 1),
    exchangeRate: ExchangeRateNumber,
    feesIncluded: amountOf('All fees, part of `totalSendingAmount`.'),
    platformFeesIncluded: amountOf("The platform's fees, part of `feesIncluded`."),
    paymentInstructions: Type.Optional(
      Type.Array(PaymentInstructions, {
        description:
          'Where to send the money that the quote waits for: any one of these, exactly `totalSendingAmount`.',
      }),
    ),
    counterpartyInformation: Type.Optional(CounterpartyInformation),
    transactionId: Type.String({ description: 'The transaction is made with the quote, in `PENDING`.' }),
  },
  { $id: 'Quote' },
);
export type Quote = Static<typeof Quote>;

/** The status at a time: an open quote past its expiry is expired, whether or not the timer has recorded it yet (decision 7). */
export const statusAt = (state: Pick<PaymentState, 'phase' | 'status' | 'expiresAt'>, now: string): PaymentStatus =>
  state.phase === 'OPEN' && now >= state.expiresAt ? 'EXPIRED' : state.status;

/** A quote as the API shows it at a time. */
export function quoteView(state: PaymentState, now: string): Quote {
  const { terms, funding } = state;
  return {
    id: publicId('Quote', state.paymentId),
    status: statusAt(state, now),
    createdAt: state.createdAt,
    expiresAt: state.expiresAt,
    source: sourceOf(state),
    destination: destinationOf(state),
    sendingCurrency: currency(terms.sendingCurrency),
    receivingCurrency: currency(terms.receivingCurrency),
    totalSendingAmount: toWire(terms.sendingMinor),
    totalReceivingAmount: toWire(terms.receivingMinor),
    exchangeRate: Number(terms.exchangeRate),
    feesIncluded: toWire(terms.serviceFeeMinor + terms.platformFeeMinor),
    platformFeesIncluded: toWire(terms.platformFeeMinor),
    ...(funding && { paymentInstructions: [...funding.instructions] }),
    ...(state.counterpartyInformation && { counterpartyInformation: { ...state.counterpartyInformation } }),
    transactionId: publicId('Transaction', state.paymentId),
  };
}

function sourceOf({ source, customerId, funding, sourceUmaAddress }: PaymentState): Quote['source'] {
  const owner = customerId ? { customerId: publicId('Customer', customerId) } : {};
  const accountId = accountPublicId(source);
  if (accountId) return { sourceType: 'ACCOUNT', accountId, ...owner };
  const network = funding?.cryptoNetwork ? { cryptoNetwork: funding.cryptoNetwork } : {};
  const money = { currency: source.currency, ...network };
  return sourceUmaAddress
    ? { sourceType: 'UMA_ADDRESS', umaAddress: sourceUmaAddress, ...money }
    : { sourceType: 'REALTIME_FUNDING', ...owner, ...money };
}

function destinationOf({ destination, destinationUmaAddress }: PaymentState): Quote['destination'] {
  if (destination.kind === 'UMA') {
    const umaAddress = destinationUmaAddress ?? ERASED_UMA_ADDRESS;
    return { destinationType: 'UMA_ADDRESS', umaAddress, currency: destination.currency };
  }
  return { destinationType: 'ACCOUNT', accountId: accountPublicId(destination)!, ...railOf(destination) };
}

const railOf = ({ paymentRail }: PaymentDestination) => (paymentRail ? { paymentRail } : {});
