import { Inject, Injectable } from '@nestjs/common';
import { type CustomerState, customer, isDeleted, isKnown } from '../../../../libs/domain/customers/customer.ts';
import { umaAddressOf } from '../../../../libs/domain/customers/uma-address.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import type { Clock } from '../../../../libs/kernel/clock.ts';
import { Rejection, reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { currency, divideDown, divideUp, toWire } from '../../../../libs/kernel/money.ts';
import { midRateText, minorRatio } from '../../../../libs/kernel/rate.ts';
import type { PayerField, Uma, UmaOf } from '../../../../libs/providers/uma.port.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import { platformOf } from '../../../shared/quotes.facts.ts';
import { type LocalReceiver, ownerOfAddress, receiverOf } from '../../../shared/uma-receivers.ts';
import { API_SETTINGS, type ApiSettings, CLOCK } from '../settings.ts';
import { LookupIds } from './lookup-ids.ts';
import { UMA } from './tokens.ts';

/** One currency that a receiver takes, in its minor units, with what must be told of the payer. */
export interface TakenCurrency {
  code: string;
  minMinor: bigint;
  maxMinor: bigint;
  requiredPayerFields: readonly PayerField[];
}

/** Whoever has a UMA address: a customer of this deployment (`local`), or somebody elsewhere. */
export interface Receiver {
  address: string;
  currencies: readonly TakenCurrency[];
  local?: LocalReceiver;
}

/** How long a lookup can be used in a quote. */
const LOOKUP_VALID_MS = 5 * 60 * 1_000;
const MAX_ADDRESS = 255;

/** Finds receivers of payments and says what they take. */
@Injectable()
export class Receivers {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(ClaimIds) private readonly claimIds: ClaimIds,
    @Inject(UMA) private readonly umaOf: UmaOf,
    @Inject(PROVIDERS) private readonly providers: Providers,
    @Inject(LookupIds) private readonly lookupIds: LookupIds,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** Who has the UMA address in `field`. Throws `INVALID_UMA_ADDRESS`, `UMA_NOT_FOUND`, `INVALID_RECEIVER`, and the errors of UMA (facts §15). */
  async byAddress({ environment }: Tenant, text: string, field: string): Promise<Receiver> {
    const address = readAddress(text, field);
    const owner = await ownerOfAddress(this.writePath, this.claimIds, environment, address);
    if (!owner) {
      const { currencies, requiredPayerFields } = await this.uma(environment).lookUp(address);
      return { address, currencies: currencies.map((one) => ({ ...one, requiredPayerFields })) };
    }
    const local = await receiverOf(this.writePath, owner);
    if (local.currencies.length === 0) {
      throw reject('INVALID_RECEIVER', { reason: 'RECEIVER_NOT_READY' }, 'The receiver cannot take payments.');
    }
    const currencies = local.currencies.map((one) => ({
      code: one.currencyCode,
      minMinor: one.minAmountMinor > 0n ? one.minAmountMinor : 1n,
      maxMinor: one.maxAmountMinor,
      requiredPayerFields: one.requiredCounterpartyFields,
    }));
    return { address, currencies, local };
  }

  /** The caller's customer who is to pay: exactly one of the two names is needed (facts §12). */
  async payer(tenant: Tenant, by: { customerId?: string; senderUmaAddress?: string }): Promise<CustomerState> {
    const { customerId, senderUmaAddress } = by;
    if ((customerId === undefined) === (senderUmaAddress === undefined)) {
      const message = 'Give one of customerId and senderUmaAddress.';
      throw rejectFields([{ field: 'customerId', constraint: customerId ? 'CONFLICT' : 'REQUIRED', message }]);
    }
    const state =
      customerId === undefined
        ? await this.ownAddress(tenant, senderUmaAddress!)
        : (await this.writePath.state<CustomerState>(customer, parsePublicId('Customer', customerId)!)).state;
    if (!state || state.tenantId !== tenantIdOf(tenant) || !isKnown(state)) {
      throw reject(customerId === undefined ? 'UMA_NOT_FOUND' : 'USER_NOT_FOUND');
    }
    if (isDeleted(state)) throw reject('USER_NOT_FOUND');
    return state;
  }

  /** What a receiver takes, as a lookup shows it; `receiver` is the UMA address or the account's public id. */
  async view(tenant: Tenant, payer: CustomerState, receiver: string, currencies: readonly TakenCurrency[]) {
    const nowMs = this.clock.nowMs(tenant);
    const untilMs = nowMs + LOOKUP_VALID_MS * this.settings.sandboxTimeScale;
    return {
      supportedCurrencies: await Promise.all(currencies.map((one) => this.preference(tenant, payer, one, nowMs))),
      requiredPayerDataFields: merged(currencies),
      lookupId: this.lookupIds.make(tenantIdOf(tenant), receiver, untilMs),
    };
  }

  /** `404 LOOKUP_REQUEST_NOT_FOUND` unless the lookup was of this receiver and still holds. */
  checkLookup(tenant: Tenant, lookupId: string | undefined, receiver: string): void {
    if (lookupId === undefined) return;
    this.lookupIds.check(lookupId, tenantIdOf(tenant), receiver, this.clock.nowMs(tenant));
  }

  uma(environment: string): Uma {
    const uma = this.umaOf(environment);
    if (uma instanceof Rejection) throw uma;
    return uma;
  }

  private ownAddress(tenant: Tenant, text: string): Promise<CustomerState | undefined> {
    return ownerOfAddress(this.writePath, this.claimIds, tenant.environment, readAddress(text, 'senderUmaAddress'));
  }

  private async preference(tenant: Tenant, payer: CustomerState, taken: TakenCurrency, nowMs: number) {
    const from = payer.accounts[0] ?? payer.currencies[0] ?? taken.code;
    const corridor = await providerOf(this.providers, 'rates', tenant).corridor(from, taken.code, new Date(nowMs));
    const { numerator, denominator } = minorRatio(corridor.rate);
    const { supportedCurrencies } = await platformOf(this.writePath, tenant);
    const range = supportedCurrencies.find((one) => one.currencyCode === from);
    const least = divideUp(larger(corridor.minSendingAmount, range?.minAmountMinor) * numerator, denominator);
    const most = divideDown(smaller(corridor.maxSendingAmount, range?.maxAmountMinor) * numerator, denominator);
    return {
      currency: currency(taken.code),
      estimatedExchangeRate: Number(midRateText(corridor.rate)),
      min: toWire(larger(least, taken.minMinor)),
      max: toWire(smaller(most, taken.maxMinor)),
    };
  }
}

const larger = (one: bigint, other = one): bigint => (other > one ? other : one);
const smaller = (one: bigint, other = one): bigint => (other < one ? other : one);

/** A UMA address in the form in which it is stored; `400 INVALID_UMA_ADDRESS` for what is none. */
export function readAddress(text: string, field: string): string {
  const address = umaAddressOf(text, text.split('@').at(-1) ?? '', field);
  if (address instanceof Rejection) throw address;
  if (address.length > MAX_ADDRESS || !/@[a-z0-9.-]+(:\d+)?$/.test(address)) {
    const message = `${field} must be $username@domain.`;
    throw reject('INVALID_UMA_ADDRESS', { errors: [{ field, constraint: 'PATTERN', message }] }, message);
  }
  return address;
}

/** The fields that any of the currencies asks for, mandatory where one of them says so. */
function merged(currencies: readonly TakenCurrency[]): PayerField[] {
  const fields = new Map<string, boolean>();
  for (const { requiredPayerFields } of currencies)
    for (const { name, mandatory } of requiredPayerFields) fields.set(name, mandatory || (fields.get(name) ?? false));
  return [...fields].map(([name, mandatory]) => ({ name, mandatory }));
}
