import { accountTransitions } from '../../../libs/domain/accounts/account.ts';
import { claimTransitions } from '../../../libs/domain/claims/claim.ts';
import { customerTransitions, verificationTransitions } from '../../../libs/domain/customers/customer.ts';
import { externalAccountTransitions } from '../../../libs/domain/external-accounts/external-account.ts';
import { umaDepositTransitions } from '../../../libs/domain/external-accounts/uma-deposit.ts';
import { incomingPaymentTransitions } from '../../../libs/domain/incoming-payments/incoming-payment.ts';
import { invitationTransitions } from '../../../libs/domain/invitations/invitation.ts';
import { operationTransitions } from '../../../libs/domain/operations/operation.ts';
import { paymentTransitions } from '../../../libs/domain/payments/payment.ts';
import { platformTransitions } from '../../../libs/domain/platforms/platform.ts';
import { sweepTransitions } from '../../../libs/domain/sweeps/sweep.ts';
import { tokenTransitions } from '../../../libs/domain/tokens/token.ts';
import { Rejection } from '../../../libs/kernel/errors.ts';
import type { TransitionTable } from '../../../libs/kernel/transitions.ts';

/** What a command does in some states: it leads to a state and events, or is refused. */
interface Transition {
  from: readonly string[];
  command: string;
  to?: string;
  /** Several are joined by commas; `nothing` is none. */
  event?: string;
  refusal?: Refusal;
}

interface Refusal {
  code: string;
  reason?: string;
}

/** A transition table as it is printed. */
export interface StateMachine {
  name: string;
  states: readonly string[];
  transitions: readonly Transition[];
  /** The refusal of what no row names. */
  otherwise: Refusal;
}

/** Every state machine of the platform, each as its decider reads it. */
export const stateMachines: readonly StateMachine[] = [
  machine('Platform configuration', platformTransitions),
  machine('API token', tokenTransitions),
  machine('Customer', customerTransitions),
  machine('Verification of a customer', verificationTransitions),
  machine('Internal account', accountTransitions),
  machine('External account', externalAccountTransitions),
  machine('Default UMA deposit account', umaDepositTransitions),
  machine('Payment (quote and transaction)', paymentTransitions),
  machine('Sweep of a rule-based account', sweepTransitions),
  machine('Incoming UMA payment', incomingPaymentTransitions),
  machine('Invitation', invitationTransitions),
  machine('Claim on a unique value', claimTransitions),
  machine('Operation', operationTransitions),
];

function machine<S extends string, C extends string>(name: string, table: TransitionTable<S, C>): StateMachine {
  return {
    name,
    states: table.states,
    transitions: table.rows.map(([from, command, ...outcome]) => {
      const [to, event] = outcome;
      const row = { from: typeof from === 'string' ? [from] : from, command };
      return to instanceof Rejection ? { ...row, refusal: refusalOf(to) } : { ...row, to, event: event as string };
    }),
    otherwise: refusalOf(table.otherwise),
  };
}

function refusalOf({ code, details }: Rejection): Refusal {
  return { code, ...(typeof details?.reason === 'string' && { reason: details.reason }) };
}

/** The tables as Markdown: a row per line of the table in the source, in its order. */
export function markdown(machines: readonly StateMachine[]): string {
  const head = '# States and transitions\n\nPrinted by `ops spec` from the tables that the program decides by.';
  return [head, ...machines.map(section)].join('\n\n');
}

function section({ name, transitions, otherwise }: StateMachine): string {
  const rows = transitions.map(({ from, command, to, event, refusal }) => {
    const becomes = refusal ? `refused: ${told(refusal)}` : to!;
    return `| ${from.join(', ')} | ${command} | ${becomes} | ${refusal ? '' : event} |`;
  });
  return [
    `## ${name}\n`,
    '| in | command | becomes | event |',
    '|---|---|---|---|',
    ...rows,
    `\nEverything else is refused: ${told(otherwise)}.`,
  ].join('\n');
}

const told = ({ code, reason }: Refusal): string => (reason === undefined ? `\`${code}\`` : `\`${code}\` (${reason})`);
