import { Controller, Get, Inject, Query } from '@nestjs/common';
import { Rejection } from '../../../../libs/kernel/errors.ts';
import { derivedUuid } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { currency } from '../../../../libs/kernel/money.ts';
import type { Uma, UmaOf } from '../../../../libs/providers/uma.port.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import {
  decodeCursor,
  encodeCursor,
  filtersHash,
  Operation,
  type Page,
  page,
} from '../../../../libs/runtime/http/index.ts';
import { UmaProviderListResponse, VaspListResponse } from '../../../../projections/uma-provider.view.ts';
import { UMA } from '../receivers/tokens.ts';
import { UmaProvidersQuery, VaspsQuery } from './uma-providers.bodies.ts';

@Controller()
export class UmaProvidersController {
  constructor(@Inject(UMA) private readonly umaOf: UmaOf) {}

  @Get('uma-providers')
  @Operation({
    summary: 'List UMA providers',
    description: 'Who else can be paid by UMA address. Blocked ones are left out unless they are asked for.',
    tag: 'UMA',
    success: { 200: UmaProviderListResponse },
    errors: [501],
    permission: 'VIEW',
  })
  async providers(@Query() query: UmaProvidersQuery, @CurrentCaller() { tenant }: Caller) {
    const { countryCode, currencyCode, hasBlockedProviders, sortOrder = 'desc' } = query;
    const all = await this.uma(tenant).providers();
    const matching = all
      .filter((one) => hasBlockedProviders || one.isAllowed)
      .filter((one) => countryCode === undefined || one.supportedRegions.includes(countryCode))
      .filter((one) => currencyCode === undefined || one.supportedCurrencies.includes(currencyCode))
      .map(({ isAllowed, supportedCurrencies, ...one }) => ({
        ...one,
        supportedCurrencies: supportedCurrencies.map(currency),
        allowListStatus: isAllowed,
      }));
    const named = byName(matching, ({ name }) => name);
    return pageOf(sortOrder === 'asc' ? named : named.reverse(), ({ domain }) => domain, query);
  }

  @Get('vasps')
  @Operation({
    summary: 'List virtual asset service providers',
    description: 'Names for `vaspName` of a custodial wallet.',
    tag: 'UMA',
    success: { 200: VaspListResponse },
    errors: [501],
    permission: 'VIEW',
  })
  async vasps(@Query() query: VaspsQuery, @CurrentCaller() { tenant }: Caller) {
    const all = byName(await this.uma(tenant).vasps(), ({ name }) => name);
    const views = all.map(({ name, url }) => ({ vaspName: name, ...(url && { url }) }));
    const { totalCount: _, ...shown } = pageOf(views, ({ vaspName }) => vaspName, query);
    return shown;
  }

  private uma({ environment }: Tenant): Uma {
    const uma = this.umaOf(environment);
    if (uma instanceof Rejection) throw uma;
    return uma;
  }
}

const byName = <T>(all: readonly T[], nameOf: (one: T) => string): T[] =>
  [...all].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

/** A page of a list that lies in memory; the cursor names the last one shown, wherever it stands by then. */
function pageOf<T>(all: readonly T[], nameOf: (one: T) => string, query: { limit: number; cursor?: string }): Page<T> {
  const filters = filtersHash({ ...query });
  const idOf = (one: T) => derivedUuid('list entry', nameOf(one));
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, filters).id;
  const from = after === undefined ? 0 : all.findIndex((one) => idOf(one) === after) + 1;
  const cursorOf = (last: T) => encodeCursor({ key: all.indexOf(last), id: idOf(last) }, filters);
  return page(all.slice(from, from + query.limit + 1), query.limit, all.length, cursorOf);
}
