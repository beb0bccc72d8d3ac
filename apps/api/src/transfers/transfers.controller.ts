import { Body, Controller, Inject, Post } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { TransactionOneOf } from '../../../../projections/transaction.view.ts';
import { TransferInBody, TransferOutBody } from './transfers.bodies.ts';
import { Transfers } from './transfers.ts';

@Controller()
export class TransfersController {
  constructor(@Inject(Transfers) private readonly transfers: Transfers) {}

  @Post('transfer-in')
  @Operation({
    summary: 'Transfer from an external account',
    description: 'Deprecated: make a quote with `immediatelyExecute` instead. The outcome follows on the transaction.',
    tag: 'Transfers',
    success: { 201: TransactionOneOf },
    errors: [404, 410, 501],
    deprecated: true,
    sealed: true,
    permission: 'TRANSACT',
  })
  in(@Body() body: TransferInBody, @CurrentCaller() caller: Caller) {
    return this.transfers.in(caller, body);
  }

  @Post('transfer-out')
  @Operation({
    summary: 'Transfer to an external account',
    description: 'Deprecated: make a quote with `immediatelyExecute` instead. The outcome follows on the transaction.',
    tag: 'Transfers',
    success: { 201: TransactionOneOf },
    errors: [404, 410, 429, 501],
    deprecated: true,
    sealed: true,
    permission: 'TRANSACT',
  })
  out(@Body() body: TransferOutBody, @CurrentCaller() caller: Caller) {
    return this.transfers.out(caller, body);
  }
}
