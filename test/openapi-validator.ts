import { type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Json = Record<string, unknown>;

/** As much of an OpenAPI 3.1 document as is looked at here. */
export interface Document {
  servers?: { url: string }[];
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, unknown> };
}

/** An answer, as supertest gives it. */
export interface Answer {
  status: number;
  body: unknown;
  text?: string;
  headers: Record<string, unknown>;
}

interface Checker {
  ajv: Ajv2020;
  /** For what is sent: with the schemas as they are in the document. Made when it is first asked for. */
  asIs?: Ajv2020;
  routes: { pattern: RegExp; template: string; fixed: number }[];
  compiled: Map<string, ValidateFunction>;
}

const checkers = new WeakMap<Document, Checker>();

/**
 * Fails unless the document knows this answer: the operation, its status, and a body that fits the schema and has no member
 * that the schema does not name. `url` is the path of the request, with or without its query.
 */
export function expectMatchesOpenApi(document: Document, method: string, url: string, answer: Answer): void {
  const checker = checkerOf(document);
  const path = pathOf(url);
  const template = templateOf(document, url);
  if (!template) throw new Error(`The OpenAPI document has no path for ${path}.`);
  const where = `${method.toUpperCase()} ${template}`;
  const operation = document.paths[template]?.[method.toLowerCase()] as { responses: Json } | undefined;
  if (!operation) throw new Error(`The OpenAPI document has no ${where}.`);
  const documented = operation.responses[answer.status] ?? operation.responses[`${String(answer.status)[0]}XX`];
  const response = resolve(document, documented) as { content?: Record<string, { schema: Json }> } | undefined;
  if (!response)
    throw new Error(`${where}: status ${answer.status} is not documented. It said: ${JSON.stringify(answer.body)}`);
  checkBody(checker, `${where} ${answer.status}`, response.content, answer);
}

