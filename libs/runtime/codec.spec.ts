import { describe, expect, test } from '@jest/globals';
import { MemorySubjectKeys } from '../adapters/memory/subject-keys.ts';
import type { AnyDecider } from '../kernel/decider.ts';
import type { LoggedEvent, StoredEvent } from '../kernel/event-store.port.ts';
import type { Event, EventMeta } from '../kernel/messages.ts';
import { EventCodec, type Upcasters } from './codec.ts';

const decider = {
  name: 'person',
  personal: { PersonMet: { subject: 'personId', fields: ['name', 'contact'] } },
} as unknown as AnyDecider;
const meta: EventMeta = {
  commandId: 'c1',
  correlationId: 'r1',
  actor: 'token:t1',
  tenant: { platform: 'p1', environment: 'production' },
};
const AT = '2025-10-13T12:00:00.000Z';
const met: Event = {
  type: 'PersonMet',
  data: {
    personId: 'ada',
    name: 'Ada “Countess” 😀',
    contact: { email: 'ada@example.com', dueMinor: 12n },
    city: 'London',
  },
};

const logged = (stored: StoredEvent): LoggedEvent => ({ ...stored, stream: 'person-ada', revision: 4, position: 9 });

async function encoded(codec: EventCodec, event: Event, id = 'e1'): Promise<StoredEvent> {
  return codec.encode(event, id, AT, meta, await codec.keysFor([event]));
}

describe('the codec', () => {
  test('gives back the event with who, when and where', async () => {
    const codec = new EventCodec([decider], new MemorySubjectKeys());
    const event = { type: 'Paid', data: { amountMinor: 5n, to: 'x' } };
    const stored = await encoded(codec, event);
    expect(stored.payload).toBe('{"amountMinor":"5","to":"x"}');
    expect(await codec.decode([logged(stored)])).toEqual([
      { ...event, at: AT, id: 'e1', stream: 'person-ada', revision: 4, position: 9, meta },
    ]);
  });

  test('stores personal fields sealed, each time differently, and reads them with the key', async () => {
    const codec = new EventCodec([decider], new MemorySubjectKeys());
    const [one, other] = [await encoded(codec, met), await encoded(codec, met)];
    expect(one.payload).not.toMatch(/Ada|example\.com|Countess/);
    expect(one.payload).toContain('"city":"London"');
    expect(one.payload).not.toBe(other.payload);
    expect((await codec.decode([logged(one)]))[0]!.data).toEqual(met.data);
  });

  test('leaves personal fields absent once the key is destroyed, and seals nothing new', async () => {
    const keys = new MemorySubjectKeys();
    const codec = new EventCodec([decider], keys);
    const before = await encoded(codec, met);
    await keys.destroy('ada');
    const after = await encoded(codec, met);
    expect(after.payload).toBe('{"personId":"ada","city":"London"}');
    for (const event of await codec.decode([logged(before), logged(after)])) {
      expect(event.data).toEqual({ personId: 'ada', city: 'London' });
    }
  });

  test('makes no money of what lies in a free field, sealed or open', async () => {
    const deciders = [
      {
        ...decider,
        personal: { PersonMet: { subject: 'personId', fields: ['senderCustomerInfo'] } },
      },
    ];
    const codec = new EventCodec(deciders, new MemorySubjectKeys());
    const free = { houseMinor: '12', list: [{ keyMinor: '007' }] };
    const data = { personId: 'ada', dueMinor: 12n, senderCustomerInfo: free, counterpartyInformation: free };
    const stored = await encoded(codec, { type: 'PersonMet', data });
    expect((await codec.decode([logged(stored)]))[0]!.data).toEqual(data);
  });

  test('does not open a field that was moved to another event or another field', async () => {
    const codec = new EventCodec([decider], new MemorySubjectKeys());
    const stored = await encoded(codec, met);
    await expect(codec.decode([logged({ ...stored, id: 'e2' })])).rejects.toThrow();
    const { name, contact, ...rest } = JSON.parse(stored.payload);
    const swapped = JSON.stringify({ ...rest, name: contact, contact: name });
    await expect(codec.decode([logged({ ...stored, payload: swapped })])).rejects.toThrow();
  });

  test('does not take for sealed what a client wrote like that', async () => {
    const codec = new EventCodec([decider], new MemorySubjectKeys());
    const event = { type: 'PersonMet', data: { personId: 'ada', name: { $enc: 'AAAA' }, city: { $enc: 'BBBB' } } };
    const stored = await encoded(codec, event);
    expect((await codec.decode([logged(stored)]))[0]!.data).toEqual(event.data);
  });

  test('brings older versions to the newest before anybody sees them', async () => {
    const upcasters: Upcasters = {
      Paid: (data, version) => (version < 2 ? { ...data, currency: 'USD' } : data),
    };
    const codec = new EventCodec([], new MemorySubjectKeys(), upcasters);
    const stored = await encoded(codec, { type: 'Paid', data: { amountMinor: 5n } });
    const newer = { ...stored, metadata: JSON.stringify({ ...JSON.parse(stored.metadata), version: 2 }) };
    const [old, young] = await codec.decode([logged(stored), logged(newer)]);
    expect([old!.data, young!.data]).toEqual([{ amountMinor: 5n, currency: 'USD' }, { amountMinor: 5n }]);
  });
});
