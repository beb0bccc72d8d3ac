import { expect, test } from '@jest/globals';
import { partitioner, partitionOf, platformOf } from './partition.ts';

test.each([
  ['', 12, 2],
  ['a', 12, 2],
  ['platform-0', 12, 0],
  ['platform-1', 12, 10],
  ['0195e0a2-7f3c-7c1e-8f4d-3b2a19c0d5e7', 12, 3],
  ['0195e0a2-7f3c-7c1e-8f4d-3b2a19c0d5e7', 4, 3],
  ['Größe', 12, 0],
])('what was sent once lies there for ever: %j of %i partitions is in %i', (platform, partitions, partition) => {
  expect(partitionOf(platform, partitions)).toBe(partition);
});

test('platforms are spread over all partitions', () => {
  const counts = new Array(12).fill(0);
  for (let i = 0; i < 12_000; i += 1) counts[partitionOf(`platform-${i}`, 12)] += 1;
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(Math.max(...counts)).toBeLessThan(1_150);
});

test('a partitioner that remembers says the same, however many platforms it meets', () => {
  const remembering = partitioner(7);
  const names = Array.from({ length: 10_500 }, (_, i) => `platform-${i}`);
  for (const round of [1, 2]) {
    const wrong = names.filter((name) => remembering(name) !== partitionOf(name, 7));
    expect({ round, wrong }).toEqual({ round, wrong: [] });
  }
});

test('an event’s platform stands in its metadata', () => {
  expect(platformOf({ metadata: '{"platform":"p-1","environment":"sandbox"}' })).toBe('p-1');
  expect(platformOf({ metadata: '{"commandId":"c"}' })).toBe('');
});
