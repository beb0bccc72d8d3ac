import { expect, test } from '@jest/globals';
import { payoutQuote } from '../../libs/domain/payments/payment.examples.ts';
import type { RecordedEvent } from '../../libs/kernel/messages.ts';
import type { Row, Rows } from '../../libs/kernel/projection.ts';
import { payments } from '../payments.ts';
import { paymentAnnouncer } from './payments.ts';

const { paymentId } = payoutQuote;
const described = { type: 'PaymentDescribed', data: { paymentId, subject: 'ada', description: 'Rent' } };
const quoted = (more: object) => ({ type: 'PaymentQuoted', data: { ...payoutQuote, ...more } });

/** What is said of each event of a payment: the sequence, and the description as it was told. */
function told(...events: { type: string; data: object }[]) {
  const table = new Map<string, Row>();
  const rows: Rows<Row> = { get: (id) => table.get(id), set: (row) => table.set(row.id, row) };
  const meta = { commandId: 'c', correlationId: 'c', actor: 'a', tenant: { platform: 'p', environment: 'sandbox' } };
  return events.map((one, revision) => {
    const place = { id: `${revision}`, stream: `payment-${paymentId}`, revision, position: revision + 1 };
    const event = { ...one, ...place, at: '2026-01-01T00:00:00.000Z', meta } as RecordedEvent;
    payments.apply(rows as never, event);
    return paymentAnnouncer
      .announce(event, (_, id) => table.get(id) as never)
      .map(({ type, sequence, data }) => [type, sequence, (data as { description?: string }).description]);
  });
}

const pending = 'OUTGOING_PAYMENT.PENDING';

test.each([
  ['without texts is told when it is quoted', [quoted({})], [[[pending, 1, undefined]]]],
  [
    'with texts is told once, when they are known',
    [quoted({ descriptions: 1 }), described],
    [[], [[pending, 2, 'Rent']]],
  ],
  [
    'with texts about two people is told once, when both are known',
    [quoted({ descriptions: 2 }), described, { ...described, data: { paymentId, subject: 'bob' } }],
    [[], [], [[pending, 3, 'Rent']]],
  ],
  ['from before that was recorded is told as it was then', [quoted({}), described], [[[pending, 1, undefined]], []]],
  [
    'that executes at once is not told as pending',
    [quoted({ descriptions: 1, immediatelyExecute: true }), described],
    [[], []],
  ],
  ['that is collected is told when it ends', [quoted({ descriptions: 1, type: 'INCOMING' }), described], [[], []]],
])('a payment %s', (_, events, expected) => {
  expect(told(...events)).toEqual(expected);
});
