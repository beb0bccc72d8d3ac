import { Controller, Inject, Post } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation, type Submitted, SubmittedBody } from '../../../../libs/runtime/http/index.ts';
import { IncomingTransaction } from '../../../../projections/transaction.view.ts';
import { Receiving } from '../receivers/receiving.ts';
import { SandboxUmaReceiveBody } from './uma.bodies.ts';

@Controller('sandbox/uma')
export class SandboxUmaController {
  constructor(@Inject(Receiving) private readonly receiving: Receiving) {}

  @Post('receive')
  @Operation({
    summary: 'Receive a UMA payment',
    description:
      'Stands in for a payment that somebody elsewhere sends to the UMA address of a customer. The transaction is `PENDING` until your ' +
      'answer to `INCOMING_PAYMENT.PENDING` has decided.',
    tag: 'Sandbox',
    success: { 200: IncomingTransaction },
    errors: [404, 501],
    keyedByCommit: true,
    sealed: true,
    permission: 'TRANSACT',
    sandboxOnly: true,
  })
  receive(
    @SubmittedBody(SandboxUmaReceiveBody) body: Submitted<SandboxUmaReceiveBody>,
    @CurrentCaller() caller: Caller,
  ) {
    return this.receiving.announce(caller, body);
  }
}
