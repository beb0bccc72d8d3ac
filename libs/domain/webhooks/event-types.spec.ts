import { describe, expect, test } from '@jest/globals';
import { webhookEventType, webhookEventTypes } from './event-types.ts';

describe('webhook event types', () => {
  test('the spellings the spec prints differ from FAMILY.NAME in four places only', () => {
    const respelled = webhookEventTypes
      .filter(({ event, type }) => event !== type)
      .map(({ event, type }) => [event, type]);
    expect(respelled).toEqual([
      ['INVITATION.CLAIMED', 'INVITATION_CLAIMED'],
      ['CARD.STATE_CHANGE', 'card.state_change'],
      ['CARD.FUNDING_SOURCE_CHANGE', 'card.funding_source_change'],
      ['WALLET_OPERATION.COMPLETED', 'wallet_operation.completed'],
    ]);
  });

  test('every other name is FAMILY.NAME, and no two webhooks share a type', () => {
    for (const { event } of webhookEventTypes) expect(event).toMatch(/^(TEST|[A-Z_]+\.[A-Z_]+)$/);
    expect(new Set(webhookEventTypes.map(({ type }) => type)).size).toBe(webhookEventTypes.length);
  });

  test('the number of types per family is that of the contract', () => {
    const perFamily: Record<string, number> = {};
    for (const { event } of webhookEventTypes) {
      const family = event.split('.')[0]!;
      perFamily[family] = (perFamily[family] ?? 0) + 1;
    }
    expect(perFamily).toEqual({
      OUTGOING_PAYMENT: 10,
      INCOMING_PAYMENT: 7,
      CUSTOMER: 6,
      VERIFICATION: 6,
      EXTERNAL_ACCOUNT: 1,
      INTERNAL_ACCOUNT: 4, // with the sweep that failed, which facts §11 leaves without a name
      INVITATION: 1,
      BULK_UPLOAD: 2,
      AGENT_ACTION: 1,
      CARD: 2,
      CARD_TRANSACTION: 5,
      WALLET_OPERATION: 2,
      TEST: 1,
    });
  });

  test('only a test and a payment that asks for approval are sent once', () => {
    expect(webhookEventTypes.filter(({ isRetried }) => !isRetried).map(({ event }) => event)).toEqual([
      'INCOMING_PAYMENT.PENDING',
      'TEST',
    ]);
  });

  test('an entry is found by its name', () => {
    expect(webhookEventType('CARD.STATE_CHANGE')).toEqual({
      event: 'CARD.STATE_CHANGE',
      type: 'card.state_change',
      when: 'The `state` of a card changed; every transition is announced.',
      data: 'Card',
      isRetried: true,
      isEmitted: false,
    });
  });
});
