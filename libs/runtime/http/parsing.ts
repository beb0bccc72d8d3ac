import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';
import { type NestExpressApplication } from '@nestjs/platform-express';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { type ErrorBody, Rejection, reject } from '../../kernel/errors.ts';
import { answerError } from './errors.filter.ts';
import { readJson } from './json.ts';
import { type Logger } from './logging.ts';

/** The largest body, in bytes, after decompression. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Makes an app read requests strictly: paths that can be decoded, JSON bodies of at most 1 MiB in UTF-8 (`readJson`) and nothing
 * else. `observe` sees each request before that, refused ones too.
 * Needs an app created with `bodyParser: false`, before `init`.
 */
export function hardenedJson(app: NestExpressApplication, logger: Logger, observe: RequestHandler): void {
  const instance = app.getHttpAdapter().getInstance() as express.Express;
  instance.disable('x-powered-by');
  instance.disable('etag');
  instance.set('query parser', 'simple');
  (instance.router as unknown as { caseSensitive: boolean }).caseSensitive = true;
  app.use(inTurn(observe, inTurn(refuseMalformedPath(logger), jsonBody(logger))));
  answerBrokenRequests(app.getHttpServer() as Server);
}

/** Two steps as one: each step of its own costs a request a microsecond in Express. */
export const inTurn =
  (first: RequestHandler, second: RequestHandler): RequestHandler =>
  (req, res, next) =>
    void first(req, res, (error?: unknown) => (error ? next(error) : void second(req, res, next)));

function refuseMalformedPath(logger: Logger): RequestHandler {
  return (req, res, next) => {
    if (!req.url.includes('%')) return next();
    const path = decoded(req.path);
    if (path !== undefined && !path.includes('\u0000')) return next();
    const message = 'The path is not valid: percent-encode UTF-8 without NUL.';
    answerError(reject('INVALID_INPUT', { reason: 'MALFORMED_PATH' }, message), req, res, logger);
  };
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const bodyless = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

function jsonBody(logger: Logger): RequestHandler {
  const readBytes = express.raw({ type: () => true, limit: MAX_BODY_BYTES });
  return (req, res, next) => {
    const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type } = req.headers;
    if (bodyless.has(req.method) || length === '0' || (length === undefined && chunked === undefined)) return next();
    const wrong = type === undefined ? undefined : refusalOfType(type);
    if (wrong) return answerError(wrong, req, res, logger);
    readBytes(req, res, (error?: unknown) => read(error, req, res, next, logger));
  };
}

function read(error: unknown, req: Request, res: Response, next: NextFunction, logger: Logger): void {
  try {
    if (error) throw isInflation(error) ? reject('INVALID_INPUT', { reason: 'MALFORMED_ENCODING' }) : error;
    const bytes = req.body as Buffer | undefined;
    req.rawBody = bytes;
    req.body = bytes?.length ? readJson(bytes) : undefined;
  } catch (refusal) {
    answerError(refusal, req, res, logger);
    return;
  }
  next();
}

/** A body that does not follow its Content-Encoding. */
const isInflation = (error: unknown): boolean =>
  /^Z_|^ERR_|^ERROR_/.test(String((error as { code?: unknown }).code ?? ''));

function refusalOfType(type: string): Rejection | undefined {
  if (!/^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
    const message = 'The body must be JSON: send it with Content-Type: application/json.';
    return reject('INVALID_INPUT', { reason: 'UNSUPPORTED_MEDIA_TYPE' }, message);
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
  if (!charset || /^(utf-?8|us-ascii)$/i.test(charset)) return undefined;
  return reject('INVALID_INPUT', { reason: 'UNSUPPORTED_CHARSET' }, 'The body must be in UTF-8.');
}

const brokenRequests: Record<string, [reason: string, message: string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The URL and headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request did not arrive in time.'],
};

/** Requests that never become one for Node's parser get the error body of the spec too. */
function answerBrokenRequests(server: Server): void {
  server.on(
    'clientError',
    (error: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: { headersSent: boolean } }) => {
      if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
        socket.destroy();
        return;
      }
      const [reason, message] = brokenRequests[error.code ?? ''] ?? [
        'MALFORMED_REQUEST',
        'The request is not valid HTTP.',
      ];
      const body: ErrorBody = { status: 400, code: 'INVALID_INPUT', message, details: { reason } };
      const text = JSON.stringify(body);
      socket.end(
        [
          `HTTP/1.1 400 ${STATUS_CODES[400]}`,
          'Content-Type: application/json; charset=utf-8',
          `Content-Length: ${Buffer.byteLength(text)}`,
          `X-Request-Id: ${randomUUID()}`,
          'Connection: close',
          '',
          text,
        ].join('\r\n'),
      );
    },
  );
}
