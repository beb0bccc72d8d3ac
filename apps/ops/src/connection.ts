import type { Config } from '../../../libs/runtime/config.ts';
import { createLogger } from '../../../libs/runtime/http/logging.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { prepareReadTables } from '../../projector/src/prepare.ts';
import { Projector } from '../../projector/src/projector.ts';
import { openDatabase } from '../../shared/database.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import type { Output } from './output.ts';

const PROJECT_PATIENCE_MS = 30_000;
const ASK_EVERY_MS = 50;

/** What the parts of the program say to an operator: warnings and errors, never in the middle of a line that moves. */
export const loggerOf = (out: Pick<Output, 'note'>) =>
  createLogger({ level: 'warn', pretty: true, destination: { write: (line) => out.note(line.trimEnd()) } });

/**
 * An engine on the database of the configuration. The embedded PostgreSQL of a platform that is running is used as it is and left
 * running; without one, it is started for the command.
 */
export async function withEngine<T>(
  config: Config,
  out: Pick<Output, 'note'>,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const logger = loggerOf(out);
  const database = await openDatabase(config, { logger, join: true });
  try {
    const engine = await openEngine({ databaseUrl: database.url, masterKey: database.masterKey, logger });
    try {
      return await work(engine);
    } finally {
      await engine.close();
    }
  } finally {
    await database.stop();
  }
}
/** Refuses to write for a deployment whose read tables another version of the program made. */
async function requireReadTables(engine: Engine): Promise<void> {
  const outdated = await prepareReadTables(engine.pool, projections);
  if (outdated.length === 0) return;
  const names = outdated.map(({ name }) => name).join(', ');
  throw new Error(
    `The read models ${names} are of another version: run \`ops rebuild --all\`, or start the platform once.`,
  );
}

/**
 * Does something that writes, and waits until the read tables show it. Where no platform runs, its projector runs here meanwhile;
 * where one does, that one holds the lease and this one only waits.
 */
export async function whileProjecting<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  await requireReadTables(engine);
  const projector = new Projector({
    url: engine.url,
    store: engine.store,
    codec: engine.codec,
    catalogue: { projections, announcers, processes },
    log: (level, message, error) => engine.logger[level]({ err: error }, message),
  });
  await projector.start();
  try {
    const done = await work();
    const head = await engine.store.head();
    const deadline = performance.now() + PROJECT_PATIENCE_MS;
    while ((await projectedUpTo(engine)) < head) {
      if (performance.now() > deadline) throw new Error('The read models do not catch up with the log.');
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
    return done;
  } finally {
    await projector.stop();
  }
}

async function projectedUpTo(engine: Engine): Promise<number> {
  const { rows } = await engine.pool.query<{ position: string }>(
    `SELECT position FROM checkpoints WHERE name = 'live'`,
  );
  return Number(rows[0]?.position ?? 0);
}
