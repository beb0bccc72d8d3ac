import { hash } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Rejection, reject, rejectFields } from '../kernel/errors.ts';
import type { KeyedAnswer, KeyedAnswers } from '../kernel/event-store.port.ts';
import { canonicalJson } from '../kernel/json.ts';
import { type Caller, type CallerRequest, keyedAnswer, type RequestKey } from './caller.ts';
import { operationOf, type Surrounded } from './http/operation.ts';
import { LOG_HEAD, READ_POSITION } from './read-position.ts';
import { Seal } from './seal.ts';
import { KeyTaken } from './stream.ts';

/** Injection token of `KeyedAnswers`. */
export const KEYED_ANSWERS = Symbol('KeyedAnswers');

const MAX_KEY_LENGTH = 255;
const PATIENCE_MS = 10_000;

/**
 * Idempotency of every POST and PATCH with an `Idempotency-Key` (decision 15): the same key and body give the same answer again, another
 * body is a conflict, a refusal is not remembered. The answer is written by the write path in the commit that it rests on. A guard, after
 * the authentication, that surrounds the handler (docs/why/requests.md).
 */
@Injectable()
export class Idempotency implements CanActivate {
  private readonly underWay = new Map<string, Promise<unknown>>();
  private readonly answers: KeyedAnswers;
  private readonly seal: Seal;
  private readonly head: () => Promise<number>;

  constructor(
    @Inject(KEYED_ANSWERS) answers: KeyedAnswers,
    @Inject(Seal) seal: Seal,
    @Inject(LOG_HEAD) head: () => Promise<number>,
  ) {
    this.answers = answers;
    this.seal = seal;
    this.head = head;
  }

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<Request & CallerRequest & Surrounded>();
    const header = request.headers['idempotency-key'];
    const operation = operationOf(context.getHandler());
    if (header === undefined && operation?.idempotent) {
      throw rejectFields([
        { field: 'Idempotency-Key', constraint: 'REQUIRED', message: 'The header Idempotency-Key is required.' },
      ]);
    }
    const { caller, method } = request;
    if (header === undefined || !caller || (method !== 'POST' && method !== 'PATCH')) return true;
    checkLength(String(header));
    const response = http.getResponse<Response>();
    request.around = (handle) => {
      const key = keyOf(request, response, caller, String(header));
      if (operation?.sealed) key.seal = this.seal;
      return this.keyed({ key, response, caller, handle, isLookedUp: !operation?.keyedByCommit });
    };
    return true;
  }

  private async keyed(work: KeyedWork): Promise<unknown> {
    // Looked up and noted without a pause: of requests that arrive at the same moment each waits for the one before it.
    const { hash } = work.key;
    const before = this.underWay.get(hash);
    const mine = before ? settledInTime(before).then(() => this.once({ ...work, isLookedUp: true })) : this.once(work);
    const over = Promise.allSettled([before, mine]).then(() => {
      if (this.underWay.get(hash) === over) this.underWay.delete(hash);
    });
    this.underWay.set(hash, over);
    return mine;
  }

  private async once({ key, response, caller, handle, isLookedUp }: KeyedWork): Promise<unknown> {
    const known = await this.begin(key, isLookedUp);
    if (known) return this.replay(known, key, response);
    caller.key = key;
    try {
      const answer = await handle();
      if (!key.isRecorded && !(await this.answers.remember(keyedAnswer(key, answer), key.stream))) throw new KeyTaken();
      return answer === undefined ? undefined : asSent(key.text!, response);
    } catch (error) {
      // Answered before, or by another process that was faster, or the outcome became known only now: what is remembered is the answer.
      const isBegunElsewhere = typeof key.since === 'number';
      const mayBeKnown = !isLookedUp || isBegunElsewhere || error instanceof KeyTaken || key.isRecorded;
      const later = mayBeKnown ? await this.answers.find(key.hash) : undefined;
      if (later) return this.replay(later, key, response);
      if (error instanceof Rejection && error.status < 500) await this.release(key);
      throw error;
    }
  }

  /** The answer that is remembered, if there is one. Where answers are not written with their commit, the key is reserved first. */
  private async begin(key: RequestKey, isLookedUp: boolean): Promise<KeyedAnswer | undefined> {
    if (!this.answers.reserve) {
      key.since = 'unknown';
      return isLookedUp ? this.answers.find(key.hash) : undefined;
    }
    const reservation = await this.answers.reserve(key.hash, key.bodyHash);
    if (reservation.state === 'answered') return reservation.answer;
    if (reservation.state === 'begun') {
      if (!isSameBody(reservation.bodyHash, key)) throw otherBody();
      key.since = reservation.since;
    }
    return undefined;
  }

  /** Where the answer's events are is not remembered: they are in the log, which ends here. */
  private async replay(known: KeyedAnswer, key: RequestKey, response: Response): Promise<unknown> {
    const answer = replay(known, key, response);
    response.setHeader(READ_POSITION, await this.head());
    return answer;
  }

  /** A refusal is not remembered. Where that cannot be noted, the key stays with this body. */
  private async release(key: RequestKey): Promise<void> {
    await this.answers.release?.(key.hash).catch(() => {});
  }
}

