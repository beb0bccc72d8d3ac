import { type PlatformState, platform, tenantIdOf, type WebhookSecret } from '../../libs/domain/platforms/platform.ts';
import { fold } from '../../libs/kernel/decider.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import type { Engine } from './engine.ts';

export type { WebhookSecret };

/** The secrets of a platform in one environment, newest first, read from its stream: the read side holds none. */
export async function webhookSecretsOf(
  engine: Pick<Engine, 'store' | 'codec'>,
  tenant: Tenant,
): Promise<readonly WebhookSecret[]> {
  const logged = await engine.store.readStream(`${platform.name}-${tenantIdOf(tenant)}`, -1);
  const events = await engine.codec.decode(logged);
  const state = fold(platform, events as unknown as Parameters<typeof fold<PlatformState, never>>[1]);
  return state.webhookSecrets ?? [];
}

/** Those that sign at a moment, newest first. */
export const secretsAt = (secrets: readonly WebhookSecret[], nowMs: number): string[] =>
  secrets.filter(({ validUntil }) => !validUntil || Date.parse(validUntil) > nowMs).map(({ secret }) => secret);
