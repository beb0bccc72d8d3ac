import type { KeyObject } from 'node:crypto';
import type { Environment } from '../../libs/kernel/messages.ts';
import { serviceKeyFrom } from '../../libs/runtime/webhooks/service-key.ts';
import type { Engine } from './engine.ts';

/**
 * The private keys of `X-Service-Signature`, one per environment: derived from the master key, so that every process of a deployment
 * has the same ones.
 */
export function serviceKeys(engine: Pick<Engine, 'keyFor'>): (environment: Environment) => KeyObject {
  const made = new Map<Environment, KeyObject>();
  return (environment) => {
    const key = made.get(environment) ?? serviceKeyFrom(engine.keyFor(`webhook service key ${environment}`));
    made.set(environment, key);
    return key;
  };
}
