import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Type } from 'typebox';
import { expectMatchesComponent, expectMatchesOpenApi } from '../../../test/openapi-validator.ts';
import { AddressView, EchoView, ThingsModule } from './http-kit.examples.ts';
import { buildOpenApi, type JsonSchema, type OpenApiDocument } from './index.ts';

let app: NestExpressApplication;
let document: OpenApiDocument;

const options = { title: 'Things', version: '1', basePath: '/2025-10-13' };
const extra = Type.Object({ address: Type.Union([AddressView, Type.Null()]) }, { $id: 'Extra' });

beforeAll(async () => {
  app = await NestFactory.create<NestExpressApplication>(ThingsModule, { logger: false });
  const answers = { 200: { description: 'Taken.', schema: EchoView }, '2XX': { description: 'Received.' } };
  const webhooks = { TEST: { summary: 'A test', payload: EchoView, example: { got: 1 }, answers } };
  document = JSON.parse(JSON.stringify(buildOpenApi(app, { ...options, schemas: [extra], webhooks })));
});

afterAll(() => app.close());

const operation = (path: string, method: string) =>
  document.paths[path]![method] as {
    [name: string]: unknown;
    responses: object;
  };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect({ valid, errors, version: validator.version }).toEqual({ valid: true, errors: undefined, version: '3.1' });
  });

  test('has components instead of inline copies, and mappings for variants', () => {
    expect(document.components.schemas.IndividualCustomer!.properties).toMatchObject({ address: ref('Address') });
    expect(document.components.schemas.Extra!.properties).toEqual({
      address: { anyOf: [ref('Address'), { type: 'null' }] },
    });
    expect(document.components.schemas.CustomerOneOf).toEqual({
      oneOf: [ref('IndividualCustomer'), ref('BusinessCustomer')],
      discriminator: {
        propertyName: 'customerType',
        mapping: { INDIVIDUAL: ref('IndividualCustomer').$ref, BUSINESS: ref('BusinessCustomer').$ref },
      },
    });
  });

  test('shows request bodies as they are checked', () => {
    const body = document.components.schemas.EverythingBody as {
      required: string[];
      properties: Record<string, JsonSchema>;
    };
    expect(body.required).toEqual(['text', 'integer']);
    expect(body.properties.text).toEqual({ type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' });
    expect(body.properties.color).toEqual({ type: ['string', 'null'], enum: ['RED', 'GREEN', null] });
    expect(body.properties.address).toEqual(ref('AddressBody'));
    expect(body.properties.addresses).toEqual({ type: 'array', items: ref('AddressBody'), maxItems: 3 });
    expect(body.properties.source).toMatchObject({ oneOf: [ref('AccountSource'), ref('RealtimeSource')] });
    expect(body.properties.checked).toEqual({ type: 'object', properties: { digits: { type: 'string' } } });
    expect(operation('/customers', 'post').requestBody).toMatchObject({
      content: { 'application/json': { schema: { discriminator: { propertyName: 'customerType' } } } },
    });
  });

  test('names errors, keys, permissions, extensions and webhooks', () => {
    const everything = operation('/everything', 'post');
    expect(Object.keys(everything.responses)).toEqual(['201', '400', '401', '403', '409', '429', '500', '503']);
    expect(everything.parameters).toEqual([{ $ref: '#/components/parameters/RequiredIdempotencyKey' }]);
    expect(everything.description).toBe('Permission: `TRANSACT`.');
    expect(everything.security).toEqual([{ BasicAuth: [] }]);
    expect(operation('/things', 'get')['x-extension']).toBe(true);
    expect(operation('/fail/{how}', 'get').security).toEqual([]);
    expect((document.webhooks as Record<string, unknown>).TEST).toMatchObject({
      post: {
        requestBody: { content: { 'application/json': { schema: ref('Echo'), example: { got: 1 } } } },
        responses: {
          200: { description: 'Taken.', content: { 'application/json': { schema: ref('Echo') } } },
          '2XX': { description: 'Received.' },
        },
      },
    });
    expect(JSON.stringify(document)).not.toContain('x-declared');
  });

  test('lists path parameters that the handler does not read, and query parameters with their bounds', () => {
    expect(operation('/customers/{customerId}', 'delete').parameters).toEqual([
      { name: 'customerId', in: 'path', required: true, schema: { type: 'string' } },
    ]);
    const [limit] = operation('/things', 'get').parameters as JsonSchema[];
    expect(limit).toMatchObject({ name: 'limit', required: false, schema: { minimum: 1, maximum: 100, default: 20 } });
  });

  test('is refused when a route is not declared, or two schemas share a name', async () => {
    @Controller()
    class Bare {
      @Get('bare')
      bare() {}
    }
    @Module({ controllers: [Bare] })
    class BareModule {}
    const bare = await NestFactory.create<NestExpressApplication>(BareModule, { logger: false });
    expect(() => buildOpenApi(bare, options)).toThrow('GET /bare has no @Operation.');
    const another = Type.Object({}, { $id: 'Address' });
    expect(() => buildOpenApi(app, { ...options, schemas: [another] })).toThrow(
      'Two different schemas are named Address.',
    );
    const sameAsClass = Type.Object({}, { $id: 'EverythingBody' });
    expect(() => buildOpenApi(app, { ...options, schemas: [sameAsClass] })).toThrow(
      'A request class and a schema are both named EverythingBody.',
    );
  });
});

