import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../libs/kernel/errors.ts';

/** What the operating system, PostgreSQL and gRPC say when a server is not there, not there yet, or full. */
const UNREACHABLE = new Set<unknown>([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['57P01', '57P02', '57P03', '53300', '08000', '08001', '08003', '08004', '08006', '3D000'],
  ...['unavailable', 'deadline-exceeded', 4, 14],
]);

const RETRY_MS = 500;
const SAY_EVERY_MS = 30_000;

/** Whether an error only says that a server cannot be reached now, so that the same may succeed later. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, type, syscall } = error as { code?: unknown; type?: unknown; syscall?: unknown };
  if (UNREACHABLE.has(code) || UNREACHABLE.has(type)) return true;
  if (code === 'ENOENT' && syscall === 'connect') return true; // a server's socket
  if (/^(Connection terminated|timeout expired|timeout exceeded|Query read timeout)/i.test(error.message)) return true;
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  return isUnreachable(error.cause);
}

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
