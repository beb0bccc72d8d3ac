import { Controller, Get, Inject, Query } from '@nestjs/common';
import { exchangeRateSources, exchangeRates } from '../../../../libs/domain/payments/exchange-rates.ts';
import type { PlatformState } from '../../../../libs/domain/platforms/platform.ts';
import type { Clock } from '../../../../libs/kernel/clock.ts';
import { Rejection } from '../../../../libs/kernel/errors.ts';
import type { FeeTerms } from '../../../../libs/kernel/rate.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { ExchangeRateListResponse, exchangeRateView } from '../../../../projections/exchange-rate.view.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import { platformOf } from '../../../shared/quotes.facts.ts';
import { CLOCK } from '../settings.ts';
import { ExchangeRatesQuery } from './exchange-rates.bodies.ts';

@Controller('exchange-rates')
export class ExchangeRatesController {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(PROVIDERS) private readonly providers: Providers,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation({
    summary: 'List exchange rates',
    description:
      "One row per corridor and rail, with the service's and the platform's fees. Rates are good for about five minutes.",
    tag: 'Exchange rates',
    success: { 200: ExchangeRateListResponse },
    errors: [501],
    permission: 'VIEW',
  })
  async list(
    @Query() { sourceCurrency, destinationCurrency, sendingAmount }: ExchangeRatesQuery,
    @CurrentCaller() { tenant }: Caller,
  ) {
    const query = {
      sourceCurrency,
      destinationCurrencies: destinationCurrency,
      sendingAmount: BigInt(sendingAmount),
    };
    const platform = await platformOf(this.writePath, tenant);
    const own = platform.supportedCurrencies.map(({ currencyCode }) => currencyCode);
    const rates = providerOf(this.providers, 'rates', tenant);
    const corridors = await rates.corridors(exchangeRateSources(query, own), new Date(this.clock.nowMs(tenant)));
    const rows = exchangeRates(query, corridors, feesOf(platform));
    if (rows instanceof Rejection) throw rows;
    return { data: rows.map(exchangeRateView) };
  }
}

/** The platform's own fee by source currency. */
const feesOf = ({ feeConfigs }: PlatformState): ReadonlyMap<string, FeeTerms> =>
  new Map(feeConfigs.map((fee) => [fee.sourceCurrency, { fixed: fee.fixedFee.amountMinor, bps: fee.variableFeeBps }]));
