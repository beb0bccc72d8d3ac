import { type PlatformState, platform, tenantIdOf } from '../../../libs/domain/platforms/platform.ts';
import type { Environment, Tenant } from '../../../libs/kernel/messages.ts';
import { platforms } from '../../../projections/platforms.ts';
import type { Engine } from '../../shared/engine.ts';

/** The platform that is meant: the named one, or the only one there is. Throws when it is not clear or not there. */
export async function chosenPlatform(
  { pool, writePath }: Pick<Engine, 'pool' | 'writePath'>,
  { platform: id, environment }: { platform?: string; environment: Environment },
): Promise<{ tenant: Tenant; state: PlatformState }> {
  const [found, another] = await candidates(pool, id, environment);
  if (another) throw new Error('There are several platforms: name one with --platform (see `ops platform list`).');
  if (!found) throw new Error(`There is no ${id === undefined ? '' : 'such '}platform in ${environment}.`);
  const tenant: Tenant = { platform: found, environment };
  const { state } = await writePath.state<PlatformState>(platform, tenantIdOf(tenant));
  return { tenant, state };
}

/** Whether it is clear which platform is meant, for what can do without one. */
export const isOnlyPlatform = async ({ pool }: Pick<Engine, 'pool'>, environment: Environment): Promise<boolean> =>
  (await candidates(pool, undefined, environment)).length === 1;

/** The ids of at most two platforms that may be meant. */
async function candidates(pool: Engine['pool'], id: string | undefined, environment: Environment): Promise<string[]> {
  const { rows } = await pool.query<{ platform: string }>(
    `SELECT platform FROM ${platforms.name} WHERE environment = $1 AND ($2::text IS NULL OR platform = $2) LIMIT 2`,
    [environment, id ?? null],
  );
  return rows.map(({ platform: found }) => found);
}
