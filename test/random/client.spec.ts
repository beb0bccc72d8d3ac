import { expect, test } from '@jest/globals';
import type { Document } from '../openapi-validator.ts';
import type { Answer, Call } from './asking.ts';
import { RandomClient } from './client.ts';
import { Known } from './known.ts';
import { Memory } from './memory.ts';

const text = { type: 'string' };
const token = {
  type: 'object',
  required: ['id'],
  properties: { id: text, name: text, clientId: text, clientSecret: text },
};
const list = { type: 'object', properties: { data: { type: 'array', items: token } } };
const as = (schema: object) => ({ content: { 'application/json': { schema } } });
const errors = [400, 401, 403, 404, 405, 409];
const refusals = Object.fromEntries(errors.map((status) => [status, as({ type: 'object' })]));
const requestBody = as({ type: 'object', required: ['name'], properties: { name: text } });

/** Of an API of nothing but tokens, whose names are all it knows. */
const document = {
  servers: [{ url: '/2025-10-13' }],
  paths: {
    '/tokens': {
      get: { security: [{}], responses: { 200: as(list), ...refusals } },
      post: { requestBody, responses: { 201: as(token), ...refusals } },
    },
    '/tokens/{tokenId}': { delete: { responses: { 200: as({ type: 'object' }), ...refusals } } },
  },
  components: { schemas: Object.fromEntries(errors.map((status) => [`Error${status}`, { type: 'object' }])) },
} as unknown as Document;

const ID = 'Token:0195a000-0000-7000-8000-000000000000';
const headers = { 'x-request-id': '1', 'content-type': 'application/json' };
const answer = (status: number, body: object): Answer => ({ status, body, text: JSON.stringify(body), headers });
const refused = (status: number, code = 'INVALID_INPUT') => answer(status, { status, code, message: 'No.' });

type Wrong = (call: Call, right: () => Answer, tokens: { id: string; name: string }[]) => Answer;

/** Such an API, as it should be; `wrong` may answer otherwise. */
function api(wrong: Wrong = (_, right) => right()) {
  const tokens: { id: string; name: string }[] = [];
  const keys = new Map<string, { body: string; answer: Answer }>();
  const ended = new Set<string>();
  const right = ({ method, path, body, key = 'none', isByViewer, token: by }: Call): Answer => {
    if (by && ended.has(by.id)) return refused(401);
    if (method === 'GET') return path.startsWith('/tokens') ? answer(200, { data: [...tokens] }) : refused(404);
    if (method === 'PUT') return refused(405);
    if (isByViewer) return refused(403);
    if (typeof body === 'string' || key === '' || key.length > 255) return refused(400);
    if (method === 'DELETE' && tokens.some(({ id }) => path === `/tokens/${id}`)) {
      ended.add(path.split('/').at(-1)!);
      return answer(200, {});
    }
    if (path !== '/tokens') return refused(404);
    const scope = `${by?.id} ${key}`;
    const known = keys.get(scope);
    if (known && known.body !== JSON.stringify(body)) return refused(409, 'CONFLICT');
    if (known) return { ...known.answer, headers: { ...headers, 'idempotent-replayed': 'true' } };
    if (typeof (body as { name?: unknown }).name !== 'string') return refused(400);
    const id = ID.slice(0, -4) + (1_000 + tokens.length);
    const made = answer(201, { id, name: 'token 1', clientId: id, clientSecret: 'secret' });
    tokens.unshift({ id, name: 'token 1' });
    keys.set(scope, { body: JSON.stringify(body), answer: made });
    return made;
  };
  return async (call: Call): Promise<Answer> => wrong(call, () => right(call), tokens);
}

/** What clients find wrong in so many steps, by the last line of each fault. */
async function faultsOf(ask: (call: Call) => Promise<Answer>, clients = 1): Promise<Set<string>> {
  const memory = new Memory();
  memory.known.learn({ id: ID, name: 'token 0' });
  const common = { name: 'north', ask, document, seed: 3, hooks: 'http://127.0.0.1:1', memory, endsTokensAtOnce: true };
  const elsewhere = new Known();
  const one = async (client: number) => {
    const asking = new RandomClient({ ...common, isAlone: clients === 1 });
    for (let n = 1; n <= 400; n++) await asking.step(n * clients + client, elsewhere);
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => one(client)));
  return new Set(memory.faults.map((fault) => fault.split('\n').at(-1)!.trim()));
}

test('nothing is wrong with an API that keeps its word', async () => {
  expect(await faultsOf(api())).toEqual(new Set());
  expect(await faultsOf(api(), 3)).toEqual(new Set());
});

const isPost = ({ method, path }: Call) => method === 'POST' && path === '/tokens';

test.each<[what: string, wrong: Wrong, told: RegExp]>([
  ['fails', (call, right) => (isPost(call) ? refused(500) : right()), /^nobody promised that$/],
  [
    'says what is not documented',
    (call, right) => (isPost(call) ? answer(202, {}) : right()),
    /status 202 is not documented/,
  ],
  [
    'names no request',
    (_, right) => ({ ...right(), headers: { 'content-type': 'application/json' } }),
    /^without X-Request-Id$/,
  ],
  [
    'takes a body that the document refuses',
    (call, right) => (isPost(call) && right().status === 400 ? answer(201, { id: ID }) : right()),
    /^accepted, though the document refuses it: .*(name|string)/,
  ],
  ['lets a viewer write', (call, right) => (call.isByViewer ? answer(201, { id: ID }) : right()), /^not 403$/],
  [
    'changes something and refuses',
    (call, right, tokens) => {
      if (call.isByViewer) tokens.unshift({ id: ID, name: 'token 0' });
      return right();
    },
    /^refused, but \/tokens was /,
  ],
  [
    'forgets a key',
    (_, right) => (right().headers['idempotent-replayed'] ? answer(201, { id: ID }) : right()),
    /^the same key was first answered 201 /,
  ],
  [
    'gives the answer of a key to another body',
    (_, right) => (right().status === 409 ? answer(201, { id: ID }) : right()),
    /^its key with another body$/,
  ],
])('it is told when an API %s', async (_what, wrong, told) => {
  expect([...(await faultsOf(api(wrong)))].filter((fault) => told.test(fault))).not.toEqual([]);
});

test.each<[what: string, wrong: Wrong, told: RegExp]>([
  [
    'answers a key twice',
    (call, right, tokens) =>
      isPost(call) && right().status === 201 ? answer(201, { id: ID, n: tokens.length }) : right(),
    /^the same key was first answered 201 /,
  ],
  [
    'takes two bodies under a key',
    (call, right) => (isPost(call) && right().status === 409 ? answer(201, { id: ID }) : right()),
    /^the same key was accepted with /,
  ],
  [
    'goes on with a token that has ended',
    (call, right) => (call.token && right().status === 401 ? answer(200, { data: [] }) : right()),
    /^its token has ended$/,
  ],
])('many at once are told when an API %s', async (_what, wrong, told) => {
  expect([...(await faultsOf(api(wrong), 3))].filter((fault) => told.test(fault))).not.toEqual([]);
});
