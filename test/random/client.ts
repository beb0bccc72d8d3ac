import { isDeepStrictEqual } from 'node:util';
import { BASE_PATH } from '../../libs/runtime/http/index.ts';
import { Random } from '../faults/random.ts';
import {
  type Document,
  expectMatchesComponent,
  expectMatchesOpenApi,
  faultsOfRequest,
  templateOf,
} from '../openapi-validator.ts';
import type { Answer, Ask, Call } from './asking.ts';
import { Known } from './known.ts';
import { readingsOf, someReading, wrongPages } from './lists.ts';
import { rightRequest } from './requests.ts';
import { spoilt } from './spoil.ts';

export interface ClientOptions {
  name: string;
  ask: Ask;
  document: Document;
  seed: number;
  /** Where webhooks are received. */
  hooks: string;
}

/** Of what is asked: reads, requests that were answered once already, right ones; the others are wrong. */
const READS = 0.2;
const REPEATED = 0.25;
const RIGHT = 0.62;
/** Of the requests with a key, the share that is sent twice at once, and of the accepted ones the share that is sent again. */
const AT_ONCE = 0.1;
const AGAIN = 0.3;
const REMEMBERED = 100;
/** What a transaction shows, or its quote, that nothing but a client moves on. */
const STILL = ['COMPLETED', 'FAILED', 'EXPIRED', 'REJECTED', 'REFUNDED'];

/** Members that no platform reads, wherever they stand. */
const UNREAD = ['__proto__', 'constructor', 'prototype'];

/** A client that asks for anything, right and wrong, and holds every answer against what is promised. */
export class RandomClient {
  /** What was not as promised, with the step that it came of. */
  readonly faults: string[] = [];
  /** How often each operation had each outcome. */
  readonly outcomes = new Map<string, number>();
  readonly known = new Known();
  /** Transactions that an answer named. */
  readonly named = new Set<string>();
  /** How often each account was funded with each amount, `InternalAccount:… 500`. */
  readonly funded = new Map<string, number>();
  private readonly options: ClientOptions;
  private readonly readings: ReturnType<typeof readingsOf>;
  private readonly answered: { call: Call; answer: Answer }[] = [];
  private place = 'at the start';

  constructor(options: ClientOptions) {
    this.options = options;
    this.readings = readingsOf(options.document);
  }

  /** Asks for one thing. What it is depends on the seed, the number of the step, and what is there. */
  async step(number: number, elsewhere: Known): Promise<void> {
    const { name, seed, hooks } = this.options;
    const random = new Random(seed * 1_000_003 + number);
    this.place = `step ${number} of ${name}`;
    const dice = random.next();
    if (dice < READS) return this.read(random);
    if (dice < REPEATED && this.answered.length > 0) {
      const { call, answer } = random.pick(this.answered);
      return this.repeat(call, answer);
    }
    const right = rightRequest({ random, known: this.known, elsewhere, hooks });
    const call = right.method === 'DELETE' ? right : { ...right, key: `${name}-${number}` };
    if (dice < RIGHT) return this.ask(right, random, call);
    const wrong = spoilt(call, random, this.known, elsewhere);
    await this.write(wrong.call, random, wrong.wanted);
  }

  /** A right request: also the document must think so. */
  private async ask(right: Call, random: Random, call: Call): Promise<void> {
    const faults = this.faultsOf(right);
    if (faults.length > 0) this.fault(call, `the document refuses a right request: ${faults.join('; ')}`);
    await this.write(call, random);
  }

  private async read(random: Random): Promise<void> {
    const call = someReading(this.readings, random, this.known);
    const answer = await this.request(call);
    if (answer.status !== 200) return;
    this.known.learn(answer.body);
    const ask = (next: Call) => this.request(next);
    for (const wrong of await wrongPages(ask, call, answer)) this.fault(call, wrong, answer);
  }

  private async write(call: Call, random: Random, wanted?: readonly number[]): Promise<void> {
    const shown = this.shownAt(call);
    const before = shown && (await this.request(shown));
    const answer = await this.once(call, random);
    if (wanted && !wanted.includes(answer.status)) this.fault(call, `not ${wanted.join(' or ')}`, answer);
    if (answer.status < 300) return this.accepted(call, answer, random);
    const after = shown && (await this.request(shown));
    if (before && after && !isSame(before, after))
      this.fault(call, `refused, but ${shown.path} was ${before.text} and is ${after.text}`, answer);
  }

  /** Sends a request, or the same one twice at once. */
  private async once(call: Call, random: Random): Promise<Answer> {
    if (!call.key || random.next() > AT_ONCE) return this.request(call);
    const [one, other] = await Promise.all([this.request(call), this.request(call)]);
    const isOne = one.status < 300 ? one.text === other.text : other.status >= 300;
    if (!isOne) this.fault(call, `answered differently at once: ${other.status} ${other.text}`, one);
    return one;
  }

