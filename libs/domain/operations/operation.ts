import type { Decider } from '../../kernel/decider.ts';
import { type Rejection, reject } from '../../kernel/errors.ts';
import { command, type Stamped } from '../../kernel/messages.ts';
import { transitions } from '../../kernel/transitions.ts';
import type { OperationEvent, PersonalDataRevealedData } from './operation.events.ts';

/** Records that somebody is about to be shown people's data. */
export class RecordReveal extends command('RecordReveal')<PersonalDataRevealedData>() {}

export type OperationCommand = RecordReveal;

export type OperationStatus = 'NONE' | 'RECORDED';

export interface OperationState {
  status: OperationStatus;
  by: string;
  recordedAt: string;
}

export const operationTransitions = transitions<OperationStatus, OperationCommand['type']>(
  [
    ['NONE', 'RecordReveal', 'RECORDED', 'PersonalDataRevealed'],
    ['RECORDED', 'RecordReveal', reject('CONFLICT', { reason: 'OPERATION_RECORDED' })],
  ],
  reject('CONFLICT'),
);

function decide(state: OperationState, { type, data }: OperationCommand): OperationEvent[] | Rejection {
  return operationTransitions.guard(state.status, type) ?? [{ type: 'PersonalDataRevealed', data }];
}

const evolve = (_: OperationState, { data, at }: OperationEvent & Stamped): OperationState => ({
  status: 'RECORDED',
  by: data.by,
  recordedAt: at,
});

/** One thing that an operator or auditor did, for whoever audits them. One stream each. */
export const operation: Decider<OperationState, OperationCommand, OperationEvent> = {
  name: 'operation',
  clock: 'wall',
  id: 'operationId',
  commands: [RecordReveal],
  creates: ['RecordReveal'],
  initial: { status: 'NONE', by: '', recordedAt: '' },
  decide,
  evolve,
  version: 1,
};
