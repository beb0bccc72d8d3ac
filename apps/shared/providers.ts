import { Rejection, reject } from '../../libs/kernel/errors.ts';
import type { Environment, Tenant } from '../../libs/kernel/messages.ts';
import type { FundingProvider } from '../../libs/providers/funding.port.ts';
import { sandboxFunding } from '../../libs/providers/funding.sandbox.ts';
import type { Institutions } from '../../libs/providers/institutions.port.ts';
import { sandboxInstitutions } from '../../libs/providers/institutions.sandbox.ts';
import type { Kyc } from '../../libs/providers/kyc.port.ts';
import { sandboxKyc } from '../../libs/providers/kyc.sandbox.ts';
import type { NameCheck } from '../../libs/providers/name-check.port.ts';
import { sandboxNameCheck } from '../../libs/providers/name-check.sandbox.ts';
import type { NetworkFees } from '../../libs/providers/network-fees.port.ts';
import { sandboxNetworkFees } from '../../libs/providers/network-fees.sandbox.ts';
import type { RatesProvider } from '../../libs/providers/rates.port.ts';
import { sandboxRates } from '../../libs/providers/rates.sandbox.ts';

/** The providers that answers are made from; a refusal where an environment has none (decision 14). */
export interface Providers {
  kyc(environment: Environment): Kyc | Rejection;
  rates(environment: Environment): RatesProvider | Rejection;
  institutions(environment: Environment): Institutions | Rejection;
  nameCheck(environment: Environment): NameCheck | Rejection;
  funding(environment: Environment): FundingProvider | Rejection;
  networkFees(environment: Environment): NetworkFees | Rejection;
}

/** Injection token of `Providers`. */
export const PROVIDERS = Symbol('Providers');

/** The sandbox's own; for production a deployment supplies them. */
export const sandboxProviders: Providers = {
  kyc: (environment) => (environment === 'sandbox' ? sandboxKyc : missing('kyc')),
  rates: (environment) => (environment === 'sandbox' ? sandboxRates : missing('rates')),
  institutions: (environment) => (environment === 'sandbox' ? sandboxInstitutions : missing('institutions')),
  nameCheck: (environment) => (environment === 'sandbox' ? sandboxNameCheck : missing('nameCheck')),
  funding: (environment) => (environment === 'sandbox' ? sandboxFunding : missing('funding')),
  networkFees: (environment) => (environment === 'sandbox' ? sandboxNetworkFees : missing('networkFees')),
};

/** A provider of the caller's environment; throws `501 NOT_IMPLEMENTED` naming it where there is none. */
export function providerOf<N extends keyof Providers>(providers: Providers, name: N, { environment }: Tenant) {
  const found = providers[name](environment);
  if (found instanceof Rejection) throw found;
  return found as Exclude<ReturnType<Providers[N]>, Rejection>;
}

const missing = (provider: string): Rejection =>
  reject('NOT_IMPLEMENTED', { provider }, `No provider of ${provider} is set up for production.`);
