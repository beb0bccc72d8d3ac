import { Inject, Injectable } from '@nestjs/common';
import type { SweepRule } from '../../../../libs/domain/accounts/account.events.ts';
import { type AccountState, account } from '../../../../libs/domain/accounts/account.ts';
import { customerAccountId, serveCustomer } from '../../../../libs/domain/customers/customer.process.ts';
import { type CustomerState, isDeleted, RequestRuleAccount } from '../../../../libs/domain/customers/customer.ts';
import type { PlatformState } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock } from '../../../../libs/kernel/clock.ts';
import { type FieldError, Rejection, reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import type { PaymentRail } from '../../../../libs/kernel/rails.ts';
import type { RailsOf } from '../../../../libs/providers/rails.port.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Driver } from '../../../../libs/runtime/drive.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { isObject, refuseFields, type Submitted } from '../../../../libs/runtime/http/index.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import { type AccountEnd, checkReadiness, endOf } from '../../../shared/quotes.facts.ts';
import { CustomerFacts } from '../customers/customers.facts.ts';
import { RAILS } from '../ports.ts';
import { CLOCK } from '../settings.ts';
import { type RuleAccountBody, ruleAccountProperties } from './internal-accounts.bodies.ts';

const notEnabled = reject(
  'FORBIDDEN',
  { reason: 'RULE_BASED_ACCOUNTS_NOT_ENABLED' },
  'Rule-based accounts are not enabled for this platform.',
);

/** Opens rule-based accounts: an extra account number for a customer, whose money goes on at once (facts §4). */
@Injectable()
export class RuleAccounts {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(Driver) private readonly driver: Driver,
    @Inject(CustomerFacts) private readonly facts: CustomerFacts,
    @Inject(PROVIDERS) private readonly providers: Providers,
    @Inject(RAILS) private readonly railsOf: RailsOf,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async create(caller: Caller, { given, accept }: Submitted<RuleAccountBody>): Promise<AccountState> {
    const body = accept(() => refuseOthers(given));
    const { tenant, requestId: correlationId } = caller;
    const platform = await this.facts.platform(tenant);
    if (!platform.settings.allowRuleBasedAccounts) throw notEnabled;
    const accountId = caller.newId('rule-based account');
    caller.answersAbout(`${account.name}-${accountId}`);
    const holder = await this.facts.customer(tenant, body.customerId);
    const { customerId } = holder;
    if (!holder.ruleAccounts?.includes(accountId)) {
      const rule = await this.ruleOf(caller, body, holder, platform);
      const { description, remittanceInformation } = body.sweepRule;
      const request = new RequestRuleAccount({
        customerId,
        accountId,
        currency: body.currency,
        rule,
        ...(body.label !== undefined && { label: body.label }),
        ...(description !== undefined && { description }),
        ...(remittanceInformation !== undefined && { remittanceInformation }),
      });
      await this.commands.send(request, caller.envelope('RequestRuleAccount'));
    }
    await this.driver.drive(serveCustomer, customerId, { tenant, correlationId });
    return (await this.writePath.state<AccountState>(account, accountId)).state;
  }

  private async ruleOf(
    { tenant }: Caller,
    { currency, sweepRule }: RuleAccountBody,
    holder: CustomerState,
    platform: PlatformState,
  ): Promise<SweepRule> {
    checkHolder(holder, platform);
    const canonicalAccountId = customerAccountId(holder.customerId, currency);
    const canonical = await this.writePath.state<AccountState>(account, canonicalAccountId);
    if (canonical.state.status !== 'ACTIVE') {
      const message = `The customer has no ordinary account in ${currency}.`;
      throw reject('INVALID_INPUT', { reason: 'NO_CANONICAL_ACCOUNT' }, message);
    }
    const { accountId, paymentRail } = sweepRule.destination;
    const end = await endOf(this.writePath, tenant, accountId, 'sweepRule.destination.accountId');
    checkDestination(end, paymentRail);
    if (end.kind === 'EXTERNAL') this.checkRails(tenant.environment);
    const rates = providerOf(this.providers, 'rates', tenant);
    const corridor = await rates.corridor(currency, end.currency, new Date(this.clock.nowMs(tenant)));
    const supported = platform.supportedCurrencies.find(({ currencyCode }) => currencyCode === currency);
    if (!supported) throw reject('INVALID_CURRENCY', { currency });
    const { minSendingAmount, maxSendingAmount } = corridor;
    const { minAmountMinor, maxAmountMinor } = supported;
    return {
      canonicalAccountId,
      destination: {
        kind: end.kind,
        accountId: end.id,
        ...(paymentRail && { paymentRail: paymentRail as PaymentRail }),
      },
      ...(sweepRule.purposeOfPayment !== undefined && { purposeOfPayment: sweepRule.purposeOfPayment }),
      minimumMinor: minAmountMinor > minSendingAmount ? minAmountMinor : minSendingAmount,
      maximumMinor: maxAmountMinor < maxSendingAmount ? maxAmountMinor : maxSendingAmount,
    };
  }

  private checkRails(environment: string): void {
    const rails = this.railsOf(environment);
    if (rails instanceof Rejection) throw rails;
  }
}

/** It takes no other properties than its own. */
function refuseOthers(raw: unknown): void {
  const errors: FieldError[] = [];
  for (const [path, known] of Object.entries(ruleAccountProperties)) {
    const parts = path === '' ? [] : path.split('.');
    const at = parts.reduce((value, part) => (isObject(value) ? value[part] : undefined), raw);
    for (const name of Object.keys(isObject(at) ? at : {})) {
      if (known.includes(name)) continue;
      const field = [...parts, name].join('.');
      errors.push({ field, constraint: 'UNKNOWN_FIELD', message: `${field} is not a field of this request.` });
    }
  }
  refuseFields(errors);
}

function checkHolder(holder: CustomerState, platform: PlatformState): void {
  if (isDeleted(holder)) throw reject('CUSTOMER_DELETED');
  if (holder.customerType !== 'INDIVIDUAL') {
    const message = 'customerId must be the id of an individual customer.';
    throw rejectFields([{ field: 'customerId', constraint: 'CONFLICT', message }]);
  }
  checkReadiness(holder, platform);
}

function checkDestination(end: AccountEnd, paymentRail: string | undefined): void {
  const path = 'sweepRule.destination';
  if (end.kind === 'EXTERNAL') {
    const allowed = end.account.paymentRails;
    if (paymentRail === undefined || allowed.includes(paymentRail as PaymentRail)) return;
    const message = `${path}.paymentRail must be one of the account's: ${allowed.join(', ')}.`;
    throw rejectFields([{ field: `${path}.paymentRail`, constraint: 'ENUM', message, allowed }]);
  }
  const errors: FieldError[] = [];
  if (end.account.type === 'RULE_BASED') {
    const message = `${path}.accountId must not be a rule-based account.`;
    errors.push({ field: `${path}.accountId`, constraint: 'CONFLICT', message });
  }
  if (paymentRail !== undefined) {
    const message = `${path}.paymentRail is for external accounts only.`;
    errors.push({ field: `${path}.paymentRail`, constraint: 'CONFLICT', message });
  }
  refuseFields(errors);
}
