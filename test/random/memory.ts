import { isDeepStrictEqual } from 'node:util';
import type { Answer, Call } from './asking.ts';
import { Known, type Thing } from './known.ts';

const REMEMBERED = 100;

/** What the clients of one platform have asked for and seen, and what was not as promised. */
export class Memory {
  /** What was not as promised, with the step that it came of. */
  readonly faults: string[] = [];
  /** How often each operation had each outcome. */
  readonly outcomes = new Map<string, number>();
  readonly known: Known;
  /** Transactions that an answer named. */
  readonly named = new Set<string>();
  /** How often each account was funded with each amount, `InternalAccount:… 500`. */
  readonly funded = new Map<string, number>();
  /** Tokens whose end has been answered. */
  readonly ended = new Set<string>();
  /** The latest accepted requests that have a key, of the platform's first token. */
  readonly answered: { call: Call; answer: Answer }[] = [];
  /** The latest requests that have a key, answered or not. */
  readonly asked: Call[] = [];
  /** Customers whose erasure is over, as they were shown before. */
  readonly erased: Thing[] = [];
  /** How often answers may have been forgotten. */
  forgotten = 0;
  private readonly byKey = new Map<string, { call: Call; answer: Answer; forgotten: number }>();

  constructor(latest?: number) {
    this.known = new Known(latest);
  }

  asking(call: Call): void {
    if (!call.key) return;
    this.asked.push(call);
    if (this.asked.length > REMEMBERED) this.asked.shift();
  }

  /** An erasure takes remembered answers with it: those given so far, and those given while it went on, are expected of no key any more. */
  forget(): void {
    this.forgotten += 1;
    this.answered.length = 0;
  }

  /**
   * Notes what was accepted. False when that was so before, under the same key; what is different now is told. `forgotten`: as it was when
   * the request was sent.
   */
  accepted(call: Call, answer: Answer, forgotten: number, tell: (what: string) => void): boolean {
    if (!call.key) return this.learn(call, answer);
    const key = JSON.stringify([call.token?.id, call.method, call.path, call.key]);
    const first = this.byKey.get(key);
    if (!first) {
      this.byKey.set(key, { call, answer, forgotten });
      if (!call.token && forgotten === this.forgotten) this.answered.push({ call, answer });
      if (this.answered.length > REMEMBERED) this.answered.shift();
      return this.learn(call, answer);
    }
    if (first.forgotten < this.forgotten) return false;
    const status = call.path === '/internal-accounts' ? [200, 201] : [first.answer.status];
    const isSame = status.includes(answer.status) && first.answer.text === answer.text;
    if (!isSame) tell(`the same key was first answered ${first.answer.status} ${first.answer.text}`);
    if (!isDeepStrictEqual(first.call.body, call.body))
      tell(`the same key was accepted with ${JSON.stringify(first.call.body)}`);
    return false;
  }

  private learn({ method, path, body }: Call, { body: answer }: Answer): true {
    const last = path.split('/').at(-1)!;
    if (method === 'DELETE') this.known.forget(last);
    if (method === 'DELETE' && path.startsWith('/tokens/')) this.ended.add(last);
    this.known.learn(answer);
    const account = /^\/sandbox\/internal-accounts\/([^/]+)\/fund$/.exec(path)?.[1];
    if (account) {
      const key = `${decodeURIComponent(account)} ${(body as { amount: number }).amount}`;
      this.funded.set(key, (this.funded.get(key) ?? 0) + 1);
    }
    if (path.startsWith('/transactions/')) return true;
    for (const id of [answer?.transactionId, answer?.id]) if (String(id).startsWith('Transaction:')) this.named.add(id);
    return true;
  }
}