const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '').replace(/[?#].*$/, '');

/** The path of the document that a URL belongs to, `/quotes/{quoteId}`; undefined when it has none. */
export const templateOf = (document: Document, url: string): string | undefined =>
  checkerOf(document).routes.find(({ pattern }) => pattern.test(pathOf(url)))?.template;

/** What the document has against a request body, as a sentence each; nothing where it asks for no body. */
export function faultsOfRequest(document: Document, method: string, template: string, body: unknown): string[] {
  const operation = document.paths[template]?.[method.toLowerCase()] as { requestBody?: Json } | undefined;
  const { content } = (operation?.requestBody ?? {}) as { content?: Record<string, unknown> };
  if (!content?.['application/json']) return [];
  const checker = checkerOf(document);
  checker.asIs ??= asIs(document);
  const place = ['paths', template, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'];
  const pointer = place.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const validate = checker.compiled.get(pointer) ?? checker.asIs.compile({ $ref: `openapi#/${encodeURI(pointer)}` });
  checker.compiled.set(pointer, validate);
  return validate(body) ? [] : validate.errors!.map(describe);
}

/** Fails unless a value fits a schema component, with no member that it does not name: for webhook payloads and stored rows. */
export function expectMatchesComponent(document: Document, name: string, value: unknown): void {
  checkSchema(checkerOf(document), name, { $ref: `#/components/schemas/${name}` }, value);
}

function checkBody(
  checker: Checker,
  where: string,
  content: Record<string, { schema: Json }> | undefined,
  answer: Answer,
) {
  const type = String(answer.headers['content-type'] ?? '').split(';')[0]!;
  if (!content) {
    if (answer.text) throw new Error(`${where}: no body is documented, but there is one: ${answer.text}`);
    return;
  }
  const media = content[type];
  if (!media) throw new Error(`${where}: the content type ${type || '(none)'} is not documented.`);
  checkSchema(checker, where, media.schema, answer.body);
}

function checkSchema(checker: Checker, where: string, schema: Json, value: unknown): void {
  const key = JSON.stringify(schema);
  const validate = checker.compiled.get(key) ?? checker.ajv.compile(closed(schema) as Json);
  checker.compiled.set(key, validate);
  if (validate(value)) return;
  const faults = validate.errors!.map(describe);
  throw new Error(
    `${where}: the answer is not as documented.\n${[...new Set(faults)].join('\n')}\n${JSON.stringify(value, null, 2)}`,
  );
}

function describe({ instancePath, message, params }: ErrorObject): string {
  return `  ${instancePath || '(body)'} ${message} ${JSON.stringify(params)}`;
}

function checkerOf(document: Document): Checker {
  const known = checkers.get(document);
  if (known) return known;
  const ajv = newAjv();
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    ajv.addSchema(closed(schema) as Json, `${CLOSED}${name}`);
    ajv.addSchema(open(schema) as Json, `${OPEN}${name}`);
  }
  const base = document.servers?.[0]?.url.replace(/\/$/, '') ?? '';
  const routes = Object.keys(document.paths).map((template) => ({
    template,
    pattern: new RegExp(
      `^(${escaped(base)})?${template
        .split(/\{[^}]+\}/)
        .map(escaped)
        .join('[^/]+')}/?$`,
    ),
    fixed: template.split('/').filter((part) => !part.startsWith('{')).length,
  }));
  const checker: Checker = { ajv, routes: routes.sort((left, right) => right.fixed - left.fixed), compiled: new Map() };
  checkers.set(document, checker);
  return checker;
}

const asIs = (document: Document): Ajv2020 => newAjv().addSchema({ ...document, $id: 'openapi' });

function newAjv(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  formats.default(ajv);
  return ajv;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function resolve(document: Document, node: unknown): unknown {
  const ref = (node as { $ref?: string } | undefined)?.$ref;
  if (!ref) return node;
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Json)?.[key], document);
}

const CLOSED = 'closed:';
const OPEN = 'open:';
const parts = ['allOf', 'oneOf', 'anyOf'] as const;

/**
 * A schema that allows no members beyond those it names, at any depth. A part of a composition does not know the members of
 * its siblings: there the parts stay open (`open`) and the whole is closed.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema) || typeof schema !== 'object' || schema === null) return schema;
  const { discriminator: _, ...node } = schema as Json;
  if (typeof node.$ref === 'string') return { ...siblings(node, closed), $ref: renamed(node.$ref, CLOSED) };
  const isAlternative = !node.allOf && !node.properties && (node.oneOf || node.anyOf);
  if (isAlternative) return mapParts(siblings(node, closed), closed);
  const isObject = node.properties !== undefined || node.allOf !== undefined;
  const isFree = node.additionalProperties !== undefined || node.unevaluatedProperties !== undefined;
  return { ...mapParts(siblings(node, closed), open), ...(isObject && !isFree && { unevaluatedProperties: false }) };
}

/** The same schema with only the values of its members closed. */
function open(schema: unknown): unknown {
  if (Array.isArray(schema) || typeof schema !== 'object' || schema === null) return schema;
  const { discriminator: _, ...node } = schema as Json;
  if (typeof node.$ref === 'string') return { ...siblings(node, closed), $ref: renamed(node.$ref, OPEN) };
  return mapParts(siblings(node, closed), open);
}

const renamed = (ref: string, as: string): string => ref.replace('#/components/schemas/', as);

function mapParts(node: Json, change: (schema: unknown) => unknown): Json {
  const changed = { ...node };
  for (const part of parts) if (Array.isArray(node[part])) changed[part] = node[part].map(change);
  return changed;
}

/** Everything that describes members and elements. */
function siblings(node: Json, change: (schema: unknown) => unknown): Json {
  const changed = { ...node };
  for (const name of ['properties', 'patternProperties'] as const) {
    if (!node[name]) continue;
    changed[name] = Object.fromEntries(Object.entries(node[name]).map(([key, value]) => [key, change(value)]));
  }
  for (const name of ['items', 'additionalProperties'] as const) if (node[name]) changed[name] = change(node[name]);
  return changed;
}
