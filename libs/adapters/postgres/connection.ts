import type { ClientConfig } from 'pg';

/** For how long a server may say nothing before a connection to it, or a statement of a holder's, counts as lost. */
export const SILENCE_MS = 30_000;

/**
 * How a part of the program connects to PostgreSQL, under the name by which operators find its connections. A server that takes the
 * connection and says nothing, as one whose machine was lost does, is an error in time.
 */
export const connection = (url: string, name: string): ClientConfig => ({
  connectionString: url,
  application_name: name,
  keepAlive: true,
  connectionTimeoutMillis: SILENCE_MS,
});

/** The same for what must never wait for long: who holds a piece of work, and its next step. */
export const promptConnection = (url: string, name: string, silenceMs = SILENCE_MS): ClientConfig => ({
  ...connection(url, name),
  connectionTimeoutMillis: silenceMs,
  query_timeout: silenceMs,
});
