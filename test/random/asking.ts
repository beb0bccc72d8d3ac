import { setTimeout as sleep } from 'node:timers/promises';
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
  /** With this token in place of the platform's first one. */
  token?: { id: string; authorization: string };
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

const PAUSE_MS = 50;

/** Asks over HTTP, each time another of the ports; `Authorization` of the platform and of its viewer. */
export function asker(ports: readonly number[], owner: string, viewer = owner): Ask {
  let turn = 0;
  return async ({ method, path, body, key, isByViewer, token }) => {
    turn += 1;
    const answer = await fetch(`http://127.0.0.1:${ports[turn % ports.length]}${BASE_PATH}${path}`, {
      method,
      headers: {
        authorization: isByViewer ? viewer : (token?.authorization ?? owner),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text, body: text && JSON.parse(text) };
  };
}

/** Asks again for as long as nobody answers, who answers is only starting, or another one is still answering the same. */
export const patient =
  (ask: Ask, patienceMs: number): Ask =>
  async (call) => {
    for (const giveUpMs = performance.now() + patienceMs; ; await sleep(PAUSE_MS)) {
      const answer = await ask(call).catch((error: Error) => error);
      const isOver = performance.now() > giveUpMs;
      if (!(answer instanceof Error)) {
        const { checks, reason } = answer.body?.details ?? {};
        if (isOver || (!checks && reason !== 'REQUEST_IN_PROGRESS')) return answer;
      } else if (isOver) throw answer;
    }
  };
