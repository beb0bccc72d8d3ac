import { randomUUID } from 'node:crypto';
import { BASE_PATH } from '../../../../libs/runtime/http/index.ts';
import type { Teller } from './teller.ts';

/** Something was not as the story says it must be. */
export class DemoFailure extends Error {}

/** Throws unless it is so. */
export function must(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new DemoFailure(otherwise);
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

// biome-ignore lint/suspicious/noExplicitAny: the demo looks at answers as any client does, without this program's types
export type Json = any;

/** A client of the API that tells each request. */
export class Client {
  private readonly url: string;
  private readonly authorization: string;
  private readonly teller: Teller;

  constructor(url: string, { clientId, clientSecret }: { clientId: string; clientSecret: string }, teller: Teller) {
    this.url = url;
    this.authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    this.teller = teller;
  }

  /** Sends a request, tells it, and answers with the body; fails when the status is another one. */
  async call(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    expected: number,
    options: { body?: object; key?: string; note?: string } = {},
  ): Promise<Answer<Json>> {
    const answer = await this.send(method, path, options);
    this.teller.http(method, shortened(path), answer.status, options.note);
    must(answer.status === expected, `${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Asks again until the answer is as wanted, without telling. */
  async until(path: string, isWanted: (body: Json) => boolean, patienceMs = 20_000): Promise<Json> {
    const giveUpMs = performance.now() + patienceMs;
    for (;;) {
      const { status, body } = await this.send('GET', path);
      must(status === 200, `GET ${path} answered ${status}: ${JSON.stringify(body)}`);
      if (isWanted(body)) return body;
      must(
        performance.now() < giveUpMs,
        `GET ${path} still says after ${patienceMs / 1_000} s: ${JSON.stringify(body)}`,
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  private async send(
    method: string,
    path: string,
    { body, key = randomUUID() }: { body?: object; key?: string } = {},
  ): Promise<Answer<Json>> {
    const answer = await fetch(`${this.url}${BASE_PATH}${path}`, {
      method,
      headers: {
        authorization: this.authorization,
        ...(body && { 'content-type': 'application/json' }),
        ...(method !== 'GET' && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) };
  }
}

/** Uuids within a path, cut short for people. */
const shortened = (path: string): string => path.replace(/([0-9a-f]{8})-[0-9a-f-]{27}/g, '$1…');
