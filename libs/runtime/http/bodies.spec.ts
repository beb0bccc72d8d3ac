import { type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type NestExpressApplication } from '@nestjs/platform-express';
import request from 'supertest';
import { expectMatchesOpenApi } from '../../../test/openapi-validator.ts';
import { invalidFields as fields, startThings } from './http-kit.examples.ts';
import { createLogger, type OpenApiDocument } from './index.ts';

const BASE = '/2025-10-13';
const VALID = { text: 'abc', integer: 1 };

let app: NestExpressApplication;
let document: OpenApiDocument;

beforeAll(async () => {
  app = await startThings(createLogger({ level: 'silent' }));
  document = (await request(app.getHttpServer()).get('/openapi.json')).body;
});

afterAll(() => app.close());

const agent = () => request(app.getHttpServer());

/** Sends a body as it is and gives what of the answer the tests look at. */
async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}) {
  const sending = agent().post(`${BASE}${path}`).set('Content-Type', 'application/json').set(headers);
  const answer = await sending.serialize((raw) => raw as string).send(body as string);
  expectMatchesOpenApi(document, 'post', `${BASE}${path}`, answer);
  expect(answer.body.status ?? 201).toBe(answer.status);
  return answer;
}

describe('bodies', () => {
  test('every invalid field is reported at once, with its path and constraint', async () => {
    const answer = await post(
      '/everything',
      JSON.stringify({
        text: 'X',
        integer: 1.5,
        flag: 'true',
        color: 'BLUE',
        at: '2025-01-01',
        day: '2025-02-30',
        phone: '0123',
        mail: 'nobody',
        site: 'example',
        address: { line1: '', country: 'XX' },
        source: { sourceType: 'CASH' },
        addresses: [1, { line1: 'a', country: 'US' }, {}],
        countries: ['US', 'ZZ'],
        metadata: { list: [[[[]]]] },
        checked: { digits: '123' },
      }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: 400, code: 'INVALID_INPUT', message: 'Several fields are invalid.' });
    expect(fields(answer)).toEqual([
      'text MIN_LENGTH',
      'integer TYPE',
      'flag TYPE',
      'color ENUM',
      'at FORMAT',
      'day FORMAT',
      'phone FORMAT',
      'mail FORMAT',
      'site FORMAT',
      'address.line1 MIN_LENGTH',
      'address.country FORMAT',
      'source.sourceType ENUM',
      'addresses.0 TYPE',
      'addresses.2.line1 REQUIRED',
      'addresses.2.country REQUIRED',
      'countries.1 FORMAT',
      'metadata.list.0.0.0 TYPE',
      'checked.digits FORMAT',
    ]);
  });

  test('a good body is canonical, without unknown fields at any depth', async () => {
    const uuid = '01900000-0000-7000-8000-00000000000';
    const answer = await post(
      '/everything',
      JSON.stringify({
        ...VALID,
        unknown: 1,
        color: null,
        at: '2025-01-01T00:30:00.5+02:00',
        address: { line1: 'a', country: 'US', unknown: 1 },
        addresses: [{ line1: 'b', country: 'DE', unknown: 1 }],
        source: { sourceType: 'ACCOUNT', accountId: `InternalAccount:${uuid}A`, unknown: 1 },
        metadata: { free: 'yes', count: 2, none: null, nested: { list: [true, { text: '' }, []] } },
      }),
    );
    expect(answer.body).toEqual({
      got: {
        ...VALID,
        color: null,
        at: '2024-12-31T22:30:00.500Z',
        address: { line1: 'a', country: 'US' },
        addresses: [{ line1: 'b', country: 'DE' }],
        source: { sourceType: 'ACCOUNT', accountId: `InternalAccount:${uuid}a` },
        metadata: { free: 'yes', count: 2, none: null, nested: { list: [true, { text: '' }, []] } },
      },
    });
  });

  test('a field that the rest of the body makes required', async () => {
    const answer = await post('/everything', JSON.stringify({ ...VALID, color: 'RED' }));
    expect(answer.body).toEqual({
      status: 400,
      code: 'INVALID_INPUT',
      message: 'reason is required.',
      details: { errors: [{ field: 'reason', constraint: 'REQUIRED', message: 'reason is required.' }] },
    });
  });

  test.each([
    ['no discriminator', {}, ['customerType REQUIRED']],
    ['an unknown one', { customerType: 'ROBOT' }, ['customerType ENUM']],
    ['one that names a member of every object', { customerType: 'constructor' }, ['customerType ENUM']],
    ['a known one', { customerType: 'BUSINESS', fullName: 'x' }, ['legalName REQUIRED']],
  ])('variants: %s', async (_, body, expected) => {
    expect(fields(await post('/customers', JSON.stringify(body)))).toEqual(expected);
  });

  test('without the discriminator a body is read as the class for that, if there is one', async () => {
    const path = `${BASE}/customers/Customer:1`;
    const answer = await agent().patch(path).send({ line1: 'x', country: 'US', fullName: 'y' });
    expect(answer.body).toEqual({ got: { line1: 'x', country: 'US', customerId: 'Customer:1' } });
  });
});

