import { expect } from '@jest/globals';
import { Transactions } from '../apps/ops/src/transactions.ts';
import {
  type AccountState,
  account,
  availableMinor,
  OpenAccount,
  ReceiveDeposit,
} from '../libs/domain/accounts/account.ts';
import { deciders } from '../libs/domain/index.ts';
import { timestamp } from '../libs/kernel/clock.ts';
import { type AnyDecider, fold, isAside, streamOf } from '../libs/kernel/decider.ts';
import { Rejection } from '../libs/kernel/errors.ts';
import type { Command, Event, RecordedEvent } from '../libs/kernel/messages.ts';
import type { AnyProcess, Refused, Step } from '../libs/kernel/process.ts';
import { movements } from '../projections/journal.ts';

/** When a world begins. */
export const BEGINNING = '2026-01-01T00:00:00.000Z';

const owners = new Map(deciders.flatMap((decider) => decider.commands.map(({ type }) => [type, decider] as const)));

/** What a process is about to do: ask the outside world, for whoever drives it to answer, or send a command. */
export type Move = { call: string; request: object } | { sends: Command };

/** The answer to a move before which the process dies. What it had sent is sent again by the next one. */
export const DIES = Symbol('dies');

interface Stream {
  state: unknown;
  /** How many of its events are no asides. */
  moves: number;
  /** Ids of the commands that it holds. */
  done: Set<string>;
}

/**
 * What the log, the ledgers and the processes do, by pure deciders alone, for properties that need thousands of runs: a command that is
 * sent again under its id changes nothing, each platform has a ledger of its own, and time passes only when it is told to.
 */
export class World {
  nowMs = Date.parse(BEGINNING);
  /** Everything that happened, as an auditor reads it. */
  readonly audited = new Transactions();
  private readonly streams = new Map<string, Stream>();
  /** By tenant and account, for accounts with their currency. */
  private readonly ledgers = new Map<string, Map<string, bigint>>();
  private readonly said = new Map<string, unknown>();
  private position = 0;

  get now(): string {
    return timestamp(this.nowMs);
  }

  state<S>(decider: AnyDecider, id: string): S {
    return (this.streams.get(`${decider.name}-${id}`)?.state ?? decider.initial) as S;
  }

  /** The ids of a decider's streams, in the order in which they began. */
  ids({ name }: AnyDecider): string[] {
    return [...this.streams.keys()]
      .filter((key) => key.startsWith(`${name}-`))
      .map((key) => key.slice(name.length + 1));
  }

  /** Balance of a system account, like `transit:USD`, in a platform's ledger. */
  sum(tenantId: string, name: string): bigint {
    return this.ledgers.get(tenantId)?.get(name) ?? 0n;
  }

  send(command: Command, commandId?: string): Rejection | undefined {
    const decider = owners.get(command.type)!;
    const name = streamOf(decider, command);
    const stream = this.streams.get(name) ?? { state: decider.initial, moves: 0, done: new Set() };
    if (commandId !== undefined && stream.done.has(commandId)) return undefined;
    const decision = decider.decide(stream.state, command);
    if (decision instanceof Rejection) return decision;
    const events = (decision as Event[]).map((event) => ({ ...event, at: this.now, position: ++this.position }));
    stream.state = fold({ initial: stream.state, evolve: decider.evolve }, events);
    stream.moves += events.filter(({ type }) => !isAside(decider, type)).length;
    if (commandId !== undefined) stream.done.add(commandId);
    this.streams.set(name, stream);
    const { tenantId } = stream.state as { tenantId: string };
    for (const event of events) this.book(tenantId, event as unknown as RecordedEvent);
    if (decider === account) expectNotNegative(stream.state as AccountState);
    return undefined;
  }

  /** Sends what cannot be refused. */
  must(command: Command, commandId?: string): void {
    const refusal = this.send(command, commandId);
    if (refusal) throw refusal;
  }

  /** Opens an internal account. */
  open(accountId: string, more: Partial<OpenAccount['data']> = {}): void {
    const base = { tenantId: 'p.sandbox', platformCustomerId: 'c', currency: 'USD', type: 'INTERNAL_FIAT' as const };
    this.must(new OpenAccount({ ...base, accountId, ...more }));
  }

  /** Money from nowhere arrives on an internal account. */
  deposit(accountId: string, amountMinor: bigint, paymentId = `deposit of ${accountId}`): void {
    const { tenantId, platformCustomerId, currency } = this.state<AccountState>(account, accountId);
    const leg = { accountId, currency, amountMinor, counterpart: `mint:${currency}`, paymentId };
    this.must(new ReceiveDeposit({ ...leg, tenantId, platformCustomerId, reference: 'FUND' }));
  }

