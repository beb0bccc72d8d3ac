import type { VerificationStatus } from '../../libs/domain/customers/customer.events.ts';
import type { CustomerState } from '../../libs/domain/customers/customer.ts';
import { type WebhookEvent, webhookEventType } from '../../libs/domain/webhooks/event-types.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import type { Announcer, StateRow } from '../../libs/kernel/projection.ts';
import { customerView } from '../customer.view.ts';
import { customers } from '../customers.ts';

/** What each status announces; a customer who is not checked yet, or is on hold, has nothing to announce. */
const announced: Partial<Record<VerificationStatus, { INDIVIDUAL: WebhookEvent; BUSINESS: WebhookEvent }>> = {
  PENDING: { INDIVIDUAL: 'CUSTOMER.KYC_PENDING', BUSINESS: 'CUSTOMER.KYB_PENDING' },
  APPROVED: { INDIVIDUAL: 'CUSTOMER.KYC_APPROVED', BUSINESS: 'CUSTOMER.KYB_APPROVED' },
  REJECTED: { INDIVIDUAL: 'CUSTOMER.KYC_REJECTED', BUSINESS: 'CUSTOMER.KYB_REJECTED' },
};

/** A customer after each change of the verification's status, the one that the sandbox decides at creation included. */
export const customerAnnouncer: Announcer = {
  handles: ['CustomerCreated', 'VerificationStarted', 'VerificationResolved'],
  announce(event, read) {
    const { customerId } = event.data as { customerId: string };
    const row = read(customers, customerId) as StateRow<CustomerState> | undefined;
    const name = row && announced[row.state.verificationStatus]?.[row.state.customerType];
    if (!name) return [];
    const { type } = webhookEventType(name);
    const resource = publicId('Customer', customerId);
    return [{ type, resource, sequence: event.revision + 1, data: customerView(row.state) }];
  },
};