interface KeyedWork {
  key: RequestKey;
  response: Response;
  caller: Caller;
  handle: () => Promise<unknown>;
  /** Whether the key is looked up before the work, not only by its commit. */
  isLookedUp: boolean;
}

/** While an earlier request of a key is under way, the next one waits for it, but not for ever. */
async function settledInTime(before: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<'expired'>((resolve) => {
    timer = setTimeout(() => resolve('expired'), PATIENCE_MS);
  });
  const outcome = await Promise.race([before, expired]);
  clearTimeout(timer);
  if (outcome === 'expired') {
    throw reject(
      'CONFLICT',
      { reason: 'REQUEST_IN_PROGRESS', retryAfterSeconds: 1 },
      'A request with this Idempotency-Key is still in progress.',
    );
  }
}

function checkLength(key: string): void {
  if (key.length >= 1 && key.length <= MAX_KEY_LENGTH) return;
  throw rejectFields([
    {
      field: 'Idempotency-Key',
      constraint: key === '' ? 'MIN_LENGTH' : 'MAX_LENGTH',
      message: 'Idempotency-Key must have 1 to 255 characters.',
    },
  ]);
}

/** After the route has set its status. */
function keyOf(request: Request, response: Response, caller: Caller, key: string): RequestKey {
  const path = request.path.replace(/%3A/gi, ':');
  const body: unknown = request.body ?? null;
  return {
    hash: sha256(JSON.stringify([caller.tokenId, request.method, path, key])),
    bodyHash: sha256(canonicalJson(body)),
    body,
    status: response.statusCode,
    isRecorded: false,
  };
}

/**
 * Whether a key was remembered for this body. The hash is that of the canonical text, so the order of keys does not matter. Hashes from
 * before that are of the text as it came: they are looked for when the hashes differ, which is rare, so they cost nothing otherwise.
 */
const isSameBody = (remembered: string, { bodyHash, body }: RequestKey): boolean =>
  remembered === bodyHash || remembered === sha256(JSON.stringify(body));

function replay(known: KeyedAnswer, key: RequestKey, response: Response): unknown {
  if (!isSameBody(known.bodyHash, key)) throw otherBody();
  response.status(known.status);
  response.setHeader('Idempotent-Replayed', 'true');
  // An operation's answers may have been remembered in clear before it was sealed: JSON objects, as no sealed text begins.
  const isSealed = key.seal !== undefined && !known.body.startsWith('{');
  const text = isSealed ? key.seal!.open(known.body, key.hash) : known.body;
  return text === 'null' ? undefined : asSent(text, response);
}

const otherBody = (): Rejection =>
  reject('CONFLICT', { reason: 'IDEMPOTENCY_KEY_REUSED' }, 'This Idempotency-Key was used with another body.');

/** What is remembered is what is sent, byte for byte. */
function asSent(text: string, response: Response): string {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  return text;
}

const sha256 = (text: string): string => hash('sha256', text, 'hex');
