import { errorCatalogue } from '../../kernel/errors.ts';
import { type OpenApiDocument } from './openapi.ts';
import { type ErrorStatus } from './operation.ts';
import { freeValueSchema, type JsonSchema } from './rules.ts';

const statuses = [...new Set(errorCatalogue().map(({ status }) => status))].sort() as ErrorStatus[];

/** What operations share: credentials, headers, the idempotency key, and one schema and one response per error status. */
export function sharedComponents(schemas: Record<string, JsonSchema>): OpenApiDocument['components'] {
  return {
    securitySchemes: {
      BasicAuth: { type: 'http', scheme: 'basic', description: 'Client id as user name, client secret as password.' },
      AgentAuth: { type: 'http', scheme: 'bearer', description: 'Access token of an agent.' },
    },
    parameters: {
      IdempotencyKey: idempotencyKey(false),
      RequiredIdempotencyKey: idempotencyKey(true),
      ReadPosition: readPosition,
    },
    headers: {
      'X-Request-Id': { description: 'Names this request in logs and to support.', schema: { type: 'string' } },
      'Idempotent-Replayed': {
        description: 'Present when this is the answer to an earlier request with the same key.',
        schema: { type: 'string', const: 'true' },
      },
      'Read-Position': {
        description:
          'Of a write: its place in the order of all changes. Of a read: the place up to which it shows them. Sent with a read to another instance, it is read there, too.',
        schema: { type: 'integer', minimum: 0 },
      },
      'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer' } },
      'WWW-Authenticate': { schema: { type: 'string' } },
    },
    responses: Object.fromEntries(statuses.map((status) => [`Error${status}`, errorResponse(status)])),
    schemas: {
      FieldError: fieldErrorSchema,
      FreeValue: freeValueSchema,
      ...Object.fromEntries(statuses.map((status) => [`Error${status}`, errorSchema(status)])),
      ...schemas,
    },
  };
}

/** References to the responses of these statuses, in order. */
export const errorResponses = (wanted: ErrorStatus[]): JsonSchema =>
  Object.fromEntries(
    [...new Set(wanted)].sort().map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
  );

const idempotencyKey = (required: boolean): JsonSchema => ({
  name: 'Idempotency-Key',
  in: 'header',
  required,
  description:
    'Makes the request safe to repeat: the same key and body give the same answer again, for 24 hours at least.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
});

const readPosition: JsonSchema = {
  name: 'Read-Position',
  in: 'header',
  required: false,
  description:
    'The `Read-Position` of an earlier answer. The request waits, two seconds at most, until it can show what was written up to there.',
  schema: { type: 'integer', minimum: 0 },
};

function errorResponse(status: ErrorStatus): JsonSchema {
  const headers: JsonSchema = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
  if ([409, 429, 503].includes(status)) headers['Retry-After'] = { $ref: '#/components/headers/Retry-After' };
  if (status === 401) headers['WWW-Authenticate'] = { $ref: '#/components/headers/WWW-Authenticate' };
  const schema = { $ref: `#/components/schemas/Error${status}` };
  return {
    description: descriptions[status],
    headers,
    content: { 'application/json': { schema, example: example(status) } },
  };
}

const descriptions: Record<ErrorStatus, string> = {
  400: 'The request is wrong; `details.errors` lists every invalid field.',
  401: 'The credentials or a signature are missing or wrong; `reason` names the failed check.',
  403: 'The credentials do not allow this.',
  404: 'There is no such resource.',
  405: 'The path exists, but not with this method.',
  409: 'The request conflicts with the current state, or its idempotency key belongs to another request.',
  410: 'The resource has been deleted.',
  412: 'The version is not supported.',
  422: 'The document was rejected.',
  423: 'The account is locked.',
  424: 'A counterparty failed.',
  429: 'Too much at once, or a limit is reached.',
  500: 'Something went wrong on our side.',
  501: 'Not available here.',
  503: 'Not available at the moment.',
};

function errorSchema(status: ErrorStatus): JsonSchema {
  const codes = errorCatalogue().filter((entry) => entry.status === status);
  const reason = { type: 'string', description: 'Names the failed check.' };
  const errors = {
    type: 'array',
    items: { $ref: '#/components/schemas/FieldError' },
    description: 'Every invalid field.',
  };
  return {
    type: 'object',
    required: ['status', 'code', 'message', ...(status === 401 ? ['reason'] : [])],
    properties: {
      status: { type: 'integer', const: status },
      code: { type: 'string', enum: codes.map(({ code }) => code) },
      message: { type: 'string' },
      ...(status === 401 && { reason }),
      details: { type: 'object', additionalProperties: true, ...(status === 400 && { properties: { errors } }) },
    },
  };
}

