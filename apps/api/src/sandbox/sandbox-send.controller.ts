import { Body, Controller, Inject, Post } from '@nestjs/common';
import type { PaymentState } from '../../../../libs/domain/payments/payment.ts';
import { platformPublicId } from '../../../../libs/domain/platforms/platform.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { sandboxSender } from '../../../../libs/providers/funding.sandbox.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { TransactionOneOf, transactionView } from '../../../../projections/transaction.view.ts';
import { Quoting } from '../quotes/quoting.ts';
import { SandboxSendBody } from './sandbox.bodies.ts';

@Controller('sandbox')
export class SandboxSendController {
  constructor(@Inject(Quoting) private readonly quoting: Quoting) {}

  @Post('send')
  @Operation({
    summary: 'Send money for a quote',
    description:
      'Stands in for money that arrives by the payment instructions of a quote. Exactly the amount asked for makes the transfer go on; any ' +
      'other amount makes it `FAILED` with `FUNDING_AMOUNT_MISMATCH`, and a refund takes the money back. Another currency is refused with ' +
      '`400 INVALID_CURRENCY`, a quote that does not wait for money with `409 CONFLICT`.',
    tag: 'Sandbox',
    success: { 200: TransactionOneOf },
    errors: [404],
    sealed: true,
    permission: 'TRANSACT',
    sandboxOnly: true,
  })
  send(@Body() { quoteId, currencyCode, currencyAmount }: SandboxSendBody, @CurrentCaller() caller: Caller) {
    const { tenant } = caller;
    const money = {
      currency: currencyCode,
      ...(currencyAmount !== undefined && { amountMinor: BigInt(currencyAmount) }),
      senderOf: ({ funding, reference }: PaymentState) =>
        funding && sandboxSender(reference, funding.instructions, funding.cryptoNetwork),
    };
    return this.quoting.fund(caller, parsePublicId('Quote', quoteId)!, money, {
      view: (state, now) => transactionView(state, now, platformPublicId(tenant)),
    });
  }
}
