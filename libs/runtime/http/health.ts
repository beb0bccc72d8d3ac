import { type RequestHandler } from 'express';
import { reject } from '../../kernel/errors.ts';
import { errorBody } from './errors.filter.ts';

/** Something the process needs to be ready; `check` says what is wrong, or undefined. */
export interface HealthCheck {
  name: string;
  check(): Promise<string | undefined>;
}

/** How long a check may take before it counts as failed, in milliseconds. */
const TIMEOUT_MS = 2_000;

/** `/healthz`: the process answers. */
export const healthHandler: RequestHandler = (_req, res) => {
  res.json({ status: 'ok' });
};

/** `/readyz`: 200 when every check is fine, else 503 that names what is not. Reasons are sentences of our own, no internals. */
export function readyHandler(checks: HealthCheck[]): RequestHandler {
  return async (_req, res) => {
    const results = await Promise.all(checks.map(async (check) => [check.name, await outcome(check)] as const));
    const failed = results.filter(([, wrong]) => wrong !== undefined);
    const answer = Object.fromEntries(results.map(([name, wrong]) => [name, wrong ?? 'ok']));
    if (failed.length === 0) res.json({ status: 'ok', checks: answer });
    else res.status(503).json(errorBody(reject('SERVICE_UNAVAILABLE', { checks: answer }, 'Not ready.')));
  };
}

async function outcome(health: HealthCheck): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, TIMEOUT_MS, `no answer within ${TIMEOUT_MS} ms`);
  });
  try {
    return await Promise.race([health.check(), late]);
  } catch {
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}
