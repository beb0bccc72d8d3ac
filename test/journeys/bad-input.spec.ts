import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { createPlatform, issueToken } from '../../apps/shared/provision.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

/** Every operation of the API against everything that clients get wrong (issue of the foundation, bad input): a precise refusal, never a 5xx. */
let platform: TestPlatform;
let operations: { method: 'get' | 'post' | 'patch' | 'delete'; path: string; hasBody: boolean; needs: string }[];
let viewer: [string, string];

const UNKNOWN = '0195a000-0000-7000-8000-000000000000';
const BASE = '/2025-10-13';

beforeAll(async () => {
  platform = await startTestPlatform();
  const document = (await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200)).body;
  operations = Object.entries<Record<string, { requestBody?: object; security?: unknown[] }>>(document.paths).flatMap(
    ([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => (operation.security ?? []).length > 0)
        .map(([method, operation]) => ({
          method: method as 'get',
          path,
          hasBody: operation.requestBody !== undefined,
          needs: method === 'get' ? 'VIEW' : 'more',
        })),
  );
  const { body } = await platform
    .api('post', '/tokens')
    .send({ name: 'viewer', permissions: ['VIEW'] })
    .expect(201);
  viewer = [body.clientId, body.clientSecret];
});
afterAll(() => platform.stop());

/** The path with ids that have the right form and belong to nothing. */
const filled = (path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const types: Record<string, string> = {
      customerId: 'Customer',
      tokenId: 'Token',
      quoteId: 'Quote',
      transactionId: 'Transaction',
      externalAccountId: 'ExternalAccount',
      accountId: path.includes('receiver') ? 'ExternalAccount' : 'InternalAccount',
      id: path.includes('webhooks') ? 'Webhook' : 'ExternalAccount',
    };
    return name === 'receiverUmaAddress' ? '$nobody@sandbox.uma.money' : `${types[name] ?? 'Thing'}:${UNKNOWN}`;
  });

function request(method: 'get' | 'post' | 'patch' | 'delete', path: string, auth = platform.credentials) {
  return supertest(platform.app.getHttpServer())
    [method](`${BASE}${filled(path)}`)
    .auth(auth.clientId, auth.clientSecret);
}

function refused(answer: supertest.Response, status: number, what: string): void {
  expect([what, answer.status, answer.body.status]).toEqual([what, status, status]);
  expect([what, typeof answer.body.code, typeof answer.body.message]).toEqual([what, 'string', 'string']);
  expect(answer.headers['x-request-id']).toEqual(expect.any(String));
}

test('there are operations to try', () => {
  expect(operations.length).toBeGreaterThan(25);
});

