import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { reject } from '../kernel/errors.ts';
import type { KeyedAnswer, KeyedAnswers } from '../kernel/event-store.port.ts';
import { canonicalJson } from '../kernel/json.ts';
import { Caller, type CallerRequest } from './caller.ts';
import type { Surrounded } from './http/operation.ts';
import { Idempotency } from './idempotency.ts';
import { Seal } from './seal.ts';

const bodyHash = createHash('sha256').update(canonicalJson({})).digest('hex');

/** A request whose key another process began, and answers meanwhile with `answer` if at all; says what it is answered with itself. */
async function asked(answer: Omit<KeyedAnswer, 'key' | 'bodyHash'> | undefined): Promise<unknown> {
  const answers: KeyedAnswers = {
    reserve: async () => ({ state: 'begun', bodyHash, since: 7 }),
    find: async (key) => answer && { key, bodyHash, ...answer },
    remember: async () => true,
    forgetOld: async () => 0,
  };
  const tenant = { platform: 'p', environment: 'sandbox' } as const;
  const request: Partial<Surrounded> & CallerRequest = { caller: new Caller(tenant, 'token', new Set(), 'request') };
  Object.assign(request, { headers: { 'idempotency-key': 'k' }, method: 'POST', path: '/tokens', body: {} });
  const response = { statusCode: 201, status: () => response, setHeader: () => response };
  const http = { getRequest: () => request, getResponse: () => response };
  const context = { switchToHttp: () => http, getHandler: () => () => {} } as unknown as ExecutionContext;
  new Idempotency(answers, new Seal(Buffer.alloc(32)), async () => 9).canActivate(context);
  return request.around!(async () => {
    throw reject('CONFLICT', { reason: 'SECRET_SHOWN_ALREADY' });
  });
}

test('what another process has answered meanwhile is the answer, also where this one can only refuse', async () => {
  expect(await asked({ status: 201, body: '{"clientSecret":"s"}' })).toBe('{"clientSecret":"s"}');
  await expect(asked(undefined)).rejects.toMatchObject({ code: 'CONFLICT' });
});
