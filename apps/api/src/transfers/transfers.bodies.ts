import { paymentRails } from '../../../../libs/kernel/rails.ts';
import { Integer, Nested, OneOf, Text } from '../../../../libs/runtime/http/index.ts';
import { PurposeOfPayment } from '../../../../projections/payment-source.view.ts';

/** The most that a transfer may move (facts §2). */
const MAX_AMOUNT = 9_000_000_000_000_000;

export class ExternalAccountReferenceBody {
  @Text({ max: 100, example: 'ExternalAccount:019542f5-b3e7-1d02-0000-000000000001' })
  accountId!: string;
}

export class InternalAccountReferenceBody {
  @Text({ max: 100, example: 'InternalAccount:019542f5-b3e7-1d02-0000-000000000001' })
  accountId!: string;
}

export class ExternalAccountDestinationBody extends ExternalAccountReferenceBody {
  @OneOf([...paymentRails], {
    optional: true,
    description: "One of the account's rails; chosen by the service when absent.",
  })
  paymentRail?: string;
}

export class TransferInBody {
  @Nested(() => ExternalAccountReferenceBody)
  source!: ExternalAccountReferenceBody;

  @Nested(() => InternalAccountReferenceBody)
  destination!: InternalAccountReferenceBody;

  @Integer({
    min: 1,
    max: MAX_AMOUNT,
    optional: true,
    description: "Smallest unit. Required, because nobody here knows an external account's whole balance.",
  })
  amount?: number;
}

export class TransferOutBody {
  @Nested(() => InternalAccountReferenceBody)
  source!: InternalAccountReferenceBody;

  @Nested(() => ExternalAccountDestinationBody)
  destination!: ExternalAccountDestinationBody;

  @Integer({ min: 1, max: MAX_AMOUNT, optional: true, description: 'Smallest unit; the whole balance when absent.' })
  amount?: number;

  @Text({ optional: true, max: 80 })
  remittanceInformation?: string;

  @OneOf(PurposeOfPayment.enum as unknown as readonly string[], { optional: true })
  purposeOfPayment?: string;
}