describe('bodies', () => {
  const deep = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`;
  const bodies: [string, string | Buffer][] = [
    ['malformed JSON', '{"amount": 1'],
    ['an array', '[1, 2]'],
    ['a bare string', '"text"'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['NUL in a string', '{"name": "a\\u0000b", "description": "a\\u0000b"}'],
    ['deep nesting', deep],
    ['huge numbers', '{"amount": 1e400, "lockedCurrencyAmount": 99999999999999999999}'],
    ['ten megabytes', `{"name": "${'x'.repeat(10_000_000)}"}`],
  ];

  test.each(bodies)('%s is refused by every operation that takes a body', async (what, body) => {
    for (const { method, path } of operations.filter((one) => one.hasBody)) {
      const answer = await request(method, path)
        .set('Content-Type', 'application/json')
        .serialize((bytes) => bytes)
        .send(body);
      refused(answer, 400, `${what} to ${method} ${path}`);
    }
  });

  test('every field of the wrong type is refused, or what the body is for is not found', async () => {
    for (const { method, path } of operations.filter((one) => one.hasBody)) {
      const wrong = {
        name: 7,
        amount: 'x',
        source: [],
        destination: 1,
        accountInfo: 'x',
        customerType: {},
        webhookEndpoint: 1,
        method: 1,
      };
      const body = { ...wrong, signature: {}, outcome: 1, permissions: 'ALL', overlapHours: 'x', scaFactor: 1 };
      const answer = await request(method, path).send(body);
      expect([400, 404]).toContain(answer.status);
      refused(answer, answer.status, `${method} ${path}`);
    }
  });
});

test('ids of nothing are not found', async () => {
  const individual = { customerType: 'INDIVIDUAL', fullName: 'Amina Diop' };
  const payer = (await platform.api('post', '/customers').send(individual).expect(201)).body.id;
  for (const { method, path, hasBody } of operations.filter((one) => one.path.includes('{') && !one.hasBody)) {
    expect(hasBody).toBe(false);
    const query = path.startsWith('/receiver/') ? { customerId: payer } : {};
    refused(await request(method, path).query(query), 404, `${method} ${path}`);
  }
});

test('ids of another form are not found', async () => {
  for (const { method, path } of operations.filter((one) => one.path.includes('{') && !one.hasBody)) {
    for (const id of [
      'nonsense',
      'Customer:',
      `Customer:${UNKNOWN}0`,
      '%00',
      '..%2f..%2fetc',
      `${'x'.repeat(2_000)}`,
    ]) {
      const url = `${BASE}${path.replace(/\{\w+\}/g, id)}`;
      const { clientId, clientSecret } = platform.credentials;
      const answer = await supertest(platform.app.getHttpServer())[method](url).auth(clientId, clientSecret);
      expect([400, 404]).toContain(answer.status);
      refused(answer, answer.status, `${method} ${url.slice(0, 100)}`);
    }
  }
});

test('a token that may only look gets 403 for everything else, whatever it sends', async () => {
  const auth = { clientId: viewer[0], clientSecret: viewer[1] };
  for (const { method, path } of operations.filter((one) => one.needs !== 'VIEW')) {
    refused(await request(method, path, auth).send(method === 'delete' ? undefined : {}), 403, `${method} ${path}`);
  }
});

test('the sandbox refuses a production token, whatever it sends', async () => {
  const tenant = { platform: platform.tenant.platform, environment: 'production' as const };
  await createPlatform(platform.engine, tenant, { name: 'Production' });
  const auth = await issueToken(platform.engine, tenant, { name: 'production', tokenId: randomUUID() });
  const sandbox = operations.filter((one) => one.path.startsWith('/sandbox/'));
  expect(sandbox.length).toBeGreaterThan(5);
  for (const { method, path } of sandbox) {
    for (const body of method === 'get' ? [undefined] : [{}, { amount: 'x' }]) {
      const answer = await request(method, path, auth).send(body);
      refused(answer, 403, `${method} ${path}`);
      expect([answer.body.code, answer.body.details]).toEqual(['FORBIDDEN', { reason: 'SANDBOX_ONLY' }]);
    }
  }
});

test('without credentials, or with wrong ones, every operation answers 401', async () => {
  for (const { method, path } of operations) {
    const bare = await supertest(platform.app.getHttpServer())[method](`${BASE}${filled(path)}`);
    refused(bare, 401, `${method} ${path}`);
    expect(bare.body.code).toBe('UNAUTHORIZED');
    const wrong = await request(method, path, { ...platform.credentials, clientSecret: 'wrong' });
    refused(wrong, 401, `${method} ${path}`);
  }
});

test('unknown routes and methods', async () => {
  const { clientId, clientSecret } = platform.credentials;
  const ask = (method: 'get' | 'put' | 'patch', path: string) =>
    supertest(platform.app.getHttpServer())[method](path).auth(clientId, clientSecret);
  refused(await ask('get', `${BASE}/nothing/here`), 404, 'an unknown path');
  refused(await ask('get', '/nothing'), 404, 'a path beside the API');
  refused(await ask('put', `${BASE}/customers`), 405, 'a method that is not there');
  refused(await ask('patch', `${BASE}/quotes`), 405, 'a method that is not there');
  refused(await ask('get', `${BASE}/customers/%E0%A4%A`), 400, 'broken percent-encoding');
});
