/** Which resource a webhook's `data` carries, as the API shows it; `Empty` is `{}`. */
export type WebhookData =
  | 'OutgoingTransaction'
  | 'IncomingTransaction'
  | 'Customer'
  | 'Verification'
  | 'ExternalAccount'
  | 'InternalAccount'
  | 'SweepFailure'
  | 'Invitation'
  | 'BulkUploadJob'
  | 'AgentAction'
  | 'Card'
  | 'CardTransaction'
  | 'WalletOperation'
  | 'Empty';

interface Row {
  /** What the webhook announces, as a sentence for its receiver. */
  when: string;
  data: WebhookData;
  /** The wire `type` where the spec prints another spelling than `FAMILY.NAME` (decision 2). */
  wire?: string;
  /** Sent once: a failed delivery is not tried again (facts §11). */
  once?: true;
  /** Its feature is not built yet, so nothing sends it. */
  planned?: true;
}

/** Every webhook of the platform: `FAMILY.NAME` → what it is (spec, chapter Events; facts §11). */
const table = {
  'OUTGOING_PAYMENT.PENDING': {
    data: 'OutgoingTransaction',
    when: 'An outgoing payment was created and waits for its execution or its funding.',
  },
  'OUTGOING_PAYMENT.PENDING_AUTHORIZATION': {
    data: 'OutgoingTransaction',
    when: 'The payment waits for the customer to authorize it. The challenge is on the quote.',
    planned: true,
  },
  'OUTGOING_PAYMENT.PROCESSING': {
    data: 'OutgoingTransaction',
    when: 'The payment is being executed; its amount is reserved or debited.',
  },
  'OUTGOING_PAYMENT.COMPLETED': { data: 'OutgoingTransaction', when: 'The payment reached its destination.' },
  'OUTGOING_PAYMENT.FAILED': {
    data: 'OutgoingTransaction',
    when: 'The payment failed, also after it had completed (a bank return). `failureReason` says why.',
  },
  'OUTGOING_PAYMENT.EXPIRED': {
    data: 'OutgoingTransaction',
    when: 'The quote expired before the payment was executed. No money moved.',
  },
  'OUTGOING_PAYMENT.CANCELED': {
    data: 'OutgoingTransaction',
    when: 'The payment was cancelled before it settled.',
    planned: true,
  },
  'OUTGOING_PAYMENT.REFUND_PENDING': {
    data: 'OutgoingTransaction',
    when: 'The money is on its way back to the source.',
  },
  'OUTGOING_PAYMENT.REFUND_COMPLETED': { data: 'OutgoingTransaction', when: 'The money is back at the source.' },
  'OUTGOING_PAYMENT.REFUND_FAILED': {
    data: 'OutgoingTransaction',
    when: 'The money could not be returned. The case needs a person.',
  },

  'INCOMING_PAYMENT.PENDING': {
    data: 'IncomingTransaction',
    when: 'A payment to the UMA address of a customer was announced. Your answer decides what comes of it.',
    once: true,
  },
  'INCOMING_PAYMENT.PROCESSING': {
    data: 'IncomingTransaction',
    when: 'The incoming payment is being collected or converted.',
    planned: true,
  },
  'INCOMING_PAYMENT.COMPLETED': { data: 'IncomingTransaction', when: 'The money is on the internal account.' },
  'INCOMING_PAYMENT.FAILED': {
    data: 'IncomingTransaction',
    when: 'The incoming payment failed. `failureReason` says why.',
  },
  'INCOMING_PAYMENT.REFUND_PENDING': {
    data: 'IncomingTransaction',
    when: 'The money is on its way back to the sender.',
  },
  'INCOMING_PAYMENT.REFUND_COMPLETED': { data: 'IncomingTransaction', when: 'The sender has the money back.' },
  'INCOMING_PAYMENT.REFUND_FAILED': {
    data: 'IncomingTransaction',
    when: 'The money could not be returned to the sender. The case needs a person.',
  },

  'CUSTOMER.KYC_PENDING': { data: 'Customer', when: 'The identity check of an individual customer is under way.' },
  'CUSTOMER.KYC_APPROVED': { data: 'Customer', when: 'The individual customer passed the identity check.' },
  'CUSTOMER.KYC_REJECTED': { data: 'Customer', when: 'The individual customer did not pass the identity check.' },
  'CUSTOMER.KYB_PENDING': { data: 'Customer', when: 'The check of a business customer is under way.' },
  'CUSTOMER.KYB_APPROVED': { data: 'Customer', when: 'The business customer passed the check.' },
  'CUSTOMER.KYB_REJECTED': { data: 'Customer', when: 'The business customer did not pass the check.' },

  'VERIFICATION.READY_FOR_VERIFICATION': {
    data: 'Verification',
    when: 'Everything needed is there; the verification can be submitted.',
    planned: true,
  },
  'VERIFICATION.IN_PROGRESS': { data: 'Verification', when: 'The verification is being checked.', planned: true },
  'VERIFICATION.RESOLVE_ERRORS': {
    data: 'Verification',
    when: 'Something is missing or wrong; `errors` lists it.',
    planned: true,
  },
  'VERIFICATION.PENDING_MANUAL_REVIEW': {
    data: 'Verification',
    when: 'A person looks at the verification.',
    planned: true,
  },
  'VERIFICATION.APPROVED': { data: 'Verification', when: 'The verification was approved.', planned: true },
  'VERIFICATION.REJECTED': { data: 'Verification', when: 'The verification was rejected.', planned: true },

  'EXTERNAL_ACCOUNT.STATUS_UPDATED': {
    data: 'ExternalAccount',
    when: 'The status of an external account changed, the outcome of an ownership check included.',
  },

  'INTERNAL_ACCOUNT.BALANCE_UPDATED': {
    data: 'InternalAccount',
    when: 'The balance or the total balance of an internal account changed.',
  },
  'INTERNAL_ACCOUNT.STATUS_UPDATED': {
    data: 'InternalAccount',
    when: 'The status of an internal account changed.',
  },
  'INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED': {
    data: 'InternalAccount',
    when: 'The ways to pay into an internal account changed.',
    planned: true,
  },
  'INTERNAL_ACCOUNT.SWEEP_FAILED': {
    data: 'SweepFailure',
    when: "What arrived on a rule-based account could not go where its rule says. It is on the holder's canonical account.",
  },

  'INVITATION.CLAIMED': {
    data: 'Invitation',
    when: 'An invitation that you created was claimed.',
    wire: 'INVITATION_CLAIMED',
  },

  'BULK_UPLOAD.COMPLETED': { data: 'BulkUploadJob', when: 'A bulk upload of customers is finished.', planned: true },
  'BULK_UPLOAD.FAILED': { data: 'BulkUploadJob', when: 'A bulk upload of customers failed.', planned: true },

  'AGENT_ACTION.PENDING_APPROVAL': {
    data: 'AgentAction',
    when: 'An agent wants to do something that needs an approval.',
    planned: true,
  },

  'CARD.STATE_CHANGE': {
    data: 'Card',
    when: 'The `state` of a card changed; every transition is announced.',
    wire: 'card.state_change',
    planned: true,
  },
  'CARD.FUNDING_SOURCE_CHANGE': {
    data: 'Card',
    when: "A card's `fundingSources` changed; carries the new order.",
    wire: 'card.funding_source_change',
    planned: true,
  },

  'CARD_TRANSACTION.AUTHORIZED': { data: 'CardTransaction', when: 'A card payment was authorized.', planned: true },
  'CARD_TRANSACTION.PARTIALLY_SETTLED': {
    data: 'CardTransaction',
    when: 'A part of a card payment was settled.',
    planned: true,
  },
  'CARD_TRANSACTION.SETTLED': { data: 'CardTransaction', when: 'A card payment was settled.', planned: true },
  'CARD_TRANSACTION.REFUNDED': { data: 'CardTransaction', when: 'A card payment was refunded.', planned: true },
  'CARD_TRANSACTION.EXCEPTION': {
    data: 'CardTransaction',
    when: 'A card payment ended in a way that needs a person.',
    planned: true,
  },

  'WALLET_OPERATION.COMPLETED': {
    data: 'WalletOperation',
    when: 'A pending wallet operation, such as an export, completed.',
    wire: 'wallet_operation.completed',
    planned: true,
  },
  'WALLET_OPERATION.FAILED': {
    data: 'WalletOperation',
    when: 'A pending wallet operation failed; `error.code` says why.',
    planned: true,
  },

  TEST: {
    data: 'Empty',
    when: 'The webhook endpoint was set or changed, or a test was asked for.',
    once: true,
  },
} as const satisfies Record<string, Row>;

/** The name of a webhook inside the platform: always `FAMILY.NAME`, or `TEST`. */
export type WebhookEvent = keyof typeof table;

/** One entry of the catalogue of webhooks. `type` is what goes on the wire. */
export interface WebhookEventType {
  event: WebhookEvent;
  type: string;
  when: string;
  data: WebhookData;
  /** False: one attempt only. */
  isRetried: boolean;
  /** False: belongs to a feature that is not built yet. */
  isEmitted: boolean;
}

const catalogue = new Map(
  Object.entries(table as Record<WebhookEvent, Row>).map(([name, row]): [WebhookEvent, WebhookEventType] => {
    const event = name as WebhookEvent;
    const { when, data } = row;
    return [event, { event, type: row.wire ?? event, when, data, isRetried: !row.once, isEmitted: !row.planned }];
  }),
);

/** Every webhook in the order of the documentation. */
export const webhookEventTypes: readonly WebhookEventType[] = [...catalogue.values()];

/** The catalogue entry of a webhook: `webhookEventType('CARD.STATE_CHANGE').type` → `card.state_change`. */
export function webhookEventType(event: WebhookEvent): WebhookEventType {
  return catalogue.get(event)!;
}
