import { isDeepStrictEqual } from 'node:util';
import { BASE_PATH } from '../../libs/runtime/http/index.ts';
import { ERASED_UMA_ADDRESS } from '../../projections/customer.view.ts';
import { Random } from '../faults/random.ts';
import {
  type Document,
  expectMatchesComponent,
  expectMatchesOpenApi,
  faultsOfRequest,
  templateOf,
} from '../openapi-validator.ts';
import type { Answer, Ask, Call } from './asking.ts';
import { collision, requestsAbout } from './collisions.ts';
import type { Known } from './known.ts';
import { readingsOf, someReading, wrongPages } from './lists.ts';
import type { Memory } from './memory.ts';
import { rightRequest, type Scene, token } from './requests.ts';
import { spoilt } from './spoil.ts';

export interface ClientOptions {
  name: string;
  ask: Ask;
  document: Document;
  seed: number;
  /** Where webhooks are received. */
  hooks: string;
  /** Shared by the clients of a platform. */
  memory: Memory;
  /** Nobody else changes anything meanwhile. */
  isAlone: boolean;
  /** Erases a customer, as an operator does; false when that is refused. */
  erase?: (customerId: string) => Promise<boolean>;
  /** Whether a token is refused as soon as its end has been answered: everywhere, if one process answers all. */
  endsTokensAtOnce?: boolean;
}

/** Of what is asked: reads, requests that were answered once already, right ones; the others are wrong. */
const READS = 0.2;
const REPEATED = 0.25;
const RIGHT = 0.62;
/** Of the requests with a key, the share that is sent twice at once, and of the accepted ones the share that is sent again. */
const AT_ONCE = 0.1;
const AGAIN = 0.3;
/** Of the steps of a client that is not alone, those that ask for many things about the same at once, and those with what another one asks. */
const COLLISIONS = 0.35;
const OF_OTHERS = 0.1;
const ERASURES = 0.03;
/** Of what it asks for then, the share with a token that may end meanwhile. */
const BY_TOKEN = 0.1;
/** What a transaction shows, or its quote, that nothing but a client moves on. */
const STILL = ['COMPLETED', 'FAILED', 'EXPIRED', 'REJECTED', 'REFUNDED'];

/** Members that no platform reads, wherever they stand. */
const UNREAD = ['__proto__', 'constructor', 'prototype'];

/** A client that asks for anything, right and wrong, and holds every answer against what is promised. */
export class RandomClient {
  readonly memory: Memory;
  private readonly options: ClientOptions;
  private readonly readings: ReturnType<typeof readingsOf>;
  private readonly isAlone: boolean;
  private place = 'at the start';

  constructor(options: ClientOptions) {
    this.options = options;
    this.isAlone = options.isAlone;
    this.memory = options.memory;
    this.readings = readingsOf(options.document);
  }

  /** Asks for one thing. What it is depends on the seed, the number of the step, and what is there. */
  async step(number: number, elsewhere: Known): Promise<void> {
    const { name, seed, hooks } = this.options;
    const random = new Random(seed * 1_000_003 + number);
    this.place = `step ${number} of ${name}`;
    const { known, answered } = this.memory;
    const scene = { random, known, elsewhere, hooks };
    if (!this.isAlone && random.next() < COLLISIONS) return this.collide(number, scene);
    if (!this.isAlone && random.next() < OF_OTHERS) return this.join(random);
    if (!this.isAlone && random.next() < ERASURES) return this.erase(number, scene);
    const dice = random.next();
    if (dice < READS) return this.read(random);
    if (dice < REPEATED && answered.length > 0) return this.repeat(random.pick(answered).call);
    const right = rightRequest(scene);
    const call = right.method === 'DELETE' ? right : { ...right, key: `${name}-${number}` };
    if (dice < RIGHT) return this.ask(right, random, call);
    const wrong = spoilt(call, random, known, elsewhere);
    await this.write(wrong.call, random, wrong.wanted);
  }

  /** A right request: also the document must think so. */
  private async ask(right: Call, random: Random, call: Call): Promise<void> {
    const faults = this.faultsOf(right);
    if (faults.length > 0) this.fault(call, `the document refuses a right request: ${faults.join('; ')}`);
    await this.write(call, random);
  }

  private async read(random: Random): Promise<void> {
    const call = someReading(this.readings, random, this.memory.known);
    const answer = await this.request(call);
    if (answer.status !== 200) return;
    this.memory.known.learn(answer.body);
    const ask = (next: Call) => this.request(next);
    for (const wrong of await wrongPages(ask, call, answer)) this.fault(call, wrong, answer);
  }

  /** Many things about the same, all at once: also some of them twice under one key, or with another body under it. */
  private async collide(number: number, scene: Scene): Promise<void> {
    const { random } = scene;
    let count = 0;
    const keyed = (call: Call): Call => {
      if (call.method === 'GET' || call.method === 'DELETE') return call;
      count += 1;
      return { ...call, key: `${this.options.name}-${number}-${count}` };
    };
    const calls = await collision(scene, (call) => this.send(keyed(call)));
    const all = calls.flatMap((one) => {
      const call = keyed({ ...one, ...(!one.token && random.next() < BY_TOKEN && this.byToken(random)) });
      const dice = random.next();
      if (!call.key || dice > AT_ONCE) return [call];
      return [call, dice > AT_ONCE / 2 ? call : withMore(call)];
    });
    await Promise.all(all.map((call) => this.send(call)));
  }

