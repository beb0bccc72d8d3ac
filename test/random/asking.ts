import { BASE_PATH } from '../../libs/runtime/http/index.ts';

/** A request, below the base path. */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  path: string;
  /** What is sent as JSON; text is sent as it is. */
  body?: unknown;
  /** `Idempotency-Key`. */
  key?: string;
  /** With a token that may only look. */
  isByViewer?: boolean;
}

/** What came of it. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** Read as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked against the OpenAPI document
  body: any;
}

export type Ask = (call: Call) => Promise<Answer>;

/** Asks over HTTP; `Authorization` of the platform and of its viewer. */
export const asker =
  (port: number, owner: string, viewer = owner): Ask =>
  async ({ method, path, body, key, isByViewer }) => {
    const answer = await fetch(`http://127.0.0.1:${port}${BASE_PATH}${path}`, {
      method,
      headers: {
        authorization: isByViewer ? viewer : owner,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text, body: text && JSON.parse(text) };
  };
