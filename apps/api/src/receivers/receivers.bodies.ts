import { QueryPublicId, QueryText } from '../../../../libs/runtime/http/index.ts';

export class ReceiverQuery {
  @QueryText({ max: 255, description: 'UMA address of the customer who is to pay. This or `customerId`.' })
  senderUmaAddress?: string;

  @QueryPublicId('Customer', { description: 'The customer who is to pay. This or `senderUmaAddress`.' })
  customerId?: string;
}
