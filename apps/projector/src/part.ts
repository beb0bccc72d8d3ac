import { announcers, processes, projections } from '../../../projections/index.ts';
import { databaseCheck, logTo, type Part, type PartContext } from '../../shared/part.ts';
import { ProjectionWatch } from '../../shared/projection-watch.ts';
import { prepareReadTables } from './prepare.ts';
import { Projector } from './projector.ts';
import { rebuild } from './rebuild.ts';
import { type RunningProjector, SupervisedProjector } from './supervised.ts';

/** The projector as a part of the platform: in a thread beside other parts, or in this thread where it has the process for itself. */
export async function startProjector(
  context: PartContext,
  place: 'thread' | 'inline',
): Promise<Part & { projector: RunningProjector }> {
  const { engine } = context;
  await bringReadTablesUp(context);
  const projector = place === 'thread' ? inThread(context) : await inline(context);
  const watch = new ProjectionWatch(engine, projector);
  return {
    projector,
    checks: [databaseCheck(engine), watch.check],
    async stop() {
      await watch.stop();
      await projector.stop();
    },
  };
}

function inThread({ engine, masterKey, metrics: { advanced } }: PartContext): RunningProjector {
  const supervised = new SupervisedProjector({ url: engine.url, masterKey, log: logTo(engine), advanced });
  supervised.start();
  return supervised;
}

async function inline({ engine, metrics: { advanced } }: PartContext): Promise<RunningProjector> {
  const { url, store, codec } = engine;
  const catalogue = { projections, announcers, processes };
  const projector = new Projector({ url, store, codec, catalogue, log: logTo(engine), advanced });
  await projector.start();
  return projector;
}

/** Read tables whose shape has changed are built anew before the projector goes on; until then it is not ready, and neither is an API. */
async function bringReadTablesUp({ engine, front, signal }: PartContext): Promise<void> {
  const { logger } = engine;
  const outdated = await prepareReadTables(engine.pool, projections);
  if (outdated.length === 0) return;
  const names = outdated.map((projection) => projection.name).join(', ');
  front.doing = `rebuilding ${names}`;
  logger.info(`the shape of ${names} has changed: rebuilding before the projector goes on`);
  const { events, seconds } = await rebuild(engine, outdated, {
    ...(signal && { signal }),
    progress: ({ position, upTo }) => {
      front.doing = `rebuilding ${names}: event ${position} of ${upTo}`;
    },
  });
  logger.info({ events, seconds: Math.round(seconds * 10) / 10 }, `${names} rebuilt`);
  front.doing = 'starting';
}
