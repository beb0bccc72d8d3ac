import { publicId } from '../../libs/kernel/ids.ts';
import { migrate } from '../../migrations/index.ts';
import { freshDatabase } from './databases.ts';
import { type Deployment, settled } from './deployment.ts';
import { type Bench, measure, programOf, type Target, withServer } from './measuring.ts';
import { type Figure, spread } from './report.ts';

/** The ledger writes, next to the limit probe and the naive ledger on the same PostgreSQL, in turns. */
export async function writes(bench: Bench, deployment: Deployment): Promise<Figure[]> {
  const { accounts, authorization } = deployment;
  const probeUrl = await freshDatabase(deployment.database.url, 'bench_probe');
  const naiveUrl = await freshDatabase(deployment.database.url, 'bench_naive');
  await migrate(probeUrl);
  const probeArgs = [probeUrl, authorization];
  const naiveArgs = [naiveUrl, authorization, String(accounts.length)];
  return withServer('probe', probeArgs, deployment, (probe) =>
    withServer('naive', naiveArgs, deployment, (naive) => inTurns(bench, deployment, probe, naive)),
  );
}

async function inTurns(bench: Bench, deployment: Deployment, probe: Target, naive: Target): Promise<Figure[]> {
  const program = programOf(deployment);
  const accounts = deployment.accounts.map((id) => publicId('InternalAccount', id));
  const naiveAccounts = accounts.map((_, n) => `account-${n}`);
  const rates = { probe: [], uniform: [], hot: [], naive: [], naiveHot: [] } as Record<string, number[]>;
  const take = async (name: string, target: Target, load: Parameters<typeof measure>[3]) => {
    rates[name]!.push((await measure(bench, name, target, load)).perSecond);
    await settled(deployment);
  };
  for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
    await take('probe', probe, { shape: 'append', targets: naiveAccounts });
    await take('uniform', program, { shape: 'fund', targets: accounts });
    await take('hot', program, { shape: 'fund', targets: accounts.slice(0, 1) });
    await take('naive', naive, { shape: 'transfer', targets: naiveAccounts });
    await take('naiveHot', naive, { shape: 'transferToOne', targets: naiveAccounts });
  }
  return figuresOf(rates);
}

function figuresOf(rates: Record<string, number[]>): Figure[] {
  const of = (name: string) => rates[name]!;
  const ratio = (one: string, other: string) => of(one).map((rate, i) => rate / of(other)[i]!);
  const uniform = 'fund, uniform over the accounts';
  const hot = 'fund, one hot account';
  const times = (what: string, unit: string, runs: number[], bounds: Pick<Figure, 'must' | 'aim'>): Figure => ({
    row: what.startsWith(uniform) ? 'fund' : 'hot',
    what,
    unit,
    runs,
    digits: 2,
    ...bounds,
  });
  return [
    { row: 'fund', what: uniform, unit: '/s', runs: of('uniform'), must: 2_500, aim: 4_500 },
    times(`${uniform}, of the limit probe`, 'x', ratio('uniform', 'probe'), { must: 0.2, aim: 0.35 }),
    times(`${uniform}, of the naive ledger`, 'x', ratio('uniform', 'naive'), { must: 1.5 }),
    { row: 'hot', what: hot, unit: '/s', runs: of('hot') },
    times(`${hot}, of uniform`, 'x', ratio('hot', 'uniform'), { must: 0.9, aim: 1 }),
    times(`${hot}, of the naive ledger`, 'x', ratio('hot', 'naiveHot'), { must: 2.2 }),
    { row: 'fund', what: 'limit probe', unit: '/s', runs: of('probe') },
    { row: 'fund', what: 'naive ledger, uniform', unit: '/s', runs: of('naive') },
    { row: 'hot', what: 'naive ledger, hot', unit: '/s', runs: of('naiveHot') },
  ];
}

/** The 99th percentile in an open loop at 70 % of the peak of a shape. */
export async function latency(
  bench: Bench,
  deployment: Deployment,
  shape: 'fund' | 'pay',
  webhooks: boolean,
): Promise<Figure> {
  const load = { shape, targets: deployment.accounts.map((id) => publicId('InternalAccount', id)) };
  const program = programOf(deployment);
  const peaks: number[] = [];
  const p99: number[] = [];
  for (let repetition = 0; repetition < bench.repetitions; repetition += 1) {
    peaks.push((await measure(bench, `${shape}, peak`, program, load)).perSecond);
    await settled(deployment, { webhooks });
    const rate = Math.round(spread(peaks).median * 0.7);
    p99.push((await measure(bench, `${shape}, open loop at ${rate}/s`, program, { ...load, rate })).p99Ms);
    await settled(deployment, { webhooks });
  }
  return {
    row: 'latency',
    what: `p99 of ${shape} at 70 % of its peak, open loop`,
    unit: 'ms',
    runs: p99,
    must: 50,
    aim: 25,
    atMost: true,
    digits: 1,
    note: `peak ${Math.round(spread(peaks).median)}/s`,
  };
}