  private book(tenantId: string, event: RecordedEvent): void {
    this.audited.take(event);
    const ledger = this.ledgers.get(tenantId) ?? new Map<string, bigint>();
    this.ledgers.set(tenantId, ledger);
    const move = (name: string, currency: string, minor: bigint) => {
      const key = name.startsWith('account:') ? `${name}:${currency}` : name;
      ledger.set(key, (ledger.get(key) ?? 0n) + minor);
    };
    for (const { from, to, currency, amountMinor } of movements(event)) {
      move(from, currency, -amountMinor);
      move(to, currency, amountMinor);
      const inTransit = ledger.get(`transit:${currency}`) ?? 0n;
      if (inTransit < 0n) throw new Error(`${event.type} takes more out of transit than there is: ${inTransit}`);
    }
  }

  /** One step of a process, as the driver takes it, with a pause before each move; whether there was one. */
  *step(process: AnyProcess, id: string): Generator<Move, boolean, unknown> {
    const stream = `${process.decider.name}-${id}`;
    const { state, moves } = this.streams.get(stream)!;
    const step = process.next(state) as Step | undefined;
    if (!step) return false;
    const asked = `${stream} ${moves}`;
    let outcome: unknown;
    if ('call' in step) {
      // Asked again after a death, the outside world says the same.
      if (!this.said.has(asked)) this.said.set(asked, yield { call: step.call, request: step.request });
      outcome = this.said.get(asked);
    } else {
      for (const [at, command] of step.sends.entries()) {
        yield { sends: command };
        const rejection = this.send(command, `${asked} ${at}`);
        if (!rejection) continue;
        outcome = { at, rejection } satisfies Refused;
        break;
      }
    }
    const after = step.after(outcome as never);
    yield { sends: after };
    this.must(after, `${asked} after`);
    return true;
  }

  /** Takes a process to its end, whatever it waits for. `meet` says what comes of each move: the answer to a call, or `DIES`. */
  run(process: AnyProcess, id: string, meet: (move: Move) => unknown): void {
    for (let i = 0; i < 200; i++) {
      if (this.walk(process, id, meet)) continue;
      if (!this.wake(process, id)) return;
    }
    throw new Error('the process does not come to an end');
  }

  private walk(process: AnyProcess, id: string, meet: (move: Move) => unknown): boolean {
    const step = this.step(process, id);
    let move = step.next();
    while (!move.done) {
      const met = meet(move.value);
      if (met === DIES) return true;
      move = step.next(met);
    }
    return move.value;
  }

  /** Lets the time pass that a process waits for; false when it waits for none. */
  wake(process: AnyProcess, id: string): boolean {
    const state = this.state(process.decider, id);
    const dueAt = process.dueAt(state);
    if (dueAt === undefined) return false;
    this.nowMs = Math.max(this.nowMs, Date.parse(dueAt));
    this.must(process.wake(state, this.now)!);
    return true;
  }

  /** Nothing is under way: each ledger is balanced by itself, and every account holds what its ledger says. */
  expectAtRest(): void {
    const wrong: string[] = [];
    for (const [tenantId, ledger] of this.ledgers) {
      const totals = new Map<string, bigint>();
      for (const [name, minor] of ledger) {
        const currency = name.slice(name.lastIndexOf(':') + 1);
        totals.set(currency, (totals.get(currency) ?? 0n) + minor);
        if (name.startsWith('transit:') && minor !== 0n) wrong.push(`${minor} is left in ${name} of ${tenantId}`);
      }
      for (const [currency, total] of totals)
        if (total !== 0n) wrong.push(`the ${currency} of ${tenantId} add up to ${total}`);
    }
    for (const id of this.ids(account)) {
      const { tenantId, currency, postedMinor, pendingMinor } = this.state<AccountState>(account, id);
      const booked = this.sum(tenantId, `account:${id}:${currency}`);
      if (postedMinor !== booked) wrong.push(`${id} holds ${postedMinor}, its ledger says ${booked}`);
      if (pendingMinor !== 0n) wrong.push(`${pendingMinor} of ${id} are still reserved`);
    }
    expect(wrong).toEqual([]);
  }
}

function expectNotNegative(state: AccountState): void {
  if (state.postedMinor >= 0n && state.pendingMinor >= 0n && availableMinor(state) >= 0n) return;
  throw new Error(`${state.accountId} holds ${state.postedMinor}, ${state.pendingMinor} of it reserved`);
}
