import { expect, test } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type RandomOptions, type RandomReport, runRandom } from './run.ts';

const SEED = 7;
const STEPS = 400;
const STEPS_AT_ONCE = 100;
const CLIENTS = 8;

/** A random run against a platform, and what was wrong. */
async function report(
  options: (platform: TestPlatform) => Promise<Pick<RandomOptions, 'ports' | 'steps' | 'clients'>>,
): Promise<{ told: string[]; wrong: Omit<RandomReport, 'outcomes'> }> {
  const platform = await startTestPlatform({ dispatcher: true });
  try {
    const { outcomes, ...wrong } = await runRandom({
      ...(await options(platform)),
      sql: platform.engine.pool,
      withEngine: (work) => work(platform.engine),
      seed: SEED,
    });
    return { told: [...outcomes.keys()], wrong };
  } finally {
    await platform.stop();
  }
}

const portOf = ({ app }: TestPlatform): number => (app.getHttpServer().address() as { port: number }).port;
const accepted = (told: string[]) => told.filter((one) => /^(POST|PATCH|DELETE) \S+ 2/.test(one));
const nothing = { faults: [], stuck: [], findings: [], unexplained: [], unasked: [], unerased: [], unsent: [] };

test(`${STEPS} random requests of seed ${SEED}: every answer is as promised, and what is there was asked for`, async () => {
  const { told, wrong } = await report(async (platform) => ({ ports: [portOf(platform)], steps: STEPS }));
  expect(wrong).toEqual(nothing);
  expect(accepted(told).length).toBeGreaterThan(15);
  expect(told.filter((one) => / 4\d\d /.test(one)).length).toBeGreaterThan(30);
});

test(`${CLIENTS} at once, of two API processes, take ${STEPS_AT_ONCE} steps about the same: money moves once, and nothing is stuck`, async () => {
  const { told, wrong } = await report(async (platform) => {
    const { port } = await platform.instance();
    return { ports: [portOf(platform), port], steps: STEPS_AT_ONCE, clients: CLIENTS };
  });
  expect(wrong).toEqual(nothing);
  expect(accepted(told).length).toBeGreaterThan(10);
});
