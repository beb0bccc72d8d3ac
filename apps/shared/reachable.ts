import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../libs/kernel/errors.ts';
import { isUnreachable } from '../../libs/runtime/unreachable.ts';

const RETRY_MS = 500;
const SAY_EVERY_MS = 30_000;

/**
 * Opens something, again and again for as long as what it stands on cannot be reached. `waiting` is told why, at first and then now and
 * then. Any other error is thrown, as is the reason of `signal`.
 */
export async function untilReachable<T>(
  open: () => Promise<T>,
  { waiting, signal }: { waiting: (reason: string) => void; signal: AbortSignal },
): Promise<T> {
  for (let saidAt = Number.NEGATIVE_INFINITY; ; await sleep(RETRY_MS)) {
    signal.throwIfAborted();
    try {
      return await open();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      if (performance.now() - saidAt < SAY_EVERY_MS) continue;
      saidAt = performance.now();
      waiting(reasonOf(error));
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  return messageOf(error);
}
