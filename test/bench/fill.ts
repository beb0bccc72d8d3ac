import { randomBytes, randomUUID } from 'node:crypto';
import type { Engine } from '../../apps/shared/engine.ts';
import { type AccountState, account, CreditAccount, DebitAccount } from '../../libs/domain/accounts/account.ts';
import type { PaymentTerms } from '../../libs/domain/payments/payment.events.ts';
import { destinationLeg, sourceLeg } from '../../libs/domain/payments/payment.legs.ts';
import { CompletePayment, payment, QuotePayment } from '../../libs/domain/payments/payment.ts';
import { platformPublicId, tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { timestamp } from '../../libs/kernel/clock.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import { Rejection } from '../../libs/kernel/errors.ts';
import type { Append } from '../../libs/kernel/event-store.port.ts';
import { derivedUuid, publicId, uuidV7 } from '../../libs/kernel/ids.ts';
import type { Command, Event, Tenant } from '../../libs/kernel/messages.ts';
import type { Deployment } from './deployment.ts';

const PAYMENTS_AT_ONCE = 200;

interface Filled {
  decider: AnyDecider;
  state: unknown;
  revision: number;
  events: { event: Event; id: string; at: string; commandId: string; actor: string }[];
}

/** Payments between accounts, decided by the deciders and appended in bulk: as many events as asked for, much faster than clients are. */
class Filler {
  private readonly engine: Engine;
  private readonly tenant: Tenant;
  private readonly streams = new Map<string, Filled>();
  private changed = new Map<string, Filled>();

  constructor(engine: Engine, tenant: Tenant) {
    this.engine = engine;
    this.tenant = tenant;
  }

  async open(accountId: string): Promise<void> {
    const { state, revision } = await this.engine.writePath.state<AccountState>(account, accountId);
    this.streams.set(`account-${accountId}`, { decider: account, state, revision, events: [] });
  }

  /** One payment from one account to another, complete. Answers its uuid. */
  pay(source: string, destination: string): string {
    const paymentId = uuidV7(Date.now(), randomBytes(10));
    const request = randomUUID();
    const quoted = new QuotePayment({
      paymentId,
      tenantId: tenantIdOf(this.tenant),
      type: 'OUTGOING',
      platformCustomerId: platformPublicId(this.tenant),
      source: { kind: 'INTERNAL', accountId: source, currency: 'USD' },
      destination: { kind: 'INTERNAL', accountId: destination, currency: 'USD' },
      terms: terms(),
      immediatelyExecute: true,
      reference: `PAY-${paymentId.slice(-12).toUpperCase()}`,
      expiresAt: timestamp(Date.now() + 300_000),
    });
    const actor = 'process:completePayment';
    this.send(payment, paymentId, quoted, request, `token:${this.tenant.platform}`);
    this.send(account, source, new DebitAccount(sourceLeg(quoted.data)), request, actor);
    this.send(account, destination, new CreditAccount(destinationLeg(quoted.data)), request, actor);
    this.send(payment, paymentId, new CompletePayment({ paymentId }), request, actor);
    return paymentId;
  }

  /** Appends what was decided since; answers how many events. */
  async flush(): Promise<number> {
    const changed = [...this.changed];
    this.changed = new Map();
    const appends: Append[] = changed.map(([stream, filled]) => ({
      stream,
      expectedRevision: filled.revision,
      answers: [],
      events: filled.events.map(({ event, id, at, commandId, actor }) =>
        this.engine.codec.encode(
          event,
          id,
          at,
          { commandId, correlationId: commandId, actor, tenant: this.tenant },
          new Map(),
        ),
      ),
    }));
    const outcomes = await this.engine.store.append(appends);
    if (outcomes.some(({ outcome }) => outcome !== 'appended')) throw new Error('the fill met another writer');
    let events = 0;
    for (const [stream, filled] of changed) {
      filled.revision += filled.events.length;
      events += filled.events.length;
      filled.events = [];
      if (filled.decider === payment) this.streams.delete(stream);
    }
    return events;
  }

  private send(decider: AnyDecider, id: string, command: Command, request: string, actor: string): void {
    const stream = `${decider.name}-${id}`;
    const filled: Filled = this.streams.get(stream) ?? { decider, state: decider.initial, revision: -1, events: [] };
    const decision = decider.decide(filled.state, command);
    if (decision instanceof Rejection) throw decision;
    const commandId = derivedUuid(request, command.type);
    const at = timestamp(Date.now());
    for (const [step, event] of decision.entries()) {
      filled.state = decider.evolve(filled.state, { ...event, at });
      filled.events.push({ event, id: derivedUuid(commandId, stream, String(step)), at, commandId, actor });
    }
    this.streams.set(stream, filled);
    this.changed.set(stream, filled);
  }
}

const terms = (): PaymentTerms => ({
  sendingCurrency: 'USD',
  receivingCurrency: 'USD',
  sendingMinor: 100n,
  receivingMinor: 100n,
  serviceFeeMinor: 0n,
  platformFeeMinor: 0n,
  convertedMinor: 100n,
  exchangeRate: '1',
  rateAsOf: timestamp(Date.now()),
});

/**
 * Fills the log of a deployment until it holds so many events. Where others fill it at the same time, `from` says how many it held before.
 * Answers the public ids of some of the payments.
 */
export async function fill(
  engine: Engine,
  { tenant, accounts }: Pick<Deployment, 'tenant' | 'accounts'>,
  upTo: number,
  from?: number,
): Promise<string[]> {
  const filler = new Filler(engine, tenant);
  for (let first = 0; first < accounts.length; first += 1_000) {
    await Promise.all(accounts.slice(first, first + 1_000).map((id) => filler.open(id)));
  }
  const transactions: string[] = [];
  let pick = 0;
  const next = () => accounts[(pick++ * 7_919) % accounts.length]!;
  for (let position = from ?? (await engine.store.head()); position < upTo; position += await filler.flush()) {
    for (let i = 0; i < PAYMENTS_AT_ONCE; i += 1)
      transactions.push(publicId('Transaction', filler.pay(next(), next())));
  }
  return transactions;
}
