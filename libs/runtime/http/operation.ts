import { applyDecorators, HttpCode, Req } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

/** What a token must be allowed to do (decision 25). */
export type Permission = 'VIEW' | 'TRANSACT' | 'MANAGE';

/** The statuses that errors have; each has a component `Error<status>` with its codes. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 410 | 412 | 422 | 423 | 424 | 429 | 500 | 501 | 503;

/** A successful answer: the schema of its body (TypeBox), or a description for one without a body or with more to say. */
export type Success = object | Described;

export interface Described {
  description: string;
  schema?: object;
  example?: unknown;
}

export interface OperationOptions {
  summary: string;
  description?: string;
  tag: string;
  /** Status → body. The smallest status is what the handler answers unless it sets another. */
  success: Record<number, Success>;
  /** Errors of its own: 404, 410, 422… Those that every operation of its kind may answer are added. */
  errors?: ErrorStatus[];
  /** True: `Idempotency-Key` must be sent. Every POST and PATCH accepts it (decision 15). */
  idempotent?: boolean;
  /**
   * True: a repeated request is recognised by the first commit that it leads to, before it has changed anything, so its key need not be
   * looked up first. For operations whose first command writes to a stream that the path or the key names.
   */
  keyedByCommit?: boolean;
  /** True: the answer holds a secret or personal data, so what is remembered of it for its idempotency key is encrypted. */
  sealed?: boolean;
  /** True: a production token is refused with `403 FORBIDDEN`, whatever it sends (decision 14). */
  sandboxOnly?: boolean;
  /** Still served, with `Deprecation`, `Sunset` and `Link` headers on every answer. */
  deprecated?: boolean;
  /** Not in the spec: marked `x-extension`. */
  extension?: boolean;
  /** What the token must be allowed to do; `PUBLIC`: no credentials are asked for. */
  permission: Permission | 'PUBLIC';
  /** The credentials it takes: those of a platform unless agents call it. */
  auth?: 'BasicAuth' | 'AgentAuth';
}

const OPERATION = Symbol('operation');

/** Under this name the declaration travels through the document's generator; it does not stay there. */
export const DECLARED = 'x-declared';

/** A request whose handler a guard has surrounded: `around` is called in place of the handler, once its arguments are known to be valid. */
export interface Surrounded {
  around?: (handle: () => Promise<unknown>) => Promise<unknown>;
}

/** Declares a route: its documentation, success status and permission. */
export const Operation = (options: OperationOptions): MethodDecorator =>
  applyDecorators(
    surroundable,
    (_target: object, _key: string | symbol, method: PropertyDescriptor) =>
      Reflect.defineMetadata(OPERATION, options, method.value),
    HttpCode(Math.min(...Object.keys(options.success).map(Number))),
    ApiExtension(DECLARED, options),
  );

/** What an interceptor of NestJS would do, without its Observables, which cost every request dearly (docs/why/requests.md). */
function surroundable(target: object, name: string | symbol, method: PropertyDescriptor): void {
  const handle = method.value as (...args: unknown[]) => Promise<unknown>;
  const last = handle.length;
  Req()(target, name, last);
  method.value = function (this: unknown, ...args: unknown[]) {
    const around = (args[last] as Surrounded | undefined)?.around; // without a request when it is called directly
    return around ? around(async () => handle.apply(this, args)) : handle.apply(this, args);
  };
  Object.defineProperty(method.value, 'name', { value: handle.name });
  for (const key of Reflect.getMetadataKeys(handle)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handle), method.value);
  }
}

/** What a handler was declared with; guards ask for `permission` and `idempotent`. */
export const operationOf = (handler: object): OperationOptions | undefined => Reflect.getMetadata(OPERATION, handler);
