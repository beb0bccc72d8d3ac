import { Body, Controller, Get, Inject, Param, Post } from '@nestjs/common';
import { hasQuote, type PaymentState } from '../../../../libs/domain/payments/payment.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { ReadModel } from '../../../../libs/runtime/read-model.ts';
import { payments } from '../../../../projections/payments.ts';
import { Quote, quoteView } from '../../../../projections/quote.view.ts';
import { CLOCK } from '../settings.ts';
import { ExecuteQuoteBody, QuoteBody } from './quotes.bodies.ts';
import { Quoting } from './quoting.ts';

@Controller('quotes')
export class QuotesController {
  constructor(
    @Inject(Quoting) private readonly quoting: Quoting,
    @Inject(ReadModel) private readonly readModel: ReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @Operation({
    summary: 'Create a quote',
    description:
      'Prices a transfer and makes its transaction, in `PENDING`. With `immediatelyExecute` it is executed too. A source that cannot be ' +
      'taken from (`REALTIME_FUNDING`, `UMA_ADDRESS`, an external account without direct debit) gets `paymentInstructions`: the transfer ' +
      'goes on when exactly `totalSendingAmount` arrives before `expiresAt`. Any other amount fails it, and goes back.',
    tag: 'Quotes',
    success: { 201: Quote },
    errors: [404, 410, 412, 424, 429, 501],
    keyedByCommit: true,
    sealed: true,
    permission: 'TRANSACT',
  })
  create(@Body() body: QuoteBody, @CurrentCaller() caller: Caller) {
    return this.quoting.create(caller, body);
  }

  @Get(':quoteId')
  @Operation({ summary: 'Get a quote', tag: 'Quotes', success: { 200: Quote }, errors: [404], permission: 'VIEW' })
  async get(@Param('quoteId') quoteId: string, @CurrentCaller() { tenant }: Caller) {
    const state = await this.readModel.byId<PaymentState>(payments, tenant, idOf(quoteId));
    if (!state || state.phase === 'REFUSED' || !hasQuote(state)) throw reject('QUOTE_NOT_FOUND');
    return quoteView(state, timestamp(this.clock.nowMs(tenant)));
  }

  @Post(':quoteId/execute')
  @Operation({
    summary: 'Execute a quote',
    description:
      'The source is debited. Once executed, a quote cannot be cancelled; an expired one is refused. An account that has sent its limit ' +
      'of the day is refused with `429 DAILY_VOLUME_LIMIT_EXCEEDED`, and the quote stays open. Quotes that wait for money are not executed.',
    tag: 'Quotes',
    success: { 200: Quote },
    errors: [404, 410, 429, 501],
    sealed: true,
    permission: 'TRANSACT',
  })
  execute(@Param('quoteId') quoteId: string, @Body() _body: ExecuteQuoteBody, @CurrentCaller() caller: Caller) {
    const id = parsePublicId('Quote', quoteId);
    if (id) return this.quoting.execute(caller, id);
    const message = 'quoteId must be an id of the form Quote:<uuid>.';
    throw rejectFields([{ field: 'quoteId', constraint: 'FORMAT', message }]);
  }
}

function idOf(quoteId: string): string {
  const id = parsePublicId('Quote', quoteId);
  if (!id) throw reject('QUOTE_NOT_FOUND');
  return id;
}
