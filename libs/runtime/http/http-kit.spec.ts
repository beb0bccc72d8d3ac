import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { expectMatchesOpenApi } from '../../../test/openapi-validator.ts';
import { invalidFields as fields, startThings } from './http-kit.examples.ts';
import { createLogger, type OpenApiDocument } from './index.ts';

const BASE = '/2025-10-13';

let app: NestExpressApplication;
let document: OpenApiDocument;
let databaseProblem: string | undefined;

beforeAll(async () => {
  const logger = createLogger({ level: 'silent' });
  app = await startThings(logger, [{ name: 'database', check: async () => databaseProblem }]);
  document = (await request(app.getHttpServer()).get('/openapi.json')).body;
});

afterAll(() => app.close());

const agent = () => request(app.getHttpServer());

describe('paths and methods', () => {
  test.each([
    ['GET', `${BASE}/nope`, 404, 'REFERENCE_NOT_FOUND'],
    ['GET', '/nope', 404, 'REFERENCE_NOT_FOUND'],
    ['GET', BASE, 404, 'REFERENCE_NOT_FOUND'],
    ['GET', `${BASE}/Things`, 404, 'REFERENCE_NOT_FOUND'],
    ['DELETE', `${BASE}/things`, 405, 'METHOD_NOT_ALLOWED'],
    ['POST', '/healthz', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', `${BASE}/customers/%E0%A4%A`, 400, 'INVALID_INPUT'],
    ['GET', '/%', 400, 'INVALID_INPUT'],
    ['GET', `${BASE}/customers/a%00b`, 400, 'INVALID_INPUT'],
  ])('%s %s → %i', async (method, path, status, code) => {
    const answer = await agent()[method.toLowerCase() as 'get'](path);
    expect([answer.status, answer.body.status, answer.body.code]).toEqual([status, status, code]);
    expect(answer.headers['x-request-id']).toBeTruthy();
  });

  test('405 says what is allowed', async () => {
    expect((await agent().put(`${BASE}/customers/x`)).headers.allow).toBe('DELETE, GET, HEAD, PATCH');
  });

  test('ids work with a raw and an encoded colon, and a trailing slash', async () => {
    for (const id of ['Customer:1', 'Customer%3A1', 'Customer:1/']) {
      const answer = await agent().get(`${BASE}/customers/${id}`);
      expect(answer.body.id).toBe('Customer:1');
      expectMatchesOpenApi(document, 'get', `${BASE}/customers/${id}`, answer);
    }
  });

  test.each([
    ['a long URL', `GET ${BASE}/things?x=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['long headers', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'HEADERS_TOO_LARGE'],
    ['not HTTP', 'hello\r\n\r\n', 'MALFORMED_REQUEST'],
  ])('%s', async (_, raw, reason) => {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const answer = await new Promise<string>((resolve, fail) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(raw));
      socket.on('data', (data) => {
        text += data;
      });
      socket.on('end', () => resolve(text)).on('error', fail);
    });
    const [head, body] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/json; charset=utf-8\r\n/);
    expect(JSON.parse(body!)).toMatchObject({ status: 400, code: 'INVALID_INPUT', details: { reason } });
  });
});

describe('lists', () => {
  test('query parameters are typed, repeated or comma-joined, unknown ones ignored', async () => {
    const query =
      'limit=5&status=PENDING&status=FAILED,PENDING&isDeleted=true&createdAfter=2025-01-01T00:00:00+01:00&x=1';
    const answer = await agent().get(`${BASE}/things?${query}`);
    expectMatchesOpenApi(document, 'get', `${BASE}/things?${query}`, answer);
    expect(answer.body.data[0].got).toEqual({
      limit: 5,
      status: ['PENDING', 'FAILED', 'PENDING'],
      isDeleted: true,
      createdAfter: '2024-12-31T23:00:00.000Z',
      sortOrder: 'desc',
    });
  });

  test.each([
    ['limit=0', 'limit MINIMUM'],
    ['limit=101', 'limit MAXIMUM'],
    ['limit=2.5', 'limit TYPE'],
    ['limit=', 'limit TYPE'],
    ['limit=1&limit=2', 'limit TYPE'],
    ['status=DONE', 'status.0 ENUM'],
    ['isDeleted=yes', 'isDeleted TYPE'],
    ['createdAfter=yesterday', 'createdAfter FORMAT'],
    ['sortOrder=up', 'sortOrder ENUM'],
    ['reference=toolong', 'reference MAX_LENGTH'],
    ['reference=a%00', 'reference PATTERN'],
    ['cursor=garbled', 'cursor FORMAT'],
  ])('%s', async (query, expected) => {
    const answer = await agent().get(`${BASE}/things?${query}`);
    expect(answer.status).toBe(400);
    expect(fields(answer)).toEqual([expected]);
  });

  test('a cursor is good for the same filters only, with any limit', async () => {
    const list = (query: string) => agent().get(`${BASE}/things?${query}`);
    const { nextCursor, hasMore, totalCount } = (await list('status=PENDING')).body;
    expect({ hasMore, totalCount }).toEqual({ hasMore: true, totalCount: 2 });
    expect((await list(`status=PENDING&limit=3&cursor=${nextCursor}`)).status).toBe(200);
    expect(fields(await list(`status=FAILED&cursor=${nextCursor}`))).toEqual(['cursor FORMAT']);
    expect(fields(await list(`status=PENDING&cursor=x${nextCursor}`))).toEqual(['cursor FORMAT']);
  });
});

describe('errors and headers', () => {
  test('401 names the failed check twice and asks for credentials', async () => {
    const answer = await agent().get(`${BASE}/fail/401`);
    expectMatchesOpenApi(document, 'get', `${BASE}/fail/401`, answer);
    expect(answer.body).toMatchObject({ reason: 'Unknown client id', details: { reason: 'Unknown client id' } });
    expect(answer.headers['www-authenticate']).toBe('Basic realm="payments", charset="UTF-8"');
  });

  test('429 says when to come back, in whole seconds', async () => {
    expect((await agent().get(`${BASE}/fail/429`)).headers['retry-after']).toBe('3');
  });

  test('an unforeseen error says nothing but that, and its request id', async () => {
    const answer = await agent().get(`${BASE}/fail/500`).set('X-Request-Id', 'mine-1');
    expectMatchesOpenApi(document, 'get', `${BASE}/fail/500`, answer);
    expect(answer.body).toEqual({
      status: 500,
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong on our side.',
      details: { requestId: 'mine-1' },
    });
  });

  test('a server that is away is no fault of the program: the client is told to come back', async () => {
    const answer = await agent().get(`${BASE}/fail/503`);
    expectMatchesOpenApi(document, 'get', `${BASE}/fail/503`, answer);
    expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([
      503,
      '1',
      {
        status: 503,
        code: 'SERVICE_UNAVAILABLE',
        message: 'The service is not available at the moment. Try again.',
        details: { retryAfterSeconds: 1 },
      },
    ]);
  });

  test('every answer has a request id: a sane one of the client, else a fresh one', async () => {
    const sent = async (id: string) => (await agent().get('/healthz').set('X-Request-Id', id)).headers['x-request-id'];
    expect(await sent('abc:1.2-3')).toBe('abc:1.2-3');
    expect(await sent('<script>')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await sent('x'.repeat(200))).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('answers are not cached, have no etag and do not name the framework', async () => {
    const { headers } = await agent().get(`${BASE}/things`);
    expect([headers['cache-control'], headers.etag, headers['x-powered-by']]).toEqual([
      'no-store',
      undefined,
      undefined,
    ]);
  });
});

describe('beside the API', () => {
  test('healthz answers, readyz asks its checks', async () => {
    expect((await agent().get('/healthz')).body).toEqual({ status: 'ok' });
    databaseProblem = undefined;
    expect((await agent().get('/readyz')).body).toEqual({ status: 'ok', checks: { database: 'ok' } });
    databaseProblem = 'not connected';
    const { status, body } = await agent().get('/readyz');
    expect([status, body.code, body.details]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
      { checks: { database: 'not connected' } },
    ]);
  });

  test('metrics count requests by route template, unknown paths as one', async () => {
    await agent().get(`${BASE}/customers/Customer:secret`);
    await agent().get(`${BASE}/nope/Customer:secret`);
    const { text } = await agent().get('/metrics');
    expect(text).toMatch(
      /^http_requests_total\{method="GET",route="\/2025-10-13\/customers\/:customerId",status="200"\} \d+$/m,
    );
    expect(text).toMatch(
      /^http_request_duration_seconds_bucket\{le="0.01",method="GET",route="unmatched",status="404"\} \d+$/m,
    );
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).not.toContain('secret');
  });

  test('Swagger UI comes whole from here', async () => {
    const { text } = await agent().get('/docs');
    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url!);
    expect(loaded.length).toBeGreaterThan(3);
    for (const url of loaded) {
      expect(url).toMatch(/^\.?\/?docs\//);
      expect((await agent().get(`/${url.replace(/^\.?\//, '')}`)).status).toBe(200);
    }
  });
});
