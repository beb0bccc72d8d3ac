import { setTimeout as sleep } from 'node:timers/promises';
import { ask, Wire, type WireRequest } from '../bench/wire.ts';
import type { Random } from './random.ts';

/** What a client wanted, and what it was told in the end. No other want has the same amount, so that the ledger can be asked for it. */
export interface Want {
  kind:
    | 'fund'
    | 'between accounts'
    | 'out'
    | 'out in two steps'
    | 'out, then cancelled'
    | 'sent'
    | 'sent wrongly'
    | 'too much';
  amount: number;
  /** 2xx: it must be there exactly once. 4xx: nothing of it may be. */
  outcome: 'acknowledged' | 'refused';
  /** Of a payment. */
  transactionId?: string;
}

export interface PayerOptions {
  port: number;
  authorization: string;
  random: Random;
  /** Public ids. */
  accounts: readonly string[];
  banks: readonly string[];
  /** More than an account can hold. */
  tooMuch: number;
  nextAmount(): number;
}

const PATIENCE_MS = 45_000;
const PAUSE_MS = 40;
/** Of the acknowledged requests, the share that is sent once more: a client that never got to see the answer. */
const REPEATED = 0.2;

/** A client that wants money moved, and repeats each request with its key until it is told what became of it. */
export class Payer {
  readonly wants: Want[] = [];
  /** Requests that went unanswered and were sent again. */
  unanswered = 0;
  /** Repetitions that were answered differently. */
  readonly contradictions: string[] = [];
  private readonly options: PayerOptions;
  private readonly name: string;
  private wire: Wire;
  private keys = 0;
  private hasGivenUp = false;

  constructor(name: string, options: PayerOptions) {
    this.name = name;
    this.options = options;
    this.wire = new Wire(options.port, options.authorization);
  }

  /** Wants one thing after the other until told to stop; what was begun is brought to its end. */
  async run(shallGoOn: () => boolean): Promise<void> {
    while (shallGoOn()) await this.wantSomething();
    this.wire.close();
  }

  /** There is no platform any more to ask: ends with an error. */
  giveUp(): void {
    this.hasGivenUp = true;
    this.wire.close();
  }

  private async wantSomething(): Promise<void> {
    const { random, accounts, banks, tooMuch, nextAmount } = this.options;
    const amount = nextAmount();
    const from = random.pick(accounts);
    const to = random.pick(accounts.filter((account) => account !== from));
    const dice = random.next();
    if (dice < 0.25) return this.fund(from, amount);
    if (dice < 0.55) return this.pay('between accounts', from, to, amount);
    if (dice < 0.75) return this.pay('out', from, random.pick(banks), amount);
    if (dice < 0.82) return this.payInTwoSteps(from, random.pick(banks), amount);
    if (dice < 0.87) return this.payAndCancel(from, random.pick(banks), amount);
    if (dice < 0.92) return this.send(to, amount, dice < 0.9 ? amount : nextAmount());
    return this.pay('too much', from, to, tooMuch + amount);
  }

  private async fund(account: string, amount: number): Promise<void> {
    const { status } = await this.certain(`/sandbox/internal-accounts/${account}/fund`, { amount });
    this.wants.push({ kind: 'fund', amount, outcome: outcomeOf(status) });
  }

  private async pay(kind: Want['kind'], from: string, to: string, amount: number): Promise<void> {
    const { status, body } = await this.certain('/quotes', quote(from, to, amount, true));
    this.wants.push({ kind, amount, outcome: outcomeOf(status), ...transactionOf(status, body) });
  }

  private async payInTwoSteps(from: string, to: string, amount: number): Promise<void> {
    const kind = 'out in two steps';
    const made = await this.certain('/quotes', quote(from, to, amount, false));
    if (outcomeOf(made.status) === 'refused') return void this.wants.push({ kind, amount, outcome: 'refused' });
    const { id } = JSON.parse(made.body) as { id: string };
    const { status, body } = await this.certain(`/quotes/${id}/execute`, {});
    this.wants.push({ kind, amount, outcome: outcomeOf(status), ...transactionOf(status, body) });
  }

