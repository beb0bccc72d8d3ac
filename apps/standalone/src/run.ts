import { type Config, loadConfig } from '../../../libs/runtime/config.ts';
import { createLogger } from '../../../libs/runtime/http/logging.ts';
import type { Database } from '../../shared/database.ts';
import { endOnFault, endOnSignal, giveUp } from '../../shared/program.ts';
import { type RunningPlatform, startPlatform } from './platform.ts';

/** `npm start`: runs until a signal ends it. Exit code 0 after a clean end, 1 when something failed, 130 when it was forced. */
export async function run(): Promise<void> {
  let config: Config;
  try {
    config = loadConfig(undefined, 'standalone');
  } catch (error) {
    return giveUp(error);
  }
  const logger = createLogger({ level: config.logLevel, pretty: process.stdout.isTTY === true });
  let database: Database | undefined;
  endOnFault(logger, () => database?.stop());
  const ending = new AbortController();
  let platform: RunningPlatform | undefined;
  endOnSignal(logger, 'requests under way are answered first', async () => {
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
