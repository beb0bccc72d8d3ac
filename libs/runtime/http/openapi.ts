import { type NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { type Express } from 'express';
import { errorResponses, hoisted, sharedComponents } from './openapi-components.ts';
import { DECLARED, type Described, type ErrorStatus, type OperationOptions, type Success } from './operation.ts';
import { type JsonSchema } from './rules.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends Record<string, unknown> {
  paths: Record<string, Record<string, JsonSchema>>;
  components: { schemas: Record<string, JsonSchema>; [kind: string]: Record<string, JsonSchema> };
}

/** One webhook of the catalogue: the schema of its whole payload, and a sample. */
export interface WebhookDoc {
  summary: string;
  description?: string;
  payload: object;
  example?: unknown;
  /** Status → what it means when the receiver answers with it. */
  answers: Record<string, Described>;
}

export interface OpenApiOptions {
  title: string;
  version: string;
  description?: string;
  /** Schemas with `$id` that no operation names. */
  schemas?: object[];
  /** Event type → payload. */
  webhooks?: Record<string, WebhookDoc>;
  /** Where the paths of the document begin, such as `/2025-10-13`. */
  basePath?: string;
}

/**
 * Makes the OpenAPI document out of the routes of an app: paths, parameters and request bodies from the controllers and their
 * field decorators, everything else from `@Operation`. Schemas with an `$id` become components. Throws when a route has no
 * `@Operation` or two schemas share a name.
 */
export function buildOpenApi(app: NestExpressApplication, options: OpenApiOptions): OpenApiDocument {
  const { title, version, description = '', schemas = [], webhooks = {}, basePath } = options;
  const outline: Omit<OpenAPIObject, 'paths'> = { openapi: '3.1.0', info: { title, version, description } };
  const scanned = SwaggerModule.createDocument(app, outline, {
    ignoreGlobalPrefix: true,
    autoTagControllers: false,
    operationIdFactory: (controller, method) => `${lowerFirst(controller.replace(/Controller$/, ''))}_${method}`,
  }) as unknown as OpenApiDocument;
  const tags = new Set<string>();
  for (const [path, item] of Object.entries(scanned.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const declared = operation[DECLARED] as OperationOptions | undefined;
      if (!declared) throw new Error(`${method.toUpperCase()} ${path} has no @Operation.`);
      item[method] = completed(method, path, operation, declared, scanned.components.schemas);
      tags.add(declared.tag);
    }
  }
  const document = {
    openapi: '3.1.0',
    info: scanned.info,
    ...(basePath && { servers: [{ url: basePath }] }),
    tags: [...tags, EVENTS].map((name) => ({ name })),
    paths: scanned.paths,
    webhooks: Object.fromEntries(
      Object.entries(webhooks).map(([type, webhook]) => [type, { post: delivery(type, webhook) }]),
    ),
    components: sharedComponents(scanned.components.schemas),
  };
  return hoisted(document, schemas);
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function completed(
  method: string,
  path: string,
  operation: JsonSchema,
  declared: OperationOptions,
  classes: Record<string, JsonSchema>,
): JsonSchema {
  const { [DECLARED]: _, parameters: scanned = [], responses: __, requestBody, operationId, ...rest } = operation;
  const { summary, description, tag, permission, auth = 'BasicAuth', extension } = declared;
  const isPublic = permission === 'PUBLIC';
  const allows = isPublic ? 'Needs no credentials.' : `Permission: \`${permission}\`.`;
  const isKeyed = (method === 'post' || method === 'patch') && !isPublic;
  const isRead = method === 'get' && !isPublic;
  const key = declared.idempotent ? 'RequiredIdempotencyKey' : 'IdempotencyKey';
  const parameters = withPathParameters(path, scanned as Parameter[]);
  const takesInput = requestBody !== undefined || parameters.length > 0;
  return {
    operationId,
    summary,
    description: description ? `${description}\n\n${allows}` : allows,
    tags: [tag],
    ...rest,
    ...(declared.deprecated && { deprecated: true }),
    ...(extension && { 'x-extension': true }),
    security: isPublic ? [] : [{ [auth]: [] }],
    parameters: [
      ...parameters,
      ...(isKeyed ? [{ $ref: `#/components/parameters/${key}` }] : []),
      ...(isRead ? [{ $ref: '#/components/parameters/ReadPosition' }] : []),
    ],
    ...(requestBody !== undefined && { requestBody: withPresence(requestBody as RequestBody, classes) }),
    responses: {
      ...successes(declared, isKeyed),
      ...errorResponses(errorsOf(declared, method, isKeyed || isRead || takesInput)),
    },
  };
}

type Parameter = { name: string; in: string };
type RequestBody = { content: Record<string, { schema: { $ref?: string } }> };

/** Path parameters that a handler does not ask for belong to its path all the same. */
function withPathParameters(path: string, parameters: Parameter[]): object[] {
  const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  const missing = named.filter(
    (name) => !parameters.some((parameter) => parameter.in === 'path' && parameter.name === name),
  );
  return [...missing.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })), ...parameters];
}

