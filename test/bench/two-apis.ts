import { publicId } from '../../libs/kernel/ids.ts';
import type { Servers } from '../faults/servers.ts';
import type { RoleProcess } from '../roles/deployment.ts';
import { startHelper } from './children.ts';
import { settled } from './deployment.ts';
import type { LoadResult, LoadSpec } from './load.ts';
import { type Bench, measureAtOnce, type Target } from './measuring.ts';
import { type Parts, withParts } from './parts.ts';
import type { Figure } from './report.ts';

/**
 * One API process, then two, write the same hot account, in turns. Two load generators either way: both on the one process, or each on
 * its own.
 */
export async function twoApis(bench: Bench, servers: Servers): Promise<Figure[]> {
  const second = await startHelper<LoadSpec, LoadResult>('load');
  try {
    return await withParts(servers, 'bench_two_apis', 1, async (parts) => {
      const one: number[] = [];
      const two: number[] = [];
      const [first] = await parts.roles.startAll('api', 'projector');
      for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
        one.push(await hotRate(bench, 'fund, one hot account, one API process', parts, [first!, first!], second));
        const [other] = await parts.roles.startAll('api'); // one that idles would still follow what the first one writes
        two.push(await hotRate(bench, 'fund, one hot account, two API processes', parts, [first!, other!], second));
        await other!.terminate();
      }
      return figuresOf(one, two);
    });
  } finally {
    await second.stop();
  }
}

async function hotRate(
  bench: Bench,
  name: string,
  { dataDir, platform, sql }: Parts,
  apis: readonly [RoleProcess, RoleProcess],
  second: Bench['load'],
): Promise<number> {
  const target = ({ port, pid }: RoleProcess): Target => ({
    port,
    pid,
    dataDir,
    authorization: platform.authorization,
  });
  const loads = [
    { target: target(apis[0]), by: bench.load },
    { target: target(apis[1]), by: second },
  ];
  const targets = platform.accounts.map((id) => publicId('InternalAccount', id));
  const { perSecond } = await measureAtOnce(bench, name, loads, { shape: 'fund', targets });
  await settled({ sql });
  return perSecond;
}

function figuresOf(one: readonly number[], two: readonly number[]): Figure[] {
  const row = 'two-apis';
  const what = 'fund, one hot account, two API processes';
  const ratio = two.map((rate, i) => rate / one[i]!);
  return [
    { row, what: 'fund, one hot account, one API process', unit: '/s', runs: one },
    { row, what, unit: '/s', runs: two },
    { row, what: `${what}, of one`, unit: 'x', runs: ratio, must: 0.7, digits: 2 },
  ];
}
