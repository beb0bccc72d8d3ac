import { type CustomerState, customer } from '../../../libs/domain/customers/customer.ts';
import { reject } from '../../../libs/kernel/errors.ts';
import { isUuid, parsePublicId } from '../../../libs/kernel/ids.ts';
import type { Environment, Tenant } from '../../../libs/kernel/messages.ts';
import type { Engine } from '../../shared/engine.ts';
import { type Erasure, eraseCustomer } from '../../shared/erase.ts';
import { Misused } from './command.ts';

/** Erases a deleted customer, named by its public id or bare uuid. Throws `USER_NOT_FOUND` and what `eraseCustomer` throws. */
export async function erase(engine: Engine, id: string): Promise<Erasure> {
  const uuid = parsePublicId('Customer', id) ?? id.toLowerCase();
  if (!isUuid(uuid)) throw new Misused(`${id} is no customer: give Customer:<uuid>.`);
  const { state } = await engine.writePath.state<CustomerState>(customer, uuid);
  if (!state.tenantId) throw reject('USER_NOT_FOUND');
  return eraseCustomer(engine, tenantOf(state.tenantId), uuid);
}

/** `<platform>.<environment>` */
function tenantOf(tenantId: string): Tenant {
  const dot = tenantId.lastIndexOf('.');
  return { platform: tenantId.slice(0, dot), environment: tenantId.slice(dot + 1) as Environment };
}
