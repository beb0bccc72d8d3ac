import { checkpointsOf, liveCheckpoints } from '../../../libs/adapters/postgres/live-checkpoints.ts';
import type { Config } from '../../../libs/runtime/config.ts';
import { createLogger, type Logger } from '../../../libs/runtime/http/logging.ts';
import { FIRST_MIGRATION, pendingMigrations } from '../../../migrations/index.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { prepareReadTables, strangeTables } from '../../projector/src/prepare.ts';
import { Projector } from '../../projector/src/projector.ts';
import { type Database, openDatabase } from '../../shared/database.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { partitionsOf } from '../../shared/feed.ts';
import { requireRightMasterKey } from '../../shared/right-master-key.ts';
import type { Deployment } from './command.ts';
import { count, type Output } from './output.ts';
import { replay } from './replay.ts';

/** How long the read models may stand still while they are behind. */
const PATIENCE_MS = 30_000;
const ASK_EVERY_MS = 50;

/** What the parts of the program say to an operator: warnings and errors, never in the middle of a line that moves. */
export const loggerOf = (out: Pick<Output, 'note'>) =>
  createLogger({ level: 'warn', pretty: true, destination: { write: (line) => out.note(line.trimEnd()) } });

/**
 * An engine on the database of the configuration. The embedded PostgreSQL of a platform that is running is used as it is and left
 * running; without one, it is started for the command. A deployment is begun only by what is meant to.
 */
export async function withEngine<T>(
  config: Config,
  out: Pick<Output, 'note'>,
  work: (engine: Engine) => Promise<T>,
  on: Deployment = 'existing',
): Promise<T> {
  const logger = loggerOf(out);
  const database = await openDatabase(config, { logger, join: true, existing: on === 'existing' });
  try {
    if (on === 'existing') await requireTables(database);
    const engine = await engineOn(database, config, logger);
    try {
      await requireRightMasterKey(engine);
      return await work(engine);
    } finally {
      await engine.close();
    }
  } finally {
    await database.stop();
  }
}

/** Refuses a database that was never one of ours: of an empty log everything is right, and opening it would make its tables. */
async function requireTables({ url }: Database): Promise<void> {
  if (!(await pendingMigrations(url)).includes(FIRST_MIGRATION)) return;
  throw new Error(
    'There is no data in this database: check DATABASE_URL. `ops migrate` makes the tables of a new deployment.',
  );
}

/** The engine that a configuration names, on its database. */
export function engineOn({ url: databaseUrl, masterKey }: Database, config: Config, logger: Logger): Promise<Engine> {
  const { esdbUrl, kafka } = config;
  return openEngine({ databaseUrl, esdbUrl, masterKey, logger, partitions: partitionsOf(kafka) });
}

/** Refuses to write for a deployment whose read tables another version of the program made. */
async function requireReadTables(engine: Engine): Promise<void> {
  await prepareReadTables(engine.pool, projections);
  const strange = await strangeTables(engine.pool, projections);
  if (strange.length === 0) return;
  throw new Error(
    `The read models ${strange.join(', ')} are of another version: run \`ops rebuild --all\`, or start the platform once.`,
  );
}

/**
 * Does something that writes, and waits until the read tables show it. Where no platform runs, a projector runs here meanwhile; where one
 * does, that one holds the lease and this one only waits. What comes in several partitions is carried by the platform's own projectors.
 */
export async function whileProjecting<T>(
  engine: Engine,
  work: () => Promise<T>,
  out?: Pick<Output, 'progress'>,
): Promise<T> {
  await requireReadTables(engine);
  const { url, store, codec, logger, partitions } = engine;
  const projector = new Projector({
    url,
    store,
    codec,
    catalogue: { projections, announcers, processes },
    log: (level, message, error) => logger[level]({ err: error }, message),
  });
  const before = await store.head();
  const isMine = partitions.partitions === 1;
  if (isMine) await projector.start();
  try {
    const done = await work();
    await projected(engine, isMine ? 0 : before, out);
    return done;
  } finally {
    if (isMine) await projector.stop();
  }
}

/** Waits until the read tables have come to the last event of each partition after a position. */
async function projected(
  { store, pool, partitions }: Engine,
  after: number,
  out?: Pick<Output, 'progress'>,
): Promise<void> {
  const names = checkpointsOf(partitions);
  const wanted = new Map<string, number>();
  if (names.length === 1) wanted.set(names[0]!, await store.head());
  else {
    for await (const batch of replay({ store }, { after })) {
      for (const { position, metadata } of batch)
        wanted.set(names[partitions.partitionOf(JSON.parse(metadata).platform)]!, position);
    }
  }
  let [stood, movedAt] = ['', performance.now()];
  for (;;) {
    const known = await liveCheckpoints(pool);
    if ([...wanted].every(([name, position]) => (known.get(name) ?? 0) >= position)) return;
    const stands = [...known.values()].join();
    if (stands !== stood) [stood, movedAt] = [stands, performance.now()];
    if (performance.now() - movedAt > PATIENCE_MS) throw new Error('The read models do not catch up with the log.');
    const [least, most] = [Math.min(...known.values()), Math.max(...wanted.values())];
    out?.progress(() => `read models: position ${count(least)} of ${count(most)}`);
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}
