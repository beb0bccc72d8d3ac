import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { COMMAND_REFUSED } from '../../../libs/kernel/refusal.ts';
import { eventTypes } from './event-types.ts';

const domain = new URL('../../../libs/domain/', import.meta.url);

test('every event that the domain declares is of a known type, and so is a refusal', () => {
  const sources = readdirSync(domain, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.events\.ts$/.test(file),
  );
  const declared = sources.flatMap((file) =>
    [...readFileSync(new URL(file, domain), 'utf8').matchAll(/Event<\s*'(\w+)'/g)].map(([, type]) => type!),
  );
  expect(eventTypes).toEqual([...new Set([...declared, COMMAND_REFUSED])].sort());
});
