import { randomBytes } from 'node:crypto';
import type { PlatformSettings } from '../../../libs/domain/platforms/platform.events.ts';
import { type PlatformState, platform, tenantIdOf } from '../../../libs/domain/platforms/platform.ts';
import { uuidV7 } from '../../../libs/kernel/ids.ts';
import { fromJson } from '../../../libs/kernel/json.ts';
import type { Environment, Tenant } from '../../../libs/kernel/messages.ts';
import { platforms } from '../../../projections/platforms.ts';
import type { Engine } from '../../shared/engine.ts';
import { createPlatform, type IssuedCredentials, issueToken } from '../../shared/provision.ts';

/** A new platform as its operator gets to see it once. */
export interface NewPlatform {
  platform: string;
  name: string;
  environments: (IssuedCredentials & { environment: Environment; webhookSecret: string | undefined })[];
}

/** Makes a platform with its first token in each of the environments. The secrets are shown here and never again. */
export async function makePlatform(
  engine: Engine,
  options: { name: string; environments: readonly Environment[]; settings: Partial<PlatformSettings> },
): Promise<NewPlatform> {
  const { name, environments, settings } = options;
  const newId = () => uuidV7(engine.clock.nowMs(), randomBytes(10));
  const made: NewPlatform = { platform: newId(), name, environments: [] };
  for (const environment of environments) {
    const tenant: Tenant = { platform: made.platform, environment };
    await createPlatform(engine, tenant, { name, settings });
    const credentials = await issueToken(engine, tenant, { name: 'first', tokenId: newId() });
    const { state } = await engine.writePath.state<PlatformState>(platform, tenantIdOf(tenant));
    made.environments.push({ environment, ...credentials, webhookSecret: state.webhookSecrets?.[0]?.secret });
  }
  return made;
}

export interface ListedPlatform extends Tenant {
  name: string;
  settings: PlatformSettings;
  webhookEndpoint: string | undefined;
  createdAt: string;
}

/** Every platform of the deployment in each of its environments, oldest first. */
export async function listPlatforms(engine: Engine): Promise<ListedPlatform[]> {
  const { rows } = await engine.pool.query<{ state: string }>(
    `SELECT state FROM ${platforms.name} ORDER BY created_at, id`,
  );
  return rows.map((row) => {
    const state = fromJson<PlatformState>(row.state);
    const { platform: id, environment, name, settings, webhookEndpoint, createdAt } = state;
    return { platform: id, environment, name, settings, webhookEndpoint, createdAt };
  });
}
