import type { AnyProjection } from '../../../libs/kernel/projection.ts';
import { announcers, processes, projections } from '../../../projections/index.ts';
import { openFeed } from '../../shared/feed.ts';
import { databaseCheck, logTo, type Part, type PartContext } from '../../shared/part.ts';
import { ProjectionWatch } from '../../shared/projection-watch.ts';
import { dropFormerTables, prepareReadTables } from './prepare.ts';
import { Projector } from './projector.ts';
import { rebuild } from './rebuild.ts';
import { type RunningProjector, SupervisedProjector } from './supervised.ts';

/** The projector as a part of the platform: in a thread beside other parts, or in this thread where it has the process for itself. */
export async function startProjector(
  context: PartContext,
  place: 'thread' | 'inline',
): Promise<Part & { projector: RunningProjector }> {
  const { engine, config } = context;
  await bringReadTablesUp(context);
  const projector = place === 'thread' ? inThread(context) : await inline(context);
  const watch = new ProjectionWatch({ engine, topic: config.kafka?.topic, projector });
  return {
    projector,
    checks: [databaseCheck(engine), watch.check],
    async stop() {
      await watch.stop();
      await projector.stop();
    },
  };
}

function inThread({ config, engine, masterKey, metrics: { advanced } }: PartContext): RunningProjector {
  const { kafka } = config;
  const { url, esdbUrl } = engine;
  const supervised = new SupervisedProjector({ url, esdbUrl, masterKey, kafka, log: logTo(engine), advanced });
  supervised.start();
  return supervised;
}

async function inline({ config, engine, metrics: { advanced } }: PartContext): Promise<RunningProjector> {
  const { url, store, codec } = engine;
  const catalogue = { projections, announcers, processes };
  const log = logTo(engine);
  const feed = await openFeed(config.kafka, { store, log });
  const projector = new Projector({ url, store, codec, catalogue, log, advanced, ...(feed && { feed }) });
  await projector.start();
  return projector;
}

/** Read tables whose shape has changed are built anew before the projector goes on; until then it is not ready, and neither is an API. */
async function bringReadTablesUp(context: PartContext): Promise<void> {
  const { engine } = context;
  const outdated = await prepareReadTables(engine.pool, projections);
  if (outdated.length > 0) await rebuildOutdated(context, outdated);
  await dropFormerTables(engine.pool, projections);
}

async function rebuildOutdated(
  { engine, front, signal }: PartContext,
  outdated: readonly AnyProjection[],
): Promise<void> {
  const { logger } = engine;
  const names = outdated.map((projection) => projection.name).join(', ');
  front.doing = `rebuilding ${names}`;
  logger.info(`the shape of ${names} has changed: rebuilding before the projector goes on`);
  const { events, seconds } = await rebuild(engine, outdated, {
    wait: true,
    ...(signal && { signal }),
    progress: ({ position, upTo }) => {
      front.doing = `rebuilding ${names}: event ${position} of ${upTo}`;
    },
  });
  logger.info({ events, seconds: Math.round(seconds * 10) / 10 }, `${names} rebuilt`);
  front.doing = 'starting';
}
