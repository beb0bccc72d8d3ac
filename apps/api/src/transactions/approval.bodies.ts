import { FreeObject, Text } from '../../../../libs/runtime/http/index.ts';

export class ApprovePaymentRequest {
  @FreeObject({ optional: true, description: 'What the sender asked to know, by `CustomerInfoFieldName`.' })
  receiverCustomerInfo?: Record<string, unknown>;
}

export class RejectPaymentRequest {
  @Text({ optional: true, max: 1_000 })
  reason?: string;
}
