import type { ClaimEvent } from '../../../libs/domain/claims/claim.events.ts';
import type { CustomerEvent, CustomerRule } from '../../../libs/domain/customers/customer.events.ts';
import type { RecordedEvent } from '../../../libs/kernel/messages.ts';

/** A customer that uses what is not claimed by it. */
export interface UnclaimedValue {
  customerId: string;
  message: string;
}

/** What a customer has alone, as people call it. */
const names: Readonly<Record<CustomerRule, string>> = {
  PLATFORM_CUSTOMER_ID: 'platformCustomerId',
  UMA_ADDRESS: 'UMA address',
};

/**
 * Whether what each customer has alone is claimed by it (docs/why/unique-values.md). It follows the claims by their own streams and
 * customers by theirs, not by the states that the platform folds. In memory is what customers use who are not deleted.
 */
export class ClaimCheck {
  /** Claim → who holds it. */
  private readonly owners = new Map<string, string>();
  /** Customer → rule → claim that it uses. */
  private readonly used = new Map<string, Partial<Record<CustomerRule, string>>>();

  take(recorded: RecordedEvent): void {
    const event = recorded as unknown as ClaimEvent | CustomerEvent;
    switch (event.type) {
      case 'ValueClaimed':
        if (event.data.rule in names) this.owners.set(event.data.claimId, event.data.owner);
        return;
      case 'ValueReleased':
        this.owners.delete(event.data.claimId);
        return;
      case 'CustomerCreated': {
        const { customerId, claims } = event.data;
        this.used.set(customerId, Object.fromEntries(claims.map(({ rule, claimId }) => [rule, claimId])));
        return;
      }
      case 'CustomerUpdated': {
        const { customerId, claim } = event.data;
        if (claim) this.used.set(customerId, { ...this.used.get(customerId), [claim.rule]: claim.claimId });
        return;
      }
      case 'CustomerDeleted':
        this.used.delete(event.data.customerId);
    }
  }

  /** The customers for whom it is not so, once all events were taken. */
  *unclaimed(): Generator<UnclaimedValue> {
    for (const [customerId, claims] of this.used) {
      for (const [rule, claimId] of Object.entries(claims) as [CustomerRule, string][]) {
        const owner = this.owners.get(claimId);
        if (owner === customerId) continue;
        const held = owner === undefined ? 'nobody holds: another customer can take it' : `customer-${owner} holds`;
        yield { customerId, message: `uses a ${names[rule]} that ${held} (claim-${claimId})` };
      }
    }
  }
}
