import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type ErrorBody, type ErrorCode, Rejection, reject } from '../../kernel/errors.ts';
import { isUnreachable } from '../unreachable.ts';
import { type Logger } from './logging.ts';
import { requestIdOf } from './request-id.ts';
import { routesAt } from './routes.ts';

/** Turns whatever was thrown into the error body of the spec. The only place that does. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    answerError(error, http.getRequest<Request>(), http.getResponse<Response>(), this.logger);
  }
}

/** Answers a request with an error, as `{status, code, message, details}` and the headers that belong to it. */
export function answerError(error: unknown, req: Request, res: Response, logger: Logger): void {
  const rejection = rejectionOf(error, req);
  if (rejection.status >= 500) {
    const level = rejection.code === 'INTERNAL_ERROR' ? 'error' : 'warn';
    logger[level](
      { err: error, requestId: requestIdOf(req), method: req.method, route: req.route?.path },
      'request failed',
    );
  }
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headersOf(rejection))) res.setHeader(name, value);
  res.status(rejection.status).json(errorBody(rejection));
}

/** The body of the answer to a rejection. A 401 names the failed check, in `reason` and in `details.reason` (decision 12). */
export function errorBody({ status, code, message, details }: Rejection): ErrorBody & { reason?: string } {
  if (status !== 401) return { status, code, message, ...(details && { details }) };
  const reason = typeof details?.reason === 'string' ? details.reason : message;
  return { status, code, message, reason, details: { ...details, reason } };
}

function headersOf({ status, details }: Rejection): Record<string, string> {
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Basic realm="payments", charset="UTF-8"';
  if (status === 405 && Array.isArray(details?.allowed)) headers.Allow = details.allowed.join(', ');
  if (typeof details?.retryAfterSeconds === 'number')
    headers['Retry-After'] = String(Math.ceil(details.retryAfterSeconds));
  return headers;
}

/**
 * What an error means for the client: a server that is away, such as the database, comes back. Errors that nobody foresaw say nothing but
 * that.
 */
export function rejectionOf(error: unknown, req: Request): Rejection {
  if (error instanceof Rejection) return error;
  if (error instanceof HttpException) return ofStatus(error.getStatus(), error.message, req);
  const { status, type, expose } = (error ?? {}) as { status?: unknown; type?: unknown; expose?: unknown };
  if (typeof type === 'string' && Object.hasOwn(bodyErrors, type)) {
    const [reason, message] = bodyErrors[type]!;
    return reject('INVALID_INPUT', { reason }, message);
  }
  if (isUnreachable(error)) return reject('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
  const mayShow = typeof status === 'number' && status < 500 && expose !== false;
  return mayShow
    ? ofStatus(status, 'The request is invalid.', req)
    : reject('INTERNAL_ERROR', { requestId: requestIdOf(req) });
}

/** Errors of the body reader by their type. */
const bodyErrors: Record<string, [reason: string, message: string]> = {
  'entity.too.large': ['BODY_TOO_LARGE', 'The body is larger than 1 MiB.'],
  'encoding.unsupported': ['UNSUPPORTED_ENCODING', 'The Content-Encoding is not supported.'],
  'request.aborted': ['BODY_INCOMPLETE', 'The body ended early.'],
  'request.size.invalid': ['BODY_INCOMPLETE', 'The body does not have the length that was announced.'],
};

const codeOf: Record<number, ErrorCode> = {
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  409: 'CONFLICT',
  429: 'RATE_LIMITED',
  501: 'NOT_IMPLEMENTED',
  503: 'SERVICE_UNAVAILABLE',
};

function ofStatus(status: number, message: string, req: Request): Rejection {
  if (status === 404 || status === 405) return unknownRoute(req);
  if (status === 413) return reject('INVALID_INPUT', { reason: 'BODY_TOO_LARGE' }, 'The body is too large.');
  const code = codeOf[status];
  if (code) return reject(code);
  if (status >= 400 && status < 500) return reject('INVALID_INPUT', undefined, message);
  return reject('INTERNAL_ERROR', { requestId: requestIdOf(req) });
}

/** 405 with the allowed methods when the path exists with others, else 404. */
export function unknownRoute(req: Request): Rejection {
  const allowed = methodsAt(req);
  if (allowed.length === 0) return reject('REFERENCE_NOT_FOUND', undefined, 'There is no such path.');
  return reject('METHOD_NOT_ALLOWED', { allowed }, `${req.method} is not allowed here, only ${allowed.join(', ')}.`);
}

function methodsAt(req: Request): string[] {
  const methods = routesAt(req).flatMap((route) => Object.keys(route.methods));
  const known = [...new Set(methods.map((method) => method.toUpperCase()))]
    .filter((method) => method !== '_ALL')
    .sort();
  return known.includes('GET') ? [...known, 'HEAD'].sort() : known;
}
