import { expect, test } from '@jest/globals';
import { Endpoint, Lane } from './lane.ts';

const learned = (endpoint: Endpoint, times: number, isDelivered: boolean, durationMs = 10): number => {
  for (let i = 0; i < times; i++) endpoint.learn(isDelivered, durationMs);
  return endpoint.limit;
};

test('good answers widen an endpoint one by one, up to its maximum', () => {
  const endpoint = new Endpoint('https://a.test', 20);
  expect([learned(endpoint, 0, true), learned(endpoint, 5, true), learned(endpoint, 50, true)]).toEqual([8, 13, 20]);
});

test('failures and slow answers halve it, down to one connection, from which it recovers', () => {
  const endpoint = new Endpoint('https://a.test', 128);
  expect([1, 1, 1, 1].map((times) => learned(endpoint, times, false))).toEqual([4, 2, 1, 1]);
  expect(learned(endpoint, 3, true)).toBe(4);
  expect(learned(endpoint, 1, true, 2_001)).toBe(2);
});

test('an endpoint takes at most half of the connections that are free for all, but one in any case', () => {
  const endpoint = new Endpoint('https://a.test', 128);
  endpoint.inFlight = 3;
  expect([10, 8, 7, 6].map((free) => endpoint.maySend(free))).toEqual([true, true, false, false]);
  endpoint.inFlight = 0;
  expect(endpoint.maySend(1)).toBe(true);
});

test('a lane fetches ahead of what may be in flight, and nothing while it has enough', () => {
  const lane = new Lane('p.sandbox');
  expect(lane.appetite).toBe(32);
  const delivery = { webhookId: '', type: '', body: '', attempts: 0, failures: 0, startedMs: 0, schedule: '' };
  lane.queue.push(...Array.from({ length: 16 }, () => delivery));
  expect(lane.appetite).toBe(16);
  lane.queue.push(delivery);
  expect(lane.appetite).toBe(0);
});