describe('bad input', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;

  test.each<[string, string | Buffer, Record<string, string>, string]>([
    ['broken JSON', '{"text":', {}, 'MALFORMED_JSON'],
    ['a trailing comma', '{"text":"abc",}', {}, 'MALFORMED_JSON'],
    ['a byte order mark', '\ufeff{}', {}, 'MALFORMED_JSON'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}, 'INVALID_UTF8'],
    ['a list', '[]', {}, 'BODY_NOT_AN_OBJECT'],
    ['null', 'null', {}, 'BODY_NOT_AN_OBJECT'],
    ['a number', '1', {}, 'BODY_NOT_AN_OBJECT'],
    ['deep nesting', nested(32), {}, 'BODY_TOO_DEEP'],
    ['very deep nesting', nested(400_000), {}, 'BODY_TOO_DEEP'],
    ['many values', `[${'1,'.repeat(20_000)}1]`, {}, 'BODY_TOO_COMPLEX'],
    ['10 MB', `{"text":"${'x'.repeat(10_000_000)}"}`, {}, 'BODY_TOO_LARGE'],
    ['10 MB, compressed', gzipSync(Buffer.alloc(10_000_000, 32)), { 'Content-Encoding': 'gzip' }, 'BODY_TOO_LARGE'],
    ['broken compression', 'not gzip', { 'Content-Encoding': 'gzip' }, 'MALFORMED_ENCODING'],
    ['an unknown compression', '{}', { 'Content-Encoding': 'pied-piper' }, 'UNSUPPORTED_ENCODING'],
    ['a form', 'text=abc', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'UNSUPPORTED_MEDIA_TYPE'],
    ['an upload', '--x--', { 'Content-Type': 'multipart/form-data; boundary=x' }, 'UNSUPPORTED_MEDIA_TYPE'],
    ['text', '{}', { 'Content-Type': 'text/plain' }, 'UNSUPPORTED_MEDIA_TYPE'],
    ['another charset', '{}', { 'Content-Type': 'application/json; charset=utf-16' }, 'UNSUPPORTED_CHARSET'],
  ])('%s', async (_, body, headers, reason) => {
    const answer = await post('/everything', body, headers);
    expect([answer.status, answer.body.code, answer.body.details.reason]).toEqual([400, 'INVALID_INPUT', reason]);
  });

  test.each<[string, string, string[]]>([
    ['an integer beyond 2^53−1', '{"text":"abc","integer":9007199254740993}', ['integer MAXIMUM']],
    ['a huge number', '{"text":"abc","integer":1e400}', ['integer MAXIMUM']],
    ['a huge negative number in a free object', '{"metadata":{"a":-1e30}}', ['metadata.a MINIMUM']],
    ['a fraction that would round to an integer', '{"integer":1.00000000000000000001}', ['integer TYPE']],
    ['a number that would round to zero', '{"integer":1e-400}', ['integer TYPE']],
    ['a text for a number', '{"text":"abc","integer":"1"}', ['integer TYPE']],
    ['NUL in a text', '{"address":{"line1":"a\\u0000b"}}', ['address.line1 PATTERN']],
    ['NUL in a name', '{"metadata":{"a\\u0000b":"x"}}', ['metadata.a\\u0000b PATTERN']],
    ['a lone surrogate', '{"text":"\\ud800"}', ['text FORMAT']],
    [
      'lone surrogates in names',
      '{"metadata":{"\\ud800":{"b\\udc00":1}}}',
      ['metadata.\uFFFD FORMAT', 'metadata.\uFFFD.b\uFFFD FORMAT'],
    ],
    [
      'more than a hundred faults',
      `{"a":[${'1e30,'.repeat(200)}1]}`,
      Array(100).fill(expect.stringMatching(/^a\.\d+ /)),
    ],
  ])('%s', async (_, body, expected) => {
    const answer = await post('/everything', body);
    expect(answer.status).toBe(400);
    expect(fields(answer)).toEqual(expected);
  });

  test.each([
    [
      'a list where an object is due',
      { address: [{}], source: [null], metadata: [] },
      ['address', 'source', 'metadata'],
    ],
    ['an object where a list is due', { addresses: {}, countries: {} }, ['addresses', 'countries']],
    [
      'texts everywhere',
      { address: 'a', addresses: 'b', source: 'c', metadata: 'd' },
      ['address', 'source', 'addresses', 'metadata'],
    ],
    ['null for what is not nullable', { address: null, flag: null, addresses: null }, ['flag', 'address', 'addresses']],
  ])('%s', async (_, body, expected) => {
    const answer = await post('/everything', JSON.stringify({ ...VALID, ...body }));
    expect(fields(answer)).toEqual(expected.map((field) => `${field} TYPE`));
  });

  test('keys of the prototype change nothing and are not kept', async () => {
    const answer = await post(
      '/everything',
      '{"text":"abc","integer":1,"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},' +
        '"metadata":{"__proto__":{"y":1},"constructor":"z","kept":{"__proto__":[1],"k":[{"prototype":1}]}}}',
    );
    expect(answer.body).toEqual({ got: { ...VALID, metadata: { kept: { k: [{}] } } } });
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });

  test('fractions and long texts of digits that lose nothing pass', async () => {
    const clabe = '032180000118359719';
    const body = `{"text":"abc","integer":1.0,"metadata":{"clabe":"${clabe}","x":"1.00000000000000000001","y":0.123456789012345}}`;
    const answer = await post('/everything', body);
    expect(answer.body.got.metadata).toEqual({ clabe, x: '1.00000000000000000001', y: 0.123456789012345 });
  });

  test('a missing body is an empty object', async () => {
    const answer = await agent().post(`${BASE}/everything`);
    expect(fields(answer)).toEqual(['text REQUIRED', 'integer REQUIRED']);
  });

  test('a body without a content type is read as JSON', async () => {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const body = new Blob([JSON.stringify(VALID)]);
    const answer = await fetch(`http://127.0.0.1:${port}${BASE}/everything`, { method: 'POST', body });
    expect(answer.status).toBe(201);
  });
});
