import { connect, type Socket } from 'node:net';

/** One request as it goes over the wire. */
export interface WireRequest {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  body?: string;
  /** Of a write. */
  idempotencyKey?: string;
}

type Answered = (status: number, body: Buffer, head: string) => void;

const NOTHING = Buffer.alloc(0);

/**
 * A connection that sends one request at a time and reads no more of the answer than it must: the load generator shares its cores with
 * what it measures. Knows what the servers here send: HTTP/1.1 with a Content-Length. Status 0 stands for a lost connection, which is
 * made anew with the next request.
 */
export class Wire {
  private readonly port: number;
  private readonly head: string;
  private socket: Socket | undefined;
  private received: Buffer | undefined;
  private answered: Answered | undefined;

  constructor(port: number, authorization?: string) {
    this.port = port;
    const auth = authorization ? `Authorization: ${authorization}\r\n` : '';
    this.head = ` HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${auth}`;
  }

  get isBusy(): boolean {
    return this.answered !== undefined;
  }

  /** Sends a request; `answered` is called once. */
  send({ method, path, body, idempotencyKey }: WireRequest, answered: Answered): void {
    this.answered = answered;
    const key = idempotencyKey === undefined ? '' : `Idempotency-Key: ${idempotencyKey}\r\n`;
    const content =
      body === undefined
        ? '\r\n'
        : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    this.socket ??= this.open();
    this.socket.write(`${method} ${path}${this.head}${key}${content}`);
  }

  close(): void {
    this.answered = undefined;
    this.socket?.destroy();
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    socket.on('data', (chunk: Buffer) => this.read(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.socket !== socket) return;
      this.socket = undefined;
      this.received = undefined;
      this.settle(0, NOTHING, '');
    });
    return socket;
  }

  private read(chunk: Buffer): void {
    const bytes = this.received ? Buffer.concat([this.received, chunk]) : chunk;
    const end = bytes.indexOf('\r\n\r\n');
    const head = end < 0 ? '' : bytes.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (end < 0 || bytes.length < end + 4 + length) {
      this.received = bytes;
      return;
    }
    this.received = undefined;
    this.settle(Number(head.slice(9, 12)), bytes.subarray(end + 4, end + 4 + length), head);
  }

  private settle(status: number, body: Buffer, head: string): void {
    const { answered } = this;
    this.answered = undefined;
    answered?.(status, body, head);
  }
}

/** Sends one request and waits for the answer. */
export function ask(wire: Wire, request: WireRequest): Promise<{ status: number; body: string; head: string }> {
  return new Promise((resolve) =>
    wire.send(request, (status, body, head) => resolve({ status, body: body.toString(), head })),
  );
}
