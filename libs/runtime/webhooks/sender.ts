import { Agent, type Dispatcher } from 'undici';
import { checkTarget, dnsResolver, guardedLookup, type Resolve, resolveLocally } from './target.ts';

/** Why there is no answer. `BUSY` and `CLOSED` are the sender's own: nothing was sent, the attempt does not count. */
export type SendFailure =
  | 'TIMEOUT'
  | 'DNS'
  | 'PRIVATE_ADDRESS'
  | 'INVALID_TARGET'
  | 'CONNECTION'
  | 'TLS'
  | 'PROTOCOL'
  | 'BUSY'
  | 'CLOSED';

/**
 * What came of one attempt. The status line is the answer, redirects included: they are not followed. `body` are the bytes as they
 * came, `bodyText` is what of them can be recorded; a body that is longer, slower than the deadline or broken off is cut and marked
 * `isTruncated`.
 */
export type SendResult =
  | { outcome: 'answered'; status: number; body: Buffer; bodyText: string; isTruncated: boolean; durationMs: number }
  | { outcome: 'failed'; reason: SendFailure; message: string; durationMs: number };

export interface SenderOptions {
  /** Allows private, loopback and link-local targets and plain http: for local work. */
  allowPrivateTargets: boolean;
  /** Everything together: name resolution, connecting, sending, status, body. */
  timeoutMs?: number;
  /** How much of an answer's body is kept. */
  maxResponseBytes?: number;
  /** Sockets, and therefore attempts in flight, per origin. */
  connectionsPerTarget?: number;
  /** Certificate authorities (PEM) to trust instead of Node's own. */
  ca?: string;
  /** Resolves host names; default: the machine's resolver for local work, DNS otherwise. */
  resolve?: Resolve;
}

/** Sends webhooks over pooled connections that one slow receiver cannot use up. */
export interface Sender {
  /** POSTs `body` as JSON. Never rejects. */
  send(request: { url: string; headers: object; body: Buffer }): Promise<SendResult>;
  /** How many attempts this URL's origin takes right now; beyond it `send` answers `BUSY`. */
  room(url: string): number;
  /** Ends all connections. What is in flight fails with `CLOSED` and is to be sent again. */
  close(): Promise<void>;
}

const SENTENCES: Record<SendFailure, string> = {
  TIMEOUT: 'The receiver did not answer in time.',
  DNS: 'The host name could not be resolved.',
  PRIVATE_ADDRESS: 'The URL leads to an address that is not public.',
  INVALID_TARGET: 'The URL cannot be used as a webhook endpoint.',
  CONNECTION: 'The connection failed.',
  TLS: 'The TLS connection could not be established.',
  PROTOCOL: 'The receiver did not answer in valid HTTP.',
  BUSY: 'All connections to this receiver are in use.',
  CLOSED: 'The sender was closed.',
};

/** Makes the one HTTP client for webhooks: addresses checked and pinned at connect time, TLS verified, no redirects. */
export function createSender(options: SenderOptions): Sender {
  const { allowPrivateTargets, ca } = options;
  const { timeoutMs = 15_000, maxResponseBytes = 64 * 1024, connectionsPerTarget = 32 } = options;
  const resolve = options.resolve ?? (allowPrivateTargets ? resolveLocally : dnsResolver());
  const agent = new Agent({
    connections: connectionsPerTarget,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveMaxTimeout: 60_000,
    connect: { lookup: guardedLookup(resolve, { allowPrivateTargets }), timeout: timeoutMs, ...(ca ? { ca } : {}) },
  });
  const inFlight = new Map<string, number>();
  const room = (origin: string): number => connectionsPerTarget - (inFlight.get(origin) ?? 0);

  const release = (origin: string): void => {
    const left = inFlight.get(origin)! - 1;
    if (left === 0) inFlight.delete(origin);
    else inFlight.set(origin, left);
  };

  return {
    send({ url, headers, body }) {
      const problem = checkTarget(url, { allowPrivateTargets });
      if (problem) {
        const reason = problem.reason === 'PRIVATE_ADDRESS' ? 'PRIVATE_ADDRESS' : 'INVALID_TARGET';
        return Promise.resolve(notSent(reason, problem.message));
      }
      const { origin, pathname, search } = new URL(url);
      if (agent.closed || agent.destroyed) return Promise.resolve(notSent('CLOSED'));
      if (room(origin) === 0) return Promise.resolve(notSent('BUSY'));
      inFlight.set(origin, (inFlight.get(origin) ?? 0) + 1);
      return new Promise((settled) => {
        const attempt = new Attempt(timeoutMs, maxResponseBytes, (result) => {
          release(origin);
          settled(result);
        });
        const sent = { 'content-type': 'application/json', 'user-agent': 'ledgerline-webhooks', ...headers };
        agent.dispatch({ origin, path: pathname + search, method: 'POST', headers: sent, body }, attempt);
      });
    },
    room: (url) => (URL.canParse(url) ? room(new URL(url).origin) : 0),
    close: () => agent.destroy(),
  };
}

