import { expect, test } from '@jest/globals';
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

test('every example of the OpenAPI document is valid against its own schema', async () => {
  const platform = await startTestPlatform();
  const { body: document } = await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200);
  await platform.stop();
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
