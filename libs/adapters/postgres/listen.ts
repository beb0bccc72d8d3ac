import pg from 'pg';
import { promptConnection } from './connection.ts';

export interface Listener {
  /** Resolves when the first LISTEN stands. */
  ready: Promise<void>;
  close(): Promise<void>;
}

const RETRY_MS = 500;

/**
 * A LISTEN that comes back by itself after a lost connection. `notified` is also called after each reconnection, with an empty
 * payload, since whatever was said in between is lost; when it cannot find out what that was, it is called again. `deaf` is called when
 * the connection is lost.
 */
export function listen(
  url: string,
  channel: string,
  notified: (payload: string) => unknown,
  deaf: () => void = () => {},
): Listener {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let opened = () => {};
  const ready = new Promise<void>((resolve) => {
    opened = resolve;
  });

  const again = () => {
    client = undefined;
    if (!closed && !timer) timer = setTimeout(connect, RETRY_MS).unref();
  };

  const connect = async () => {
    timer = undefined;
    const fresh = new pg.Client(promptConnection(url, 'ledgerline-listener'));
    let gone = false;
    const lost = () => {
      if (gone) return;
      gone = true;
      if (closed) return;
      deaf();
      again();
    };
    fresh.on('error', lost);
    fresh.on('end', lost);
    fresh.on('notification', (message) => notified(message.payload ?? ''));
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      if (closed) return void fresh.end().catch(() => {});
      client = fresh;
      opened();
      await notified('');
    } catch {
      fresh.end().catch(() => {});
      lost();
    }
  };
  void connect();

  return {
    ready,
    async close() {
      closed = true;
      clearTimeout(timer);
      opened();
      await client?.end().catch(() => {});
    },
  };
}
