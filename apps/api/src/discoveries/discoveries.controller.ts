import { Controller, Get, Inject, Query } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { DiscoveryListResponse } from '../../../../projections/discovery.view.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import { DiscoveriesQuery } from './discoveries.bodies.ts';

@Controller('discoveries')
export class DiscoveriesController {
  constructor(@Inject(PROVIDERS) private readonly providers: Providers) {}

  @Get()
  @Operation({
    summary: 'List payment institutions',
    description: 'Banks and mobile-money operators by country and currency; all without a filter.',
    tag: 'External accounts',
    success: { 200: DiscoveryListResponse },
    errors: [501],
    permission: 'VIEW',
  })
  async list(@Query() { country, currency }: DiscoveriesQuery, @CurrentCaller() { tenant }: Caller) {
    return { data: await providerOf(this.providers, 'institutions', tenant).list({ country, currency }) };
  }
}
