import { setTimeout as sleep } from 'node:timers/promises';
import { projections } from '../../projections/index.ts';
import { prepareReadTables } from '../projector/src/prepare.ts';
import type { PartContext } from './part.ts';

const LOOK_AGAIN_MS = 1_000;

/** For parts that read: waits while read tables are missing or of another shape, which a projector of this version builds anew. */
export async function untilReadTablesAreCurrent({ engine, front, signal }: PartContext): Promise<void> {
  for (let said = ''; ; await sleep(LOOK_AGAIN_MS, undefined, { ...(signal && { signal }) })) {
    const outdated = await prepareReadTables(engine.pool, projections);
    if (outdated.length === 0) break;
    const names = outdated.map((projection) => projection.name).join(', ');
    front.doing = `waiting for a projector to rebuild ${names}`;
    if (said !== names) engine.logger.info(front.doing);
    said = names;
  }
  front.doing = 'starting';
}