/** A body of which no field is required may be left out. */
function withPresence(body: RequestBody, classes: Record<string, JsonSchema>): object {
  const name = body.content['application/json']?.schema.$ref?.split('/').at(-1);
  const isOptional = name !== undefined && classes[name] !== undefined && !classes[name].required;
  return { ...body, required: !isOptional };
}

function errorsOf({ permission, errors = [] }: OperationOptions, method: string, takesInput: boolean): ErrorStatus[] {
  const isPublic = permission === 'PUBLIC';
  return [
    ...errors,
    ...(takesInput ? [400 as const] : []),
    ...(isPublic ? [] : [401 as const]),
    ...(isPublic || method === 'get' ? [] : [403 as const]),
    ...(!isPublic && (method === 'post' || method === 'patch') ? [409 as const] : []),
    429,
    500,
    503,
  ];
}

function successes({ success, permission, deprecated }: OperationOptions, isKeyed: boolean): JsonSchema {
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ...(isKeyed && { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } }),
    ...(permission !== 'PUBLIC' && { 'Read-Position': { $ref: '#/components/headers/Read-Position' } }),
    ...(deprecated && deprecationHeaders),
  };
  return Object.fromEntries(
    Object.entries(success).map(([status, answer]) => {
      const { description, schema, example } = isDescribed(answer)
        ? answer
        : { schema: answer, description: undefined };
      const content = { 'application/json': { schema, ...(example !== undefined && { example }) } };
      return [
        status,
        { description: description ?? sentences[status] ?? 'Done.', headers, ...(schema && { content }) },
      ];
    }),
  );
}

const deprecationHeaders: JsonSchema = {
  Deprecation: { description: 'Since when it is deprecated (RFC 9745).', schema: { type: 'string' } },
  Sunset: { description: 'After which it may be gone (RFC 8594).', schema: { type: 'string' } },
  Link: { description: 'What to use instead: `rel="deprecation"`.', schema: { type: 'string' } },
};

/** A JSON Schema may have a description too, but never nothing else. */
const isDescribed = (success: Success): success is Described =>
  'description' in success && Object.keys(success).every((name) => ['description', 'schema', 'example'].includes(name));

const sentences: Record<string, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done, without a body.',
};

/** The tag of webhooks. Under one that operations have, generators of clients put the one in the place of the other. */
const EVENTS = 'Webhook events';

function delivery(type: string, { summary, description, payload, example, answers }: WebhookDoc): JsonSchema {
  const content = { 'application/json': { schema: payload, ...(example !== undefined && { example }) } };
  const responses = Object.entries(answers).map(([status, { schema, ...answer }]) => [
    status,
    { ...answer, ...(schema && { content: { 'application/json': { schema } } }) },
  ]);
  return {
    operationId: `event_${type.replace(/\W/g, '_')}`,
    summary,
    ...(description && { description }),
    tags: [EVENTS],
    security: [],
    requestBody: { required: true, content },
    responses: Object.fromEntries(responses),
  };
}

/** Serves the document at `/openapi.json` and Swagger UI, with everything it needs, at `/docs`; built when first asked for. */
export function serveOpenApi(app: NestExpressApplication, options: OpenApiOptions): void {
  let built: OpenApiDocument | undefined;
  const document = () => (built ??= buildOpenApi(app, options));
  (app.getHttpAdapter().getInstance() as Express).get('/openapi.json', (_req, res) => void res.json(document()));
  SwaggerModule.setup('docs', app, () => document() as unknown as OpenAPIObject, {
    raw: false,
    customSiteTitle: options.title,
    swaggerOptions: { validatorUrl: null, docExpansion: 'none', displayRequestDuration: true },
  });
}