describe('expectMatchesOpenApi', () => {
  const answer = (status: number, body: unknown) => ({
    status,
    body,
    text: JSON.stringify(body),
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
  const check = (status: number, body: unknown, path = '/2025-10-13/customers/1?x=1', method = 'GET') =>
    expectMatchesOpenApi(document, method, path, answer(status, body));
  const individual = { id: '1', customerType: 'INDIVIDUAL' };

  test('passes what is documented', () => {
    check(200, { ...individual, address: { line1: 'x', country: 'US' } });
    check(404, { status: 404, code: 'USER_NOT_FOUND', message: 'x', details: { anything: 1 } });
    check(200, { data: [{ got: 1 }], hasMore: false, totalCount: 1 }, '/2025-10-13/things');
    expectMatchesComponent(document, 'Extra', { address: null });
  });

  test.each<[string, () => void, RegExp]>([
    ['an unknown path', () => check(200, {}, '/2025-10-13/nope'), /has no path for/],
    ['an unknown method', () => check(200, {}, '/2025-10-13/things', 'PUT'), /has no PUT \/things/],
    ['an unknown status', () => check(418, {}), /status 418 is not documented/],
    ['a missing member', () => check(200, { customerType: 'INDIVIDUAL' }), /required property 'id'/],
    ['an undocumented member', () => check(200, { ...individual, secret: 1 }), /unevaluated properties/],
    [
      'one inside',
      () => check(200, { ...individual, address: { line1: 'x', country: 'US', z: 1 } }),
      /unevaluated properties/,
    ],
    [
      'one in a list',
      () => check(200, { data: [{ got: 1, z: 1 }], hasMore: true }, '/2025-10-13/things'),
      /unevaluated/,
    ],
    ['another code', () => check(404, { status: 404, code: 'INVALID_INPUT', message: 'x' }), /allowed values/],
    [
      'a body where none is documented',
      () => check(204, {}, '/2025-10-13/customers/1', 'DELETE'),
      /no body is documented/,
    ],
    ['a component', () => expectMatchesComponent(document, 'Extra', { address: { line1: 1 } }), /must be string/],
  ])('fails on %s', (_, run, message) => {
    expect(run).toThrow(message);
  });

  test('closes a composition as a whole, not its parts', () => {
    const composed = structuredClone(document);
    composed.components.schemas.Composed = {
      allOf: [ref('Address'), { type: 'object', properties: { more: { type: 'string' } } }],
    };
    const address = { line1: 'x', country: 'US' };
    expectMatchesComponent(composed, 'Composed', { ...address, more: 'y' });
    expect(() => expectMatchesComponent(composed, 'Composed', { ...address, other: 'y' })).toThrow(/unevaluated/);
  });
});
