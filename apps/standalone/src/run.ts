import { type Config, loadConfig } from '../../../libs/runtime/config.ts';
import { createLogger, type Logger } from '../../../libs/runtime/http/logging.ts';
import type { Database } from '../../shared/database.ts';
import { type RunningPlatform, startPlatform } from './platform.ts';

/** npm hands a Ctrl-C on that the terminal has already sent: within this time it is the same one. */
const SAME_SIGNAL_MS = 1_000;
const EMERGENCY_PATIENCE_MS = 35_000;

/** `npm start`: runs until a signal ends it. Exit code 0 after a clean end, 1 when something failed, 130 when it was forced. */
export async function run(): Promise<void> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    return giveUp(error);
  }
  const logger = createLogger({ level: config.logLevel, pretty: process.stdout.isTTY === true });
  let database: Database | undefined;
  endOnFault(logger, () => database);
  const ending = new AbortController();
  let platform: RunningPlatform | undefined;
  endOnSignal(logger, async () => {
    ending.abort(new Error('ended while starting'));
    if (!platform) return; // the start notices, and ends what it has begun
    await platform.stop();
    process.exit(0);
  });
  try {
    platform = await startPlatform(config, {
      logger,
      signal: ending.signal,
      opened: (found) => {
        database = found;
      },
    });
    const { banner } = await import('./banner.ts');
    process.stdout.write(banner(platform, config));
  } catch (error) {
    if (ending.signal.aborted) process.exit(0);
    giveUp(error);
  }
}

function giveUp(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const isOurs = error instanceof Error && error.constructor === Error && !('code' in error);
  process.stderr.write(`\n${isOurs ? message : (stack ?? message)}\n\n`);
  process.exit(1);
}

function endOnSignal(logger: Logger, end: () => Promise<void>): void {
  let firstAt: number | undefined;
  const received = (signal: NodeJS.Signals) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      logger.info(`${signal}: ending, requests under way are answered first; once more ends at once`);
      void end();
    } else if (performance.now() - firstAt > SAME_SIGNAL_MS) {
      process.exit(130); // the embedded PostgreSQL is told to end when the process exits
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, received);
}

/** After an error that nobody expected nothing can be relied upon: what was not answered is unknown to its sender, as after a crash. */
function endOnFault(logger: Logger, database: () => Database | undefined): void {
  let isEnding = false;
  const fault = (error: unknown) => {
    logger.fatal({ err: error }, 'an unexpected error ends the process');
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(1), EMERGENCY_PATIENCE_MS).unref();
    Promise.resolve(database()?.stop()).finally(() => process.exit(1));
  };
  process.on('unhandledRejection', fault);
  process.on('uncaughtException', fault);
}
