import { expect, jest, test } from '@jest/globals';
import { fetchKafka } from '../kafka/fetch.ts';
import { runDistributedFaults } from './distributed.ts';
import { kept } from './verdict.ts';

const kafka = await fetchKafka();
if ('reason' in kafka) console.info(`skipped: the faults of separate parts, because ${kafka.reason}`);
const testKafka = 'reason' in kafka ? test.skip : test;

jest.setTimeout(1_800_000); // seven programs, a broker and a database, each of which is killed and comes back

testKafka(
  'kill -9 and standstill of every part and server under load: what was acknowledged is there exactly once, and nothing else',
  async () => {
    const found = await runDistributedFaults({
      engine: 'eventstoredb+kafka',
      faults: 14,
      seed: 5,
      clients: 4,
      pauseMs: 12_000,
      processes: { api: 1, worker: 1, dispatcher: 1 },
    });
    if ('reason' in found) throw new Error(found.reason);
    const { faults, acknowledged, refused, unanswered, ...wrong } = found;
    expect(wrong).toEqual({ ...kept(), contradictions: [], unsent: [] });
    expect(faults).toHaveLength(14);
    expect(acknowledged).toBeGreaterThan(20);
    expect(unanswered + refused).toBeGreaterThan(0);
  },
);