  private async accepted(call: Call, answer: Answer, random: Random): Promise<void> {
    const faults = this.faultsOf(call);
    if (faults.length > 0) this.fault(call, `accepted, though the document refuses it: ${faults.join('; ')}`, answer);
    this.remember(call, answer);
    if (!call.key) return;
    this.answered.push({ call, answer });
    if (this.answered.length > REMEMBERED) this.answered.shift();
    if (random.next() < AGAIN) await this.repeat(call, answer);
  }

  /** The same key gives the same answer, and with another body a conflict. */
  private async repeat(call: Call, answer: Answer): Promise<void> {
    const again = await this.request(call);
    const status = call.path === '/internal-accounts' ? 200 : answer.status;
    const isReplayed = again.headers['idempotent-replayed'] === 'true';
    if (again.status !== status || again.text !== answer.text || !isReplayed)
      this.fault(call, `the same key was first answered ${answer.status} ${answer.text}`, again);
    const other = await this.request({ ...call, body: { ...(call.body as object), more: 1 } });
    if (other.status !== 409 || other.body.code !== 'CONFLICT') this.fault(call, 'its key with another body', other);
  }

  private remember({ method, path, body }: Call, { body: answer }: Answer): void {
    if (method === 'DELETE') this.known.forget(path.split('/').at(-1)!);
    this.known.learn(answer);
    const account = /^\/sandbox\/internal-accounts\/([^/]+)\/fund$/.exec(path)?.[1];
    if (account) {
      const key = `${decodeURIComponent(account)} ${(body as { amount: number }).amount}`;
      this.funded.set(key, (this.funded.get(key) ?? 0) + 1);
    }
    if (path.startsWith('/transactions/')) return;
    for (const id of [answer?.transactionId, answer?.id]) if (String(id).startsWith('Transaction:')) this.named.add(id);
  }

  /** One request, with everything that is promised of any answer. */
  async request(call: Call): Promise<Answer> {
    const { ask, document } = this.options;
    const answer = await ask(call);
    const template = templateOf(document, call.path) ?? call.path;
    const code = answer.status < 400 ? '' : ` ${answer.body?.code} ${answer.body?.details?.reason ?? ''}`;
    const outcome = `${call.method} ${template} ${answer.status}${code}`.trimEnd();
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    if (answer.status >= 500 && answer.status !== 501) this.fault(call, 'nobody promised that', answer);
    if (!answer.headers['x-request-id']) this.fault(call, 'without X-Request-Id', answer);
    try {
      const isOperation = document.paths[template]?.[call.method.toLowerCase()] !== undefined;
      if (isOperation) expectMatchesOpenApi(document, call.method, `${BASE_PATH}${call.path}`, answer);
      else expectMatchesComponent(document, `Error${answer.status}`, answer.body);
    } catch (error) {
      this.fault(call, (error as Error).message, answer);
    }
    return answer;
  }

  private faultsOf({ method, path, body }: Call): string[] {
    const { document } = this.options;
    const read = JSON.parse(JSON.stringify(body ?? {}), (name, value) => (UNREAD.includes(name) ? undefined : value));
    return faultsOfRequest(document, method, templateOf(document, path) ?? '', read);
  }

  /** Where a client sees what a request is about: a resource, or the list that it would be added to. A failed proof is a fact. */
  private shownAt({ path }: Call): Call | undefined {
    if (path.endsWith('/verify')) return undefined;
    const { document } = this.options;
    const isShown = (one: string) => document.paths[templateOf(document, one) ?? '']?.get !== undefined;
    const shown = [path, path.replace(/\/[^/]*$/, '')].find(isShown);
    return shown === undefined ? undefined : { method: 'GET', path: shown };
  }

  private fault({ method, path, body, key, isByViewer }: Call, what: string, answer?: Answer): void {
    const sent = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const said = answer ? `\n  → ${answer.status} ${answer.text}` : '';
    const how = `${isByViewer ? ' by the viewer' : ''}${key === undefined ? '' : ` key ${key}`}`;
    this.faults.push(`${this.place}:${how} ${method} ${path} ${sent}${said}\n  ${what}`);
  }
}

/** Whether two reads show the same. A payment that goes on by itself is not judged, nor is the time. */
function isSame(before: Answer, after: Answer): boolean {
  const { id = '', status } = before.body;
  const isStill = STILL.includes(status) || (status === 'PENDING' && id.startsWith('Quote:'));
  if (/^(Quote|Transaction):/.test(id) && !isStill) return true;
  const { now: _, ...was } = before.body;
  const { now: __, ...is } = after.body;
  return isDeepStrictEqual(was, is);
}
