import { type RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Answered } from './logging.ts';

/** The metrics of this process, in the text format of Prometheus at `/metrics`. */
export const registry = new Registry();

/** Upper bounds in seconds for things that take between half a millisecond and ten seconds. */
export const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const existing = <M>(name: string, make: () => M): M => (registry.getSingleMetric(name) as M | undefined) ?? make();

/** A histogram of this process; asked for twice, it is the same one. Names end in their unit: `append_duration_seconds`. */
export const histogram = <L extends string>(
  name: string,
  help: string,
  labelNames: L[] = [],
  buckets = LATENCY_BUCKETS,
) => existing(name, () => new Histogram<L>({ name, help, labelNames, buckets, registers: [registry] }));

/** A counter of this process; names end in `_total`. */
export const counter = <L extends string>(name: string, help: string, labelNames: L[] = []) =>
  existing(name, () => new Counter<L>({ name, help, labelNames, registers: [registry] }));

/** A value that goes up and down; with `read` it is asked for at each scrape. */
export const gauge = <L extends string>(
  name: string,
  help: string,
  labelNames: L[] = [],
  read?: (gauge: Gauge<L>) => void,
) =>
  existing(
    name,
    () =>
      new Gauge<L>({
        name,
        help,
        labelNames,
        registers: [registry],
        ...(read && {
          collect() {
            read(this);
          },
        }),
      }),
  );

/** Starts the metrics of the process itself: memory, event loop, garbage collection. */
export function processMetrics(): void {
  if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry });
}

/** Starts the metrics of the process itself and gives the counter of requests. */
export function requestMetrics(): (answered: Answered) => void {
  processMetrics();
  const labels = ['method', 'route', 'status'] as const;
  const total = counter('http_requests_total', 'Requests answered.', [...labels]);
  const duration = histogram('http_request_duration_seconds', 'Time from request to answer.', [...labels]);
  return ({ seconds, method, route, status }) => {
    const series = { method, route, status };
    total.inc(series);
    duration.observe(series, seconds);
  };
}

/** Answers with all metrics. */
export const metricsHandler: RequestHandler = async (_req, res) => {
  res.type(registry.contentType).send(await registry.metrics());
};
