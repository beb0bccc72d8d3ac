import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Stands between a client and a server. Silent, it takes connections and bytes and passes nothing on, as a machine does that was lost or
 * a network that swallows; whoever was connected then is never answered again, while those who come after `open` are.
 */
export class Gate {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private isSilent = false;

  private constructor(to: { host: string; port: number }) {
    this.server = createServer((client) => {
      this.sockets.add(client);
      client.on('error', () => {}).on('close', () => this.sockets.delete(client));
      if (this.isSilent) return void client.resume();
      const server = connect(to);
      this.sockets.add(server);
      server.on('error', () => {}).on('close', () => this.sockets.delete(server));
      client.pipe(server).pipe(client);
    });
  }

  /** In front of the server of a URL; `url` leads through the gate. */
  static async before(target: string): Promise<{ gate: Gate; url: string }> {
    const url = new URL(target);
    const gate = new Gate({ host: url.hostname, port: Number(url.port) });
    await once(gate.server.listen(0, '127.0.0.1'), 'listening');
    url.host = `127.0.0.1:${(gate.server.address() as AddressInfo).port}`;
    return { gate, url: url.href };
  }

  silence(): void {
    this.isSilent = true;
    for (const socket of this.sockets) socket.unpipe().resume();
  }

  open(): void {
    this.isSilent = false;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
