import type { Logger } from '../../libs/runtime/http/logging.ts';

/** What ends the parts that have been started, in the order in which they were started. */
export type Cleanups = (() => unknown)[];

/** npm hands a Ctrl-C on that the terminal has already sent: within this time it is the same one. */
const SAME_SIGNAL_MS = 1_000;
const EMERGENCY_PATIENCE_MS = 35_000;

/** Says what is wrong and ends the process with 1: an error of ours by its message, any other one with where it came from. */
export function giveUp(error: unknown): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const isOurs = error instanceof Error && error.constructor === Error && !('code' in error);
  process.stderr.write(`\n${isOurs ? message : (stack ?? message)}\n\n`);
  process.exit(1);
}

/** Calls `end` at the first signal that asks the process to end; a second one ends it at once, with 130. */
export function endOnSignal(logger: Logger, doing: string, end: () => Promise<void>): void {
  let firstAt: number | undefined;
  const received = (signal: NodeJS.Signals) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      logger.info(`${signal}: ending, ${doing}; once more ends at once`);
      void end();
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
      process.exit(130); // an embedded PostgreSQL is told to end when the process exits
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, received);
}

/** After an error that nobody expected nothing can be relied upon: what was not answered is unknown to its sender, as after a crash. */
export function endOnFault(logger: Logger, last: () => Promise<unknown> | undefined = () => undefined): void {
  let isEnding = false;
  const fault = (error: unknown) => {
    logger.fatal({ err: error }, 'an unexpected error ends the process');
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(1), EMERGENCY_PATIENCE_MS).unref();
    Promise.resolve(last()).finally(() => process.exit(1));
  };
  process.on('unhandledRejection', fault);
  process.on('uncaughtException', fault);
}

/** Ends what was started, the last one first. One that fails to end does not keep the others from it. Says whether all ended cleanly. */
export async function cleanUp(cleanups: Cleanups, logger: Logger): Promise<boolean> {
  let isClean = true;
  for (const cleanup of cleanups.toReversed()) {
    try {
      await cleanup();
    } catch (error) {
      isClean = false;
      logger.error({ err: error }, 'a part of the platform did not end cleanly');
    }
  }
  return isClean;
}
