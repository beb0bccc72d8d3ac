import { partitionsOf } from '../../apps/shared/feed.ts';
import { publicId } from '../../libs/kernel/ids.ts';
import { configOn, type Servers } from '../faults/servers.ts';
import { startHelper } from './children.ts';
import type { Bench } from './measuring.ts';
import { withParts } from './parts.ts';
import type { Figure } from './report.ts';
import type { ViewerResult, ViewerSpec } from './viewer.ts';

const ACCOUNTS = 1_000;
/** Commands per second: as many as leave the processes room, so that it is the way that is measured and not a queue. */
const RATE = 200;

/** From sending a command to its event in the read tables: API, projector and, on Kafka, relay are processes of their own. */
export async function visibility(bench: Bench, servers: Servers): Promise<Figure[]> {
  const { kafka } = configOn(servers);
  const feed = kafka ? 'Kafka' : 'direct';
  const p50: number[] = [];
  const p99: number[] = [];
  const viewer = await startHelper<ViewerSpec, ViewerResult>('viewer');
  try {
    await withParts(
      servers,
      `bench_visible_${feed.toLowerCase()}`,
      ACCOUNTS,
      async ({ roles, databaseUrl, platform }) => {
        const [api] = await roles.startAll('api', 'projector', ...(kafka ? (['relay'] as const) : []));
        for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
          const seen = await viewer.ask({
            port: api!.port,
            authorization: platform.authorization,
            databaseUrl,
            partition: partitionsOf(kafka).partitionOf(platform.tenant.platform),
            targets: platform.accounts.map((id) => publicId('InternalAccount', id)),
            rate: RATE,
            warmUpMs: bench.warmUpSeconds * 1_000,
            measureMs: bench.seconds * 1_000,
          });
          if ('error' in seen) throw new Error(`from command to read model, ${feed}: ${seen.error}`);
          const { commands, p50Ms, p99Ms, maxMs } = seen;
          bench.say(
            `from command to read model, ${feed}: ${commands} commands, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, worst ${maxMs.toFixed(1)} ms`,
          );
          p50.push(p50Ms);
          p99.push(p99Ms);
        }
      },
    );
  } finally {
    await viewer.stop();
  }
  const figure = (share: string, runs: number[]): Figure => ({
    row: 'visible',
    what: `from command to read model, ${feed}, ${share}`,
    unit: 'ms',
    runs,
    atMost: true,
    digits: 1,
  });
  return [{ ...figure('p50', p50), note: `at ${RATE} commands/s` }, figure('p99', p99)];
}
