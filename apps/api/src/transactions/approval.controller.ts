import { Body, Controller, Inject, Param, Post } from '@nestjs/common';
import { ApprovePayment, RejectPayment } from '../../../../libs/domain/incoming-payments/incoming-payment.commands.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { IncomingTransaction } from '../../../../projections/transaction.view.ts';
import { Receiving } from '../receivers/receiving.ts';
import { ApprovePaymentRequest, RejectPaymentRequest } from './approval.bodies.ts';

@Controller('transactions')
export class ApprovalController {
  constructor(@Inject(Receiving) private readonly receiving: Receiving) {}

  @Post(':transactionId/approve')
  @Operation({
    summary: 'Approve an incoming payment',
    description: 'For a payment whose approval webhook has been sent and not yet decided upon (docs/webhooks.md).',
    tag: 'Transactions',
    success: { 200: IncomingTransaction },
    errors: [404],
    sealed: true,
    permission: 'TRANSACT',
  })
  async approve(
    @Param('transactionId') id: string,
    @Body() { receiverCustomerInfo }: ApprovePaymentRequest,
    @CurrentCaller() caller: Caller,
  ) {
    const paymentId = await this.receiving.pending(caller, id);
    const info = receiverCustomerInfo && { receiverCustomerInfo: { ...receiverCustomerInfo } };
    return this.receiving.decide(caller, new ApprovePayment({ paymentId, ...info }));
  }

  @Post(':transactionId/reject')
  @Operation({
    summary: 'Reject an incoming payment',
    tag: 'Transactions',
    success: { 200: IncomingTransaction },
    errors: [404],
    sealed: true,
    permission: 'TRANSACT',
  })
  async reject(
    @Param('transactionId') id: string,
    @Body() { reason }: RejectPaymentRequest,
    @CurrentCaller() caller: Caller,
  ) {
    const paymentId = await this.receiving.pending(caller, id);
    return this.receiving.decide(caller, new RejectPayment({ paymentId, ...(reason !== undefined && { reason }) }));
  }
}