  /** A customer leaves, and goes for good if nothing of it is under way, while something is asked about it. */
  private async erase(number: number, scene: Scene): Promise<void> {
    const { memory, options } = this;
    const customer = memory.known.one(scene.random, 'Customer', ({ umaAddress }) => umaAddress !== undefined);
    if (!customer || !options.erase) return;
    const { id, umaAddress } = customer;
    const before = { ...customer };
    const calls = requestsAbout(customer, scene).map((call, at) =>
      call.method === 'DELETE' ? call : { ...call, key: `${options.name}-${number}-${at}` },
    );
    const leaving = async () => {
      await this.send({ method: 'DELETE', path: `/customers/${id}` });
      memory.forget();
      const isErased = await options.erase!(id);
      this.count(isErased ? 'an operator erases a customer' : 'an operator is refused to erase a customer');
      if (isErased && umaAddress !== ERASED_UMA_ADDRESS) memory.erased.push(before);
    };
    await Promise.all([leaving(), ...calls.map((call) => this.send(call))]);
    memory.forget();
  }

  /** What another client asks at this moment, or has just asked for: the same, or something else under its key. */
  private async join(random: Random): Promise<void> {
    const { asked } = this.memory;
    if (asked.length === 0) return;
    const call = random.pick(asked.slice(-4));
    await this.send(random.next() < 0.7 ? call : withMore(call));
  }

  private byToken(random: Random): Pick<Call, 'token'> {
    const found = token({ known: this.memory.known, random });
    return found ? { token: found } : {};
  }

  /** A request of which nothing is known beforehand but that its key has one answer. */
  private async send(call: Call): Promise<Answer> {
    this.memory.asking(call);
    const { forgotten } = this.memory;
    const answer = await this.request(call);
    if (answer.status < 300) this.accepted(call, answer, forgotten);
    return answer;
  }

  private async write(call: Call, random: Random, wanted?: readonly number[]): Promise<void> {
    const shown = this.isAlone ? this.shownAt(call) : undefined;
    const before = shown && (await this.request(shown));
    const answer = await this.once(call, random);
    if (wanted && !wanted.includes(answer.status)) this.fault(call, `not ${wanted.join(' or ')}`, answer);
    if (answer.status < 300 && call.key && random.next() < AGAIN) return this.repeat(call);
    const after = shown && (await this.request(shown));
    if (before && after && answer.status >= 300 && !isSame(before, after))
      this.fault(call, `refused, but ${shown.path} was ${before.text} and is ${after.text}`, answer);
  }

  /** Sends a request, or the same one twice at once: then one may only be refused while the other is not where others change things meanwhile. */
  private async once(call: Call, random: Random): Promise<Answer> {
    if (!call.key || random.next() > AT_ONCE) return this.send(call);
    const [one, other] = await Promise.all([this.send(call), this.send(call)]);
    const isOne = one.status < 300 === other.status < 300;
    if (!isOne && this.isAlone) this.fault(call, `answered differently at once: ${other.status} ${other.text}`, one);
    return one;
  }

  private accepted(call: Call, answer: Answer, forgotten: number): void {
    const isNew = this.memory.accepted(call, answer, forgotten, (what) => this.fault(call, what, answer));
    const faults = isNew ? this.faultsOf(call) : [];
    if (faults.length > 0) this.fault(call, `accepted, though the document refuses it: ${faults.join('; ')}`, answer);
  }

  /** The same key gives the same answer, and with another body a conflict. */
  private async repeat(call: Call): Promise<void> {
    const { forgotten } = this.memory;
    const again = await this.send(call);
    if (forgotten < this.memory.forgotten) return;
    const isReplayed = again.headers['idempotent-replayed'] === 'true';
    if (again.status >= 300 || !isReplayed) this.fault(call, 'was accepted under the same key before', again);
    const other = await this.request(withMore(call));
    if (forgotten < this.memory.forgotten) return;
    if (other.status !== 409 || other.body.code !== 'CONFLICT') this.fault(call, 'its key with another body', other);
  }

  /** One request, with everything that is promised of any answer. */
  async request(call: Call): Promise<Answer> {
    const { ask, document, endsTokensAtOnce } = this.options;
    const hasEnded = call.token !== undefined && this.memory.ended.has(call.token.id);
    const answer = await ask(call);
    if (hasEnded && endsTokensAtOnce && answer.status !== 401) this.fault(call, 'its token has ended', answer);
    const template = templateOf(document, call.path) ?? call.path;
    const code = answer.status < 400 ? '' : ` ${answer.body?.code} ${answer.body?.details?.reason ?? ''}`;
    const outcome = `${call.method} ${template} ${answer.status}${code}`.trimEnd();
    this.count(outcome);
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

  private count(outcome: string): void {
    this.memory.outcomes.set(outcome, (this.memory.outcomes.get(outcome) ?? 0) + 1);
  }

  private fault({ method, path, body, key, isByViewer, token }: Call, what: string, answer?: Answer): void {
    const sent = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const said = answer ? `\n  → ${answer.status} ${answer.text}` : '';
    const who = isByViewer ? ' by the viewer' : token ? ` by ${token.id}` : '';
    const how = `${who}${key === undefined ? '' : ` key ${key}`}`;
    this.memory.faults.push(`${this.place}:${how} ${method} ${path} ${sent}${said}\n  ${what}`);
  }
}

const withMore = (call: Call): Call => ({ ...call, body: { ...(call.body as object), more: 1 } });

/** Whether two reads show the same. A payment that goes on by itself is not judged, nor is the time. */
function isSame(before: Answer, after: Answer): boolean {
  const { id = '', status } = before.body;
  const isStill = STILL.includes(status) || (status === 'PENDING' && id.startsWith('Quote:'));
  if (/^(Quote|Transaction):/.test(id) && !isStill) return true;
  // What has expired is shown so before its timer records it.
  const shown = ({ now: _, updatedAt, ...rest }: Answer['body']) =>
    status === 'EXPIRED' ? rest : { ...rest, updatedAt };
  return isDeepStrictEqual(shown(before.body), shown(after.body));
}
