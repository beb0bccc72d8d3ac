import type { Engine } from '../../../shared/engine.ts';
import { InvitationCodes } from './invitation-codes.ts';
import { InvitationsController } from './invitations.controller.ts';
import { InvitationFacts } from './invitations.facts.ts';

/** The feature's part of the API module. */
export const invitationControllers = [InvitationsController];

export const invitationProviders = (engine: Engine) => [
  { provide: InvitationCodes, useValue: new InvitationCodes(engine.keyFor('invitation codes')) },
  InvitationFacts,
];
