import { randomBytes, randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { PersonalDataRevealedData } from '../../../libs/domain/operations/operation.events.ts';
import { operation, RecordReveal } from '../../../libs/domain/operations/operation.ts';
import { uuidV7 } from '../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../libs/kernel/messages.ts';
import type { Engine } from '../../shared/engine.ts';

/** Operations concern the deployment, not one platform of it. */
const deployment: Tenant = { platform: 'operations', environment: 'production' };

/** Who runs the command, where nobody is named: `<user>@<host>`. */
export const whoami = (): string => `${userInfo().username}@${hostname()}`;

/** Records in the log that people's data is about to be shown; returns when that is committed. Answers the id of the operation. */
export async function recordReveal(
  { writePath, clock }: Engine,
  what: Omit<PersonalDataRevealedData, 'operationId'>,
): Promise<string> {
  const operationId = uuidV7(clock.nowMs(), randomBytes(10));
  const commandId = randomUUID();
  const envelope = { commandId, correlationId: commandId, actor: 'ops', tenant: deployment };
  await writePath.execute(operation, new RecordReveal({ operationId, ...what }), envelope);
  return operationId;
}
