import {
  PageQuery,
  QueryOneOf,
  QueryText,
  QueryTimestamp,
  Text,
  Timestamp,
} from '../../../../libs/runtime/http/index.ts';

const statuses = [
  'CREATED',
  'PENDING',
  'PENDING_AUTHORIZATION',
  'PROCESSING',
  'COMPLETED',
  'REJECTED',
  'FAILED',
  'REFUNDED',
  'EXPIRED',
];

export class TransactionsQuery extends PageQuery {
  @QueryText({ max: 100, description: "A customer's id, or the platform's for its own transactions." })
  customerId?: string;

  @QueryText({ max: 255 })
  platformCustomerId?: string;

  @QueryText({ max: 255, description: 'Id of the sending or the receiving account.' })
  accountIdentifier?: string;

  @QueryText({ max: 255 })
  senderAccountIdentifier?: string;

  @QueryText({ max: 255 })
  receiverAccountIdentifier?: string;

  @QueryOneOf(statuses)
  status?: string;

  @QueryOneOf(['INCOMING', 'OUTGOING', 'CARD'])
  type?: string;

  @QueryText({ max: 255, description: 'The reference of the reconciliation instructions.' })
  reference?: string;

  @QueryTimestamp({ description: 'Created at or after this time.' })
  startDate?: string;

  @QueryTimestamp({ description: 'Created at or before this time.' })
  endDate?: string;

  @QueryOneOf(['asc', 'desc'])
  sortOrder?: 'asc' | 'desc';
}

export class CancelTransactionBody {
  @Text({ optional: true, max: 1_000, description: 'Kept with the transaction.' })
  reason?: string;
}

export class ConfirmReceiptDeliveryBody {
  @Timestamp({ optional: true, description: 'When the receiver was told; now when absent.' })
  receiptDeliveryConfirmedAt?: string;
}
