import { expect, jest, test } from '@jest/globals';
import { runFaults } from './faults.ts';

jest.setTimeout(180_000); // each kill is followed by a start of the whole program

test('kill -9 of program and PostgreSQL under load: what was acknowledged is there exactly once, and nothing else', async () => {
  // seed 12 kills the program twice, PostgreSQL once, and both once
  const { acknowledged, unanswered, refused, kills, ...wrong } = await runFaults({ kills: 4, seed: 12, clients: 6 });
  expect(wrong).toEqual({
    lost: [],
    doubled: [],
    invented: [],
    stuck: [],
    findings: [],
    unexplained: [],
    contradictions: [],
  });
  expect(kills).toBe(4);
  expect(acknowledged).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(0);
  expect(unanswered).toBeGreaterThan(0);
});
