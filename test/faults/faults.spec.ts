import { expect, jest, test } from '@jest/globals';
import { runFaults } from './faults.ts';
import { kept } from './verdict.ts';

jest.setTimeout(600_000); // each kill is followed by a start of the whole program

test('kill -9 of program and PostgreSQL under load: what was acknowledged is there exactly once, and nothing else', async () => {
  // seed 12 kills the program twice, PostgreSQL once, and both once
  const enough = { acknowledged: 51, refused: 1 };
  const { acknowledged, unanswered, refused, kills, ...wrong } = await runFaults({
    kills: 4,
    seed: 12,
    clients: 6,
    enough,
  });
  expect(wrong).toEqual({ ...kept(), contradictions: [] });
  expect(kills).toBe(4);
  expect(acknowledged).toBeGreaterThanOrEqual(enough.acknowledged);
  expect(refused).toBeGreaterThanOrEqual(enough.refused);
  expect(unanswered).toBeGreaterThan(0);
});
