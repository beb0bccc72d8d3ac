import type { Engine } from '../../../shared/engine.ts';
import { umaOf } from '../../../shared/uma.ts';
import { SandboxUmaController } from '../sandbox/uma.controller.ts';
import type { ApiSettings } from '../settings.ts';
import { ApprovalController } from '../transactions/approval.controller.ts';
import { UmaProvidersController } from '../uma-providers/uma-providers.controller.ts';
import { LookupIds } from './lookup-ids.ts';
import { ReceiversController } from './receivers.controller.ts';
import { Receivers } from './receivers.ts';
import { Receiving } from './receiving.ts';
import { UMA } from './tokens.ts';

/** The feature's part of the API module. */
export const receiverControllers = [
  ReceiversController,
  UmaProvidersController,
  SandboxUmaController,
  ApprovalController,
];

export const receiverProviders = (engine: Engine, settings: ApiSettings) => [
  { provide: UMA, useValue: umaOf(engine.clock, settings.sandboxTimeScale) },
  { provide: LookupIds, useValue: new LookupIds(engine.keyFor('lookups')) },
  Receivers,
  Receiving,
];
