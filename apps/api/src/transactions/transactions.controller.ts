import { Body, Controller, Get, Inject, Param, Post, Query } from '@nestjs/common';
import type { PaymentState } from '../../../../libs/domain/payments/payment.ts';
import { platformPublicId } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { ReadModel, type TenantQuery } from '../../../../libs/runtime/read-model.ts';
import { payments } from '../../../../projections/payments.ts';
import {
  TransactionListResponse,
  TransactionOneOf,
  transactionView,
} from '../../../../projections/transaction.view.ts';
import { CLOCK } from '../settings.ts';
import { Changing } from './changing.ts';
import { CancelTransactionBody, ConfirmReceiptDeliveryBody, TransactionsQuery } from './transactions.bodies.ts';

@Controller('transactions')
export class TransactionsController {
  constructor(
    @Inject(ReadModel) private readonly readModel: ReadModel,
    @Inject(Changing) private readonly changing: Changing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation({
    summary: 'List transactions',
    description: 'Newest first unless `sortOrder` says otherwise. Transfers between customers are listed for both.',
    tag: 'Transactions',
    success: { 200: TransactionListResponse },
    permission: 'VIEW',
  })
  list(@Query() query: TransactionsQuery, @CurrentCaller() { tenant }: Caller) {
    const now = timestamp(this.clock.nowMs(tenant));
    const view = (state: PaymentState) => transactionView(state, now, platformPublicId(tenant));
    return this.readModel.page(payments, tenant, query, (rows) => narrow(rows, query, tenant, now), view);
  }

  @Get(':transactionId')
  @Operation({
    summary: 'Get a transaction',
    tag: 'Transactions',
    success: { 200: TransactionOneOf },
    errors: [404],
    permission: 'VIEW',
  })
  async get(@Param('transactionId') transactionId: string, @CurrentCaller() { tenant }: Caller) {
    const id = parsePublicId('Transaction', transactionId);
    const state = id && (await this.readModel.byId<PaymentState>(payments, tenant, id));
    if (!state || state.phase === 'REFUSED') throw reject('TRANSACTION_NOT_FOUND');
    return transactionView(state, timestamp(this.clock.nowMs(tenant)), platformPublicId(tenant));
  }

  @Post(':transactionId/cancel')
  @Operation({
    summary: 'Cancel a transaction',
    description:
      'Asks the rail to stop a transfer by ACH or wire that has not settled; other kinds are refused with `400`, settled ones with `409 ' +
      'TRANSACTION_NOT_CANCELLABLE`. When the rail stops a payout, its money comes back: `refund.reason` is `USER_CANCELLATION` and the ' +
      'transaction ends as `COMPLETED`, or as `FAILED` where the refund fails. A stopped collection has taken nothing and ends as ' +
      '`FAILED`. When it is too late for the rail, the transaction goes on.',
    tag: 'Transactions',
    success: { 200: TransactionOneOf },
    errors: [404],
    sealed: true,
    permission: 'TRANSACT',
  })
  cancel(
    @Param('transactionId') id: string,
    @Body() { reason }: CancelTransactionBody,
    @CurrentCaller() caller: Caller,
  ) {
    return this.changing.cancel(caller, id, reason);
  }

  @Post(':transactionId/confirm')
  @Operation({
    summary: 'Confirm the delivery of a receipt',
    description: 'Records when the receiver was told of the payment. May be repeated: the last time holds.',
    tag: 'Transactions',
    success: { 200: TransactionOneOf },
    errors: [404],
    sealed: true,
    permission: 'TRANSACT',
  })
  confirm(
    @Param('transactionId') id: string,
    @Body() { receiptDeliveryConfirmedAt }: ConfirmReceiptDeliveryBody,
    @CurrentCaller() caller: Caller,
  ) {
    return this.changing.confirm(caller, id, receiptDeliveryConfirmedAt);
  }
}

/** The list's filters (facts §1). An open quote past its expiry counts as expired, as the view shows it. */
function narrow(rows: TenantQuery, query: TransactionsQuery, tenant: Tenant, now: string): TenantQuery {
  let narrowed = rows.where('is_listed', '=', true);
  if (query.customerId !== undefined) {
    const customer =
      query.customerId === platformPublicId(tenant) ? '' : (parsePublicId('Customer', query.customerId) ?? 'none');
    narrowed = narrowed.where((where) =>
      where.or([where('customer', '=', customer), where('receiver', '=', customer)]),
    );
  }
  if (query.accountIdentifier !== undefined) {
    const account = query.accountIdentifier;
    narrowed = narrowed.where((where) =>
      where.or([where('source_account', '=', account), where('destination_account', '=', account)]),
    );
  }
  const equal = {
    platform_customer: query.platformCustomerId,
    source_account: query.senderAccountIdentifier,
    destination_account: query.receiverAccountIdentifier,
    type: query.type,
    reference: query.reference,
  };
  for (const [column, value] of Object.entries(equal))
    if (value !== undefined) narrowed = narrowed.where(column, '=', value);
  if (query.startDate !== undefined) narrowed = narrowed.where('created_at', '>=', query.startDate);
  if (query.endDate !== undefined) narrowed = narrowed.where('created_at', '<=', query.endDate);
  if (query.status === undefined) return narrowed;
  const { status } = query;
  return narrowed.where((where) => {
    const isOpen = where('open_until', '>', now);
    if (status === 'EXPIRED') return where.or([where('status', '=', 'EXPIRED'), where('open_until', '<=', now)]);
    if (status === 'PENDING')
      return where.and([where('status', '=', status), where.or([isOpen, where('open_until', 'is', null)])]);
    return where('status', '=', status);
  });
}