const fieldErrorSchema: JsonSchema = {
  type: 'object',
  required: ['field', 'constraint', 'message'],
  properties: {
    field: { type: 'string', description: 'Path of the field, such as `address.line1` or `fundingSources.0`.' },
    constraint: {
      type: 'string',
      enum: [
        ...['REQUIRED', 'TYPE', 'FORMAT', 'PATTERN', 'ENUM', 'MIN_LENGTH', 'MAX_LENGTH'],
        ...['MINIMUM', 'MAXIMUM', 'UNKNOWN_FIELD', 'CONFLICT'],
      ],
    },
    message: { type: 'string' },
    pattern: { type: 'string' },
    format: { type: 'string' },
    allowed: { type: 'array', items: { type: 'string' } },
    minLength: { type: 'integer' },
    maxLength: { type: 'integer' },
    minimum: { type: 'integer' },
    maximum: { type: 'integer' },
  },
  additionalProperties: true,
};

function example(status: ErrorStatus): JsonSchema {
  const [first] = errorCatalogue().filter((entry) => entry.status === status);
  const { code, message } = first!;
  if (status === 401) return { status, code, message, reason: message, details: { reason: message } };
  if (status !== 400) return { status, code, message };
  const wrong = 'address.line1 is required.';
  const errors = [{ field: 'address.line1', constraint: 'REQUIRED', message: wrong }];
  return { status, code, message: wrong, details: { errors } };
}

/**
 * Moves every schema with an `$id` into the components and leaves a reference in its place. Unions with a discriminator become
 * `oneOf` with the mapping that their variants' constants say, and lists of texts name their type.
 */
export function hoisted(document: OpenApiDocument, further: object[]): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {};
  const seen = new Map<string, string>();
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const { $id, ...schema } = node as JsonSchema;
    if (typeof $id !== 'string') return inside(node as JsonSchema);
    const text = JSON.stringify(schema);
    if (seen.has($id) && seen.get($id) !== text) throw new Error(`Two different schemas are named ${$id}.`);
    if (!seen.has($id)) {
      seen.set($id, text);
      schemas[$id] = inside(schema);
    }
    return { $ref: `#/components/schemas/${$id}` };
  };
  const inside = (node: JsonSchema): JsonSchema => {
    const visited = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, visit(value)]));
    const { $ref } = visited;
    if (typeof $ref === 'string' && !$ref.includes('#')) return { ...visited, $ref: `#/components/schemas/${$ref}` };
    return discriminated(node, typed(visited));
  };
  further.forEach(visit);
  const { schemas: scanned, ...kinds } = document.components;
  const rest = inside({ ...document, components: kinds }) as OpenApiDocument;
  const own = inside(scanned) as Record<string, JsonSchema>;
  const twice = Object.keys(own).find((name) => Object.hasOwn(schemas, name));
  if (twice) throw new Error(`A request class and a schema are both named ${twice}.`);
  const sorted = Object.entries({ ...own, ...schemas }).sort(([left], [right]) => (left < right ? -1 : 1));
  return { ...rest, components: { ...rest.components, schemas: Object.fromEntries(sorted) } };
}

/** Without a type some generators of clients take a list of texts for a list of anything. */
function typed(schema: JsonSchema): JsonSchema {
  const values = schema.const === undefined ? schema.enum : [schema.const];
  const isTexts = Array.isArray(values) && values.every((value) => typeof value === 'string');
  return schema.type === undefined && isTexts ? { type: 'string', ...schema } : schema;
}

function discriminated(original: JsonSchema, visited: JsonSchema): JsonSchema {
  const discriminator = visited.discriminator as { propertyName?: string; mapping?: object } | undefined;
  if (!discriminator?.propertyName) return visited;
  const { anyOf, oneOf = anyOf, ...rest } = visited;
  const variants = (original.oneOf ?? original.anyOf ?? []) as JsonSchema[];
  const mapping = variants.flatMap((variant, index) => {
    const { $ref } = (oneOf as JsonSchema[])[index]!;
    const property = (variant.properties as Record<string, JsonSchema> | undefined)?.[discriminator.propertyName!];
    const values = property?.const !== undefined ? [property.const] : ((property?.enum as unknown[]) ?? []);
    return typeof $ref === 'string' ? values.map((value) => [value, $ref]) : [];
  });
  return { ...rest, oneOf, discriminator: { mapping: Object.fromEntries(mapping), ...discriminator } };
}
