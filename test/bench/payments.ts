import { publicId } from '../../libs/kernel/ids.ts';
import { startHelper } from './children.ts';
import { type Deployment, type Lag, projectionLag, settled, setWebhookEndpoint } from './deployment.ts';
import { type Bench, measure, programOf } from './measuring.ts';
import type { Figure } from './report.ts';

const SAMPLE_EVERY_MS = 250;

/** Runs work with a webhook endpoint that answers, set for the platform. */
export async function withReceiver<T>(
  deployment: Deployment,
  work: (received: () => Promise<number>) => Promise<T>,
): Promise<T> {
  const receiver = await startHelper<object, { received: number }, { port: number }>('receiver', { saysReady: true });
  try {
    await setWebhookEndpoint(deployment, `http://127.0.0.1:${receiver.ready.port}/hooks`);
    return await work(async () => (await receiver.ask({})).received);
  } finally {
    await receiver.stop();
  }
}

/**
 * Payments from account to account, executed at once, for so many seconds. Counted in the read model by the time that each was settled,
 * after everything was projected; the lag of the projection is looked at all the while.
 */
export async function payments(
  bench: Bench,
  deployment: Deployment,
  received: () => Promise<number>,
  seconds: number,
): Promise<Figure[]> {
  const { sql, tenant } = deployment;
  const targets = deployment.accounts.map((id) => publicId('InternalAccount', id));
  const lags: Lag[] = [];
  const fromMs = Date.now() + bench.warmUpSeconds * 1_000;
  const sampling = setInterval(
    () =>
      projectionLag(sql).then(
        (lag) => lags.push(lag),
        () => {},
      ),
    SAMPLE_EVERY_MS,
  );
  const receivedBefore = await received();
  const measured = await measure(bench, 'payments', programOf(deployment), { shape: 'pay', targets, seconds });
  clearInterval(sampling);
  const duringLoad = (await received()) - receivedBefore;
  const endedMs = performance.now();
  await settled(deployment, { webhooks: true });
  const tailSeconds = (performance.now() - endedMs) / 1_000;
  const { rows } = await sql.query<{ completed: number }>(
    `SELECT count(*)::int AS completed FROM payments
      WHERE platform = $1 AND environment = $2 AND status = 'COMPLETED'
        AND (state::json ->> 'settledAt')::timestamptz >= $3 AND (state::json ->> 'settledAt')::timestamptz < $4`,
    [tenant.platform, tenant.environment, new Date(fromMs), new Date(fromMs + seconds * 1_000)],
  );
  const worst = lags.reduce((most, { seconds: lag }) => Math.max(most, lag), 0);
  const webhooks = (await received()) - receivedBefore;
  return [
    {
      row: 'payment',
      what: `payments, completed in the read model, over ${seconds} s`,
      unit: '/s',
      runs: [rows[0]!.completed / seconds],
      must: 800,
      aim: 1_500,
      note: `${Math.round(measured.perSecond)}/s answered; ${webhooks} webhooks, ${duringLoad} of them during the load, the rest within ${tailSeconds.toFixed(1)} s`,
    },
    {
      row: 'payment',
      what: 'projection lag meanwhile, worst',
      unit: 's',
      runs: [worst],
      must: 1,
      atMost: true,
      digits: 2,
      note: `${lags.length} samples, worst ${lags.reduce((most, { events }) => Math.max(most, events), 0)} events`,
    },
  ];
}
