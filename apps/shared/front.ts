import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reject } from '../../libs/kernel/errors.ts';
import { newExchange } from '../../libs/runtime/http/exchange.ts';

const CLOSE_IDLE_EVERY_MS = 50;
/** Longer than load balancers keep an idle connection (60 s): they end it, so that no request meets one that is just being closed. */
const KEEP_ALIVE_MS = 65_000;

/**
 * The listening port of the platform, there before anything else: a taken port is found out before anything is started, and whoever
 * calls meanwhile is told what is going on. The API moves in when it is ready.
 */
export class Front {
  /** What the platform is busy with until the API is open. */
  doing = 'starting';
  /** For the app of the API. */
  readonly exchange = newExchange();
  private readonly server: Server;
  private isClosing = false;

  constructor() {
    this.server = createServer({ ...this.exchange, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
      this.notYet(request, response),
    );
  }

  /** Takes the port; 0 takes any free one. Answers which it is. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, rejectWith) => {
      this.server.once('error', (error) => rejectWith(explained(error, host, port)));
      this.server.listen(port, host, resolve);
    });
    return (this.server.address() as AddressInfo).port;
  }

  /** Hands requests to the server of the API, which itself does not listen. */
  open(api: Server): void {
    this.server.removeAllListeners('request');
    this.server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
      if (this.isClosing) response.shouldKeepAlive = false;
    });
    for (const event of ['request', 'clientError']) {
      for (const listener of api.listeners(event)) this.server.on(event, listener as () => void);
    }
  }

  /** Takes no more connections, and resolves when the requests under way are answered or the time is up. */
  async close(patienceMs: number): Promise<void> {
    this.isClosing = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    const idle = setInterval(() => this.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    const overdue = setTimeout(() => this.server.closeAllConnections(), patienceMs);
    await closed;
    clearInterval(idle);
    clearTimeout(overdue);
  }

  private notYet(request: IncomingMessage, response: ServerResponse): void {
    const isAlive = request.url === '/healthz';
    const checks = { startup: this.doing };
    const { status, code, message, details } = reject(
      'SERVICE_UNAVAILABLE',
      { checks, retryAfterSeconds: 1 },
      'Not ready.',
    );
    response.writeHead(isAlive ? 200 : status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': randomUUID(),
      ...(!isAlive && { 'Retry-After': '1' }),
    });
    response.end(JSON.stringify(isAlive ? { status: 'ok' } : { status, code, message, details }));
  }
}

function explained(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const wrong: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken. Set PORT to a free port, for example: PORT=${port === 65_535 ? 3001 : port + 1} npm start`,
    EACCES: `Port ${port} of ${host} may not be used by this account. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one that it has.`,
    ENOTFOUND: `The name ${host} is not known. Set HOST to an address of this machine.`,
  };
  return new Error(wrong[error.code ?? ''] ?? `Port ${port} of ${host} cannot be used: ${error.message}`);
}
