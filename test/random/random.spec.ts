import { expect, test } from '@jest/globals';
import { startTestPlatform } from '../platform.ts';
import { runRandom } from './run.ts';

const SEED = 7;
const STEPS = 400;

test(`${STEPS} random requests of seed ${SEED}: every answer is as promised, and what is there was asked for`, async () => {
  const platform = await startTestPlatform({ dispatcher: true });
  try {
    const { outcomes, ...wrong } = await runRandom({
      port: (platform.app.getHttpServer().address() as { port: number }).port,
      sql: platform.engine.pool,
      withEngine: (work) => work(platform.engine),
      steps: STEPS,
      seed: SEED,
    });
    expect(wrong).toEqual({ faults: [], stuck: [], findings: [], unexplained: [], unasked: [], unsent: [] });
    const told = [...outcomes.keys()];
    expect(told.filter((one) => /^(POST|PATCH|DELETE) \S+ 2/.test(one)).length).toBeGreaterThan(15);
    expect(told.filter((one) => / 4\d\d /.test(one)).length).toBeGreaterThan(30);
  } finally {
    await platform.stop();
  }
});
