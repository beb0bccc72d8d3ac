import { beforeAll, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import supertest from 'supertest';
import { startTestPlatform } from '../platform.ts';

type Json = Record<string, unknown>;

/** An example with the place of the schema that it belongs to, as a JSON pointer. */
interface Example {
  at: string;
  schema: string;
  value: unknown;
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Those of schemas, and those of parameters, bodies and answers, which stand beside their schema. */
function* examplesIn(node: unknown, at = ''): Generator<Example> {
  if (!isObject(node)) return;
  const schema = isObject(node.schema) ? `${at}/schema` : at;
  if ('example' in node && !at.endsWith('/properties')) yield { at, schema, value: node.example };
  if (Array.isArray(node.examples)) for (const value of node.examples) yield { at, schema, value };
  else if (isObject(node.examples) && !at.endsWith('/properties'))
    for (const one of Object.values(node.examples)) yield { at, schema, value: (one as Json).value };
  for (const [name, inner] of Object.entries(node)) {
    if (name !== 'example' && name !== 'examples') yield* examplesIn(inner, `${at}/${escaped(name)}`);
  }
}

/** Everything in the document that may be a schema, with its place; not what stands in examples. */
function* schemasIn(node: unknown, at = ''): Generator<[at: string, schema: Json]> {
  if (!isObject(node)) return;
  if (!at.endsWith('/properties')) yield [at, node];
  for (const [name, inner] of Object.entries(node))
    if (name !== 'example' && name !== 'examples') yield* schemasIn(inner, `${at}/${escaped(name)}`);
}

let document: Json;
beforeAll(async () => {
  const platform = await startTestPlatform();
  ({ body: document } = await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200));
  await platform.stop();
});

test('generators of clients find types: no list of texts without one, and no choice beside fields', () => {
  const schemas = [...schemasIn(document)];
  expect(schemas.length).toBeGreaterThan(1_000);
  const faults = schemas.flatMap(([at, { type, enum: values, const: value, properties, oneOf, anyOf }]) => [
    ...((Array.isArray(values) || value !== undefined) && type === undefined ? [`${at} has no type`] : []),
    ...(Array.isArray(type) && type.filter((one) => one !== 'null').length > 1 ? [`${at} has several types`] : []),
    ...(properties && (oneOf || anyOf) ? [`${at} is a choice beside fields`] : []),
  ]);
  expect(faults).toEqual([]);
});

test('every operation and every webhook has a name of its own, and webhooks share no tag with operations', () => {
  const of = (kind: string) =>
    Object.values(document[kind] as Json)
      .flatMap((item) => Object.values(item as Json))
      .map((operation) => operation as { operationId: string; tags: string[] });
  const [operations, webhooks] = [of('paths'), of('webhooks')];
  const names = [...operations, ...webhooks].map(({ operationId }) => operationId);
  expect(names).toEqual(names.map(() => expect.stringMatching(/^\w+$/)));
  expect(new Set(names).size).toBe(names.length);
  const tags = new Set(operations.flatMap((operation) => operation.tags));
  expect(webhooks.flatMap((webhook) => webhook.tags).filter((tag) => tags.has(tag))).toEqual([]);
});

test('every example of the OpenAPI document is valid against its own schema', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' });
  const examples = [...examplesIn(document)];
  expect(examples.length).toBeGreaterThan(100);
  const wrong = examples.flatMap(({ at, schema, value }) => {
    const validate = ajv.compile({ $ref: `openapi#${encodeURI(schema)}` });
    return validate(value) ? [] : [{ at, value, errors: ajv.errorsText(validate.errors) }];
  });
  expect(wrong).toEqual([]);
});
