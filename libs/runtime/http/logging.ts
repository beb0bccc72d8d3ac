import { type LoggerService } from '@nestjs/common';
import { type NextFunction, type Request, type Response } from 'express';
import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino';
import { type Tenant } from '../../kernel/messages.ts';
import { redact, scrub } from './redaction.ts';
import { identify } from './request-id.ts';
import { routesAt } from './routes.ts';

export type Logger = PinoLogger;

export interface LoggerOptions {
  /** `trace`, `debug`, `info`, `warn`, `error`, `fatal`, `silent`. */
  level: string;
  /** Lines for people instead of JSON. */
  pretty?: boolean;
  /** Where lines go; standard output when absent. */
  destination?: DestinationStream;
}

/** The logger of a process: one JSON object a line, secrets and personal identifiers removed wherever they occur. */
export function createLogger({ level, pretty, destination = process.stdout }: LoggerOptions): Logger {
  const logger: Logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redact },
      serializers: { err: (error) => error },
      hooks: {
        logMethod(args, method) {
          method.apply(this, scrubbed(args) as typeof args);
        },
      },
    },
    pretty ? { write: (line) => destination.write(readable(line)) } : destination,
  );
  const { child } = logger;
  logger.child = function (this: Logger, bindings, options) {
    return child.call(this, redact(bindings), options);
  } as Logger['child'];
  return logger;
}

/** The arguments of a log method with its texts scrubbed, the one that pino would take from an error included. */
function scrubbed(args: unknown[]): unknown[] {
  const [first, message, ...rest] = args;
  const error = first instanceof Error ? first : (first as { err?: unknown } | undefined)?.err;
  if (message === undefined && error instanceof Error) return [first, scrub(error.message)];
  return [first, message, ...rest].map((arg) => (typeof arg === 'string' ? scrub(arg) : arg));
}

function readable(line: string): string {
  const { time, level, msg = '', err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const members = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const stack = (err as { stack?: string } | undefined)?.stack;
  const head = `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${msg}`;
  return `${[head, ...members].join(' ')}\n${stack ? `${stack}\n` : ''}`;
}

/** What Nest says about its own start: of interest only when something is wrong with it. */
const chatter = new Set(['RouterExplorer', 'RoutesResolver', 'InstanceLoader', 'NestFactory', 'NestApplication']);

/** The logger as Nest wants it. */
export function nestLogger(logger: Logger): LoggerService {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]) => {
      const context = rest.at(-1);
      const quiet = level === 'info' && typeof context === 'string' && chatter.has(context);
      const stack = level === 'error' && rest.length > 1 ? rest[0] : undefined;
      const members = { ...(context !== undefined && { context }), ...(stack !== undefined && { stack }) };
      if (message instanceof Error) logger[level]({ ...members, err: message }, message.message);
      else logger[quiet ? 'debug' : level](members, String(message));
    };
  return {
    log: at('info'),
    error: at('error'),
    warn: at('warn'),
    debug: at('debug'),
    verbose: at('debug'),
    fatal: at('fatal'),
  };
}

/** One answered request, as metrics and the access log see it. */
export interface Answered {
  method: string;
  /** The template of the route, never the path itself, which carries ids. */
  route: string;
  /** 499 when the client left before the answer. */
  status: number;
  seconds: number;
}

/**
 * The first middleware: gives the request its id, and when it is over writes its access line and counts it. Answers are about
 * money and people: no cache keeps them, no browser guesses at them.
 */
export function observeRequests(logger: Logger, count: (answered: Answered) => void) {
  return (req: Request, res: Response, next: NextFunction): void => {
    const startedMs = performance.now();
    const requestId = identify(req, res);
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.once('close', () => {
      const seconds = (performance.now() - startedMs) / 1000;
      const status = res.writableFinished ? res.statusCode : 499;
      const answered = { method: req.method, route: routeOf(req), status, seconds };
      count(answered);
      const { method, route } = answered;
      const level = levelOf(status, route);
      if (!logger.isLevelEnabled(level)) return;
      const durationMs = Math.round(seconds * 10_000) / 10;
      logger[level]({ method, route, status, durationMs, requestId, platform: platformOf(req) }, 'request');
    });
    next();
  };
}

/** What watches a process asks for these every few seconds: answers that are well would drown the others, "not ready" is no error. */
const WATCHED = ['/healthz', '/readyz', '/metrics'];

function levelOf(status: number, route: string): 'debug' | 'info' | 'warn' | 'error' {
  const isWatched = WATCHED.includes(route);
  if (status >= 500 && status !== 501 && !isWatched) return 'error';
  if (status >= 400) return 'warn';
  return isWatched ? 'debug' : 'info';
}

/** Authentication attaches the caller. */
const platformOf = (req: Request & { caller?: { tenant: Tenant } }) => req.caller?.tenant.platform;

/** The template of the route that answered, or that would have: a body that cannot be read is refused before. */
function routeOf(req: Request): string {
  const path: unknown = (req.route ?? missedBy(req))?.path;
  return typeof path === 'string' && !path.includes('*') ? path : 'unmatched';
}

function missedBy(req: Request) {
  try {
    return routesAt(req).find(({ methods }) => methods[req.method.toLowerCase()]);
  } catch {
    return undefined; // a path that cannot be decoded
  }
}