function notSent(reason: SendFailure, message = SENTENCES[reason]): SendResult {
  return { outcome: 'failed', reason, message, durationMs: 0 };
}

/** One request on its way: settles exactly once, at the latest when its deadline passes. */
class Attempt implements Dispatcher.DispatchHandler {
  private readonly startedAt = performance.now();
  private readonly deadline: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private status: number | undefined;
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private isSettled = false;

  constructor(
    timeoutMs: number,
    private readonly maxResponseBytes: number,
    private readonly settle: (result: SendResult) => void,
  ) {
    this.deadline = setTimeout(() => this.cut('TIMEOUT'), timeoutMs);
  }

  /** A request that waited for its connection beyond the deadline is not sent any more. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isSettled) controller.abort(new Error('The deadline has passed.'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.status = status;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const left = this.maxResponseBytes - this.bytes;
    this.chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk);
    this.bytes += chunk.length;
    if (chunk.length > left) this.cut('PROTOCOL');
  }

  onResponseEnd(): void {
    this.finish(false, 'PROTOCOL');
  }

  onResponseError(_: Dispatcher.DispatchController, error: NodeJS.ErrnoException): void {
    this.finish(true, failureOf(error), error.code);
  }

  private cut(reason: SendFailure): void {
    this.finish(true, reason);
    this.controller?.abort(new Error('Cut off.'));
  }

  /** An answer if there was a status line, otherwise the failure. */
  private finish(isTruncated: boolean, reason: SendFailure, code?: string): void {
    if (this.isSettled) return;
    this.isSettled = true;
    clearTimeout(this.deadline);
    const durationMs = Math.round(performance.now() - this.startedAt);
    if (this.status !== undefined) {
      const body = Buffer.concat(this.chunks);
      const { status } = this;
      this.settle({ outcome: 'answered', status, body, bodyText: textOf(body), isTruncated, durationMs });
      return;
    }
    const message = code && code !== reason ? `${SENTENCES[reason]} (${code})` : SENTENCES[reason];
    this.settle({ outcome: 'failed', reason, message, durationMs });
  }
}

/** UTF-8 text that can be stored: Postgres takes no NUL. */
function textOf(body: Buffer): string {
  return body.toString('utf8').replaceAll('\u0000', '\uFFFD');
}

const FAILURES: [pattern: RegExp, failure: SendFailure][] = [
  [/^PRIVATE_ADDRESS$/, 'PRIVATE_ADDRESS'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'TIMEOUT'],
  [/^(UND_ERR_DESTROYED|UND_ERR_CLOSED|UND_ERR_ABORTED)$/, 'CLOSED'],
  [/^(ENOTFOUND|ENODATA|ENONAME|EAI_\w+|ESERVFAIL|EFORMERR|ENOTIMP|EBADRESP|EBADNAME|ETIMEOUT|ECANCELLED)$/, 'DNS'],
  [/^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/, 'TLS'],
  [/^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_INFO|UND_ERR_NOT_SUPPORTED)/, 'PROTOCOL'],
];

function failureOf(error: NodeJS.ErrnoException): SendFailure {
  if (error.syscall?.startsWith('query')) return 'DNS';
  if (error.name === 'HTTPParserError') return 'PROTOCOL';
  return FAILURES.find(([pattern]) => pattern.test(error.code ?? ''))?.[1] ?? 'CONNECTION';
}
