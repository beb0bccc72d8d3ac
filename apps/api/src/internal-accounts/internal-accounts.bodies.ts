import { currencyCodes } from '../../../../libs/kernel/money.ts';
import { paymentRails } from '../../../../libs/kernel/rails.ts';
import {
  Nested,
  OneOf,
  PageQuery,
  PublicId,
  QueryOneOf,
  QueryPublicId,
  Text,
} from '../../../../libs/runtime/http/index.ts';
import { internalAccountTypes } from '../../../../projections/internal-account.view.ts';
import { PurposeOfPayment } from '../../../../projections/payment-source.view.ts';

const purposes = PurposeOfPayment.enum as unknown as readonly string[];

export class CustomersInternalAccountsQuery extends PageQuery {
  @QueryOneOf(currencyCodes())
  currency?: string;

  @QueryPublicId('Customer')
  customerId?: string;

  @QueryOneOf(internalAccountTypes)
  type?: string;
}

export class PlatformInternalAccountsQuery {
  @QueryOneOf(currencyCodes())
  currency?: string;

  @QueryOneOf(internalAccountTypes)
  type?: string;
}

export class SweepDestinationBody {
  @PublicId(['InternalAccount', 'ExternalAccount'], {
    description: 'An external account, or another internal one that is not rule-based itself.',
  })
  accountId!: string;

  @OneOf([...paymentRails], { optional: true, description: "One of the external account's rails; chosen when absent." })
  paymentRail?: string;
}

export class SweepRuleBody {
  @Nested(() => SweepDestinationBody)
  destination!: SweepDestinationBody;

  @OneOf(purposes, { optional: true })
  purposeOfPayment?: string;

  @Text({ optional: true, max: 255 })
  description?: string;

  @Text({ optional: true, max: 1024, pattern: /^[ -~]*$/, description: 'Printable ASCII.' })
  remittanceInformation?: string;
}

export class RuleAccountBody {
  @PublicId('Customer', { description: 'An individual customer who has an ordinary account in the same currency.' })
  customerId!: string;

  @OneOf(['RULE_BASED'], { description: 'All other accounts are opened automatically.' })
  type!: 'RULE_BASED';

  @OneOf(['USD'])
  currency!: 'USD';

  @Text({ optional: true, max: 255 })
  label?: string;

  @Nested(() => SweepRuleBody)
  sweepRule!: SweepRuleBody;
}

/** The properties that such a request has, by the path of the object they belong to: it takes no others (facts §4). */
export const ruleAccountProperties: Readonly<Record<string, readonly string[]>> = {
  '': ['customerId', 'type', 'currency', 'label', 'sweepRule'],
  sweepRule: ['destination', 'purposeOfPayment', 'description', 'remittanceInformation'],
  'sweepRule.destination': ['accountId', 'paymentRail'],
};
