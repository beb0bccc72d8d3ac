import { randomBytes, randomUUID } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { KeyedAnswer } from '../kernel/event-store.port.ts';
import { derivedUuid, uuidV7 } from '../kernel/ids.ts';
import type { Tenant } from '../kernel/messages.ts';
import type { Permission } from './http/operation.ts';
import type { Seal } from './seal.ts';
import type { Envelope, Executed } from './stream.ts';

/** The key of a keyed request, as it is remembered (architecture §11). */
export interface RequestKey {
  /** Hash of token, method, path and key. */
  hash: string;
  bodyHash: string;
  body: unknown;
  /** Status that the route answers with. */
  status: number;
  /** Encrypts the answer where it is kept, for operations declared `sealed`. */
  seal?: Seal;
  /**
   * For a key that was begun before: the log position before its first attempt. Where keys are not noted when they begin, since an answer
   * is written in the commit that it rests on, nobody knows.
   */
  since?: number | 'unknown';
  /** The stream that the answer is about, where it may be remembered without a commit. */
  stream?: string;
  /** Set once the answer is part of a commit. */
  isRecorded: boolean;
  /** The answer that is to be remembered, as JSON text. */
  text?: string;
}

/** An answer in the form that is remembered for its key. */
export function keyedAnswer(key: RequestKey, answer: unknown): KeyedAnswer {
  const text = JSON.stringify(answer ?? null);
  key.text = text;
  const body = key.seal ? key.seal.close(text, key.hash) : text;
  return { key: key.hash, bodyHash: key.bodyHash, status: key.status, body };
}

/** Who makes a request: the token, its platform and environment, and the request's key when it has one. */
export class Caller {
  readonly tenant: Tenant;
  readonly tokenId: string;
  readonly permissions: ReadonlySet<Permission>;
  readonly requestId: string;
  key: RequestKey | undefined;

  constructor(tenant: Tenant, tokenId: string, permissions: ReadonlySet<Permission>, requestId: string) {
    this.tenant = tenant;
    this.tokenId = tokenId;
    this.permissions = permissions;
    this.requestId = requestId;
  }

  /** The uuid of what this request creates: the same again when a keyed request is repeated, else a fresh one. */
  newId(purpose: string): string {
    return this.key ? derivedUuid(this.key.hash, 'id', purpose) : uuidV7(Date.now(), randomBytes(10));
  }

  /** The envelope of a command that this request sends. `purpose` tells the request's commands apart. */
  envelope(purpose: string, extra?: Pick<Envelope, 'answer' | 'causationId'>): Envelope {
    const { key } = this;
    const envelope = { ...this.freshEnvelope(), ...extra };
    if (!key) return envelope;
    const since = sinceOf(key, extra?.answer !== undefined);
    const commandId = derivedUuid(key.hash, 'command', purpose);
    return { ...envelope, commandId, ...(since !== undefined && { since }) };
  }

  /** The envelope of a command that a repetition of this request sends anew, as another command. */
  freshEnvelope(): Envelope {
    return {
      commandId: randomUUID(),
      correlationId: this.requestId,
      actor: `token:${this.tokenId}`,
      tenant: this.tenant,
    };
  }

  /** Says what the answer is about: whose personal data it may hold is erased from it by that (docs/why/personal-data.md). */
  answersAbout(stream: string): void {
    if (this.key) this.key.stream = stream;
  }

  /** What to remember for the key of this request, in the commit of the command that it is given to; undefined without a key. */
  answering(view: (done: Executed) => object): Envelope['answer'] {
    const { key } = this;
    if (!key) return undefined;
    return (done) => {
      key.isRecorded = true;
      return keyedAnswer(key, view(done));
    };
  }
}

/**
 * From where on a command of a key is looked for, once its stream remembers it no more. One that is committed together with the key's
 * answer was not sent before as long as there is no answer. Others may be left behind by a request that was cut off, anywhere in their
 * stream: to a long one, such as an account's, no command is sent without the answer.
 */
function sinceOf({ since }: RequestKey, isAnswered: boolean): number | undefined {
  if (since !== 'unknown') return since;
  return isAnswered ? undefined : 0;
}

/** The request as it travels through the guards: the caller is attached by the authentication. */
export interface CallerRequest {
  caller?: Caller;
}

/** `@CurrentCaller() caller: Caller` in a controller. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<CallerRequest>();
  if (!caller) throw new Error('this route has no caller: it is public');
  return caller;
});
