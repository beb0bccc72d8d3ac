import { applyDecorators, Body, Controller, Header, Inject, Post, UseInterceptors } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { TransactionOneOf } from '../../../../projections/transaction.view.ts';
import { CountDeprecated } from './count-deprecated.ts';
import { TransferInBody, TransferOutBody } from './transfers.bodies.ts';
import { Transfers } from './transfers.ts';

/** Since when and until when (docs/transfers.md). The window is longer than the three months that the spec promises. */
const DEPRECATED_AT = new Date('2025-10-13T00:00:00.000Z');
const GONE_AFTER = new Date('2027-10-13T00:00:00.000Z');
const MIGRATION = 'https://github.com/ledgerline/ledgerline/blob/main/docs/transfers.md';

/** RFC 9745, RFC 8594 and RFC 8288, on refusals too. */
const Deprecated = () =>
  applyDecorators(
    Header('Deprecation', `@${DEPRECATED_AT.getTime() / 1_000}`),
    Header('Sunset', GONE_AFTER.toUTCString()),
    Header('Link', `<${MIGRATION}>; rel="deprecation"; type="text/html"`),
    UseInterceptors(CountDeprecated),
  );

@Controller()
export class TransfersController {
  constructor(@Inject(Transfers) private readonly transfers: Transfers) {}

  @Post('transfer-in')
  @Deprecated()
  @Operation({
    summary: 'Transfer from an external account',
    description: 'Deprecated: make a quote with `immediatelyExecute` instead. The outcome follows on the transaction.',
    tag: 'Transfers',
    success: { 201: TransactionOneOf },
    errors: [404, 410, 501],
    deprecated: true,
    permission: 'TRANSACT',
  })
  in(@Body() body: TransferInBody, @CurrentCaller() caller: Caller) {
    return this.transfers.in(caller, body);
  }

  @Post('transfer-out')
  @Deprecated()
  @Operation({
    summary: 'Transfer to an external account',
    description: 'Deprecated: make a quote with `immediatelyExecute` instead. The outcome follows on the transaction.',
    tag: 'Transfers',
    success: { 201: TransactionOneOf },
    errors: [404, 410, 429, 501],
    deprecated: true,
    permission: 'TRANSACT',
  })
  out(@Body() body: TransferOutBody, @CurrentCaller() caller: Caller) {
    return this.transfers.out(caller, body);
  }
}