  /** Cancels what it has just paid; banks that are slow can still be stopped. */
  private async payAndCancel(from: string, to: string, amount: number): Promise<void> {
    const { status, body } = await this.certain('/quotes', quote(from, to, amount, true));
    const made = transactionOf(status, body);
    this.wants.push({ kind: 'out, then cancelled', amount, outcome: outcomeOf(status), ...made });
    if (made.transactionId) await this.certain(`/transactions/${made.transactionId}/cancel`, {});
  }

  /** Money comes for a quote that waits for it; any other amount than the one asked for goes back. */
  private async send(to: string, amount: number, currencyAmount: number): Promise<void> {
    const kind = currencyAmount === amount ? 'sent' : 'sent wrongly';
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD' };
    const made = await this.certain('/quotes', { ...quote('', to, amount, false), source });
    if (outcomeOf(made.status) === 'refused') return void this.wants.push({ kind, amount, outcome: 'refused' });
    const { id: quoteId, transactionId } = JSON.parse(made.body) as { id: string; transactionId: string };
    const { status } = await this.certain('/sandbox/send', { quoteId, currencyCode: 'USD', currencyAmount });
    this.wants.push({ kind, amount, outcome: outcomeOf(status), transactionId });
  }

  /** The answer to a request, repeated with the same key for as long as there is none. */
  private async certain(path: string, body: object): Promise<{ status: number; body: string }> {
    this.keys += 1;
    const request: WireRequest = {
      method: 'POST',
      path: `/2025-10-13${path}`,
      body: JSON.stringify(body),
      idempotencyKey: `${this.name}-${this.keys}`,
    };
    const answer = await this.untilAnswered(request);
    if (answer.status >= 300 || this.options.random.next() > REPEATED) return answer;
    const again = await this.untilAnswered(request);
    if (again.status !== answer.status || again.body !== answer.body) {
      this.contradictions.push(`${request.idempotencyKey}: ${answer.body} and then ${again.status} ${again.body}`);
    }
    return answer;
  }

  private async untilAnswered(request: WireRequest): Promise<{ status: number; body: string }> {
    for (;;) {
      const overdue = new AbortController();
      const late = sleep(PATIENCE_MS, { status: 0, body: '' }, { signal: overdue.signal });
      late.catch(() => {}); // the usual case: it is not needed
      const answer = await Promise.race([ask(this.wire, request), late]);
      overdue.abort();
      if (isAnswer(answer)) return answer;
      if (this.hasGivenUp) throw new Error(`${this.name} has given up`);
      this.unanswered += 1;
      this.wire.close();
      this.wire = new Wire(this.options.port, this.options.authorization);
      await sleep(PAUSE_MS);
    }
  }
}

/** Money is moved while something is done. When that fails, nobody goes on asking a platform that may have gone. */
export async function whilePaying<T>(payers: readonly Payer[], work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const running = Promise.all(payers.map((payer) => payer.run(() => !isOver)));
  running.catch(() => {}); // told below
  try {
    const done = await work();
    isOver = true;
    await running;
    return done;
  } catch (error) {
    isOver = true;
    for (const payer of payers) payer.giveUp();
    await running.catch(() => {});
    throw error;
  }
}

const isAnswer = ({ status, body }: { status: number; body: string }): boolean =>
  status !== 0 && status < 500 && !body.includes('REQUEST_IN_PROGRESS');

const outcomeOf = (status: number): Want['outcome'] => (status < 300 ? 'acknowledged' : 'refused');

const transactionOf = (status: number, body: string) =>
  status < 300 ? { transactionId: (JSON.parse(body) as { transactionId: string }).transactionId } : {};

const quote = (from: string, to: string, amount: number, immediatelyExecute: boolean) => ({
  source: { sourceType: 'ACCOUNT', accountId: from },
  destination: { destinationType: 'ACCOUNT', accountId: to },
  lockedCurrencySide: 'SENDING',
  lockedCurrencyAmount: amount,
  immediatelyExecute,
});
