import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

interface Token {
  id: string;
  name: string;
  clientId: string;
  clientSecret: string;
  createdAt: string;
  updatedAt: string;
}

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const create = async (name: string, permissions: string[] = ['VIEW']): Promise<Token> =>
  (await platform.api('post', '/tokens').send({ name, permissions }).expect(201)).body;
const as =
  ({ clientId, clientSecret }: Pick<Token, 'clientId' | 'clientSecret'>): TestPlatform['api'] =>
  (method, path) =>
    platform.api(method, path).auth(clientId, clientSecret);
const errorsOf = (body: { details: { errors: { field: string; constraint: string }[] } }) =>
  body.details.errors.map(({ field, constraint }) => `${field} ${constraint}`);

describe('creating a token', () => {
  test('shows the secret once, and the token works at once', async () => {
    const token = await create('Nightly', ['VIEW', 'TRANSACT', 'VIEW']);
    expect(token).toEqual({
      id: expect.stringMatching(/^Token:[0-9a-f-]{36}$/),
      name: 'Nightly',
      permissions: ['VIEW', 'TRANSACT'],
      clientId: token.id.slice('Token:'.length).replaceAll('-', ''),
      clientSecret: expect.stringMatching(/^[0-9a-f]{64}$/),
      createdAt: expect.any(String),
      updatedAt: token.createdAt,
    });
    const { clientSecret, ...shown } = token;
    expect((await as(token)('get', `/tokens/${token.id}`).expect(200)).body).toEqual(shown);
    const listed = (await platform.api('get', '/tokens?name=Nightly').expect(200)).body.data;
    expect(listed).toEqual([shown]);
    const log = JSON.stringify(await platform.log());
    expect(log).toContain('TokenIssued');
    expect(log).not.toContain(clientSecret);
  });

  test('repeated with its key the same token comes back with its secret, which is kept encrypted', async () => {
    const send = () =>
      platform
        .api('post', '/tokens')
        .set('Idempotency-Key', 'token-1')
        .send({ name: 'Keyed', permissions: ['VIEW'] });
    const first = await send().expect(201);
    const second = await send().expect(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
    await as(second.body)('get', '/tokens').expect(200);
    const { rows } = await platform.engine.pool.query<{ body: string }>(
      'SELECT body FROM keyed_answers WHERE stream = $1',
      [`token-${first.body.id.slice('Token:'.length)}`],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]!.body + Buffer.from(rows[0]!.body, 'base64').toString('latin1')).not.toContain(
      first.body.clientSecret,
    );
  });

  test('a key whose answer was forgotten gives no second secret away', async () => {
    const send = () =>
      platform
        .api('post', '/tokens')
        .set('Idempotency-Key', 'token-2')
        .send({ name: 'Forgotten', permissions: ['VIEW'] });
    const first = await send().expect(201);
    await platform.engine.pool.query('DELETE FROM keyed_answers');
    const { body } = await send().expect(409);
    expect([body.code, body.details.reason]).toEqual(['CONFLICT', 'SECRET_SHOWN_ALREADY']);
    await as(first.body)('get', '/tokens').expect(200);
  });

  test.each([
    [{}, ['name REQUIRED', 'permissions REQUIRED']],
    [{ name: '', permissions: [] }, ['name MIN_LENGTH', 'permissions MIN_LENGTH']],
    [
      { name: 'x'.repeat(256), permissions: ['ROOT', 1] },
      ['name MAX_LENGTH', 'permissions.0 ENUM', 'permissions.1 TYPE'],
    ],
    [{ name: 1, permissions: 'VIEW' }, ['name TYPE', 'permissions TYPE']],
  ])('%j is refused: %j', async (body, errors) => {
    const answer = await platform.api('post', '/tokens').send(body).expect(400);
    expect(answer.body.code).toBe('INVALID_INPUT');
    expect(errorsOf(answer.body)).toEqual(errors);
  });
});

describe('deleting a token', () => {
  test('ends it at once: it neither works nor is found any more', async () => {
    const token = await create('Short-lived', ['MANAGE']);
    await as(token)('get', '/tokens').expect(200);
    const deleted = await platform.api('delete', `/tokens/${token.id}`).expect(204);
    expect(deleted.text).toBe('');
    expect((await as(token)('get', '/tokens').expect(401)).body).toMatchObject({ reason: 'Invalid credentials' });
    for (const method of ['get', 'delete'] as const) {
      expect((await platform.api(method, `/tokens/${token.id}`).expect(404)).body.code).toBe('TOKEN_NOT_FOUND');
    }
    expect((await platform.api('get', '/tokens?name=Short-lived')).body).toMatchObject({ data: [], totalCount: 0 });
  });

  test('it cannot delete itself', async () => {
    const token = await create('Self', ['MANAGE']);
    const { body } = await as(token)('delete', `/tokens/${token.id}`).expect(400);
    expect([body.code, body.details.reason]).toEqual(['INVALID_INPUT', 'TOKEN_IN_USE']);
    await as(token)('get', '/tokens').expect(200);
  });
});

describe('permissions', () => {
  test('a token grants what it names: VIEW and TRANSACT cannot manage tokens', async () => {
    for (const permission of ['VIEW', 'TRANSACT']) {
      const api = as(await create(permission, [permission]));
      await api('get', '/tokens').expect(200);
      for (const refused of [
        api('post', '/tokens').send({ name: 'x', permissions: ['VIEW'] }),
        api('delete', '/tokens/Token:x'),
      ]) {
        expect((await refused.expect(403)).body).toMatchObject({
          code: 'FORBIDDEN',
          details: { requiredPermission: 'MANAGE' },
        });
      }
    }
  });

  test('MANAGE alone reads and manages, but moves no money', async () => {
    const api = as(await create('Manager', ['MANAGE']));
    await api('get', '/tokens').expect(200);
    const { body } = await api('post', `/sandbox/internal-accounts/InternalAccount:${randomUUID()}/fund`)
      .send({ amount: 1 })
      .expect(403);
    expect(body.details.requiredPermission).toBe('TRANSACT');
  });

  test.each([
    [['MANAGE'], ['MANAGE'], 201],
    [['MANAGE'], ['VIEW', 'MANAGE'], 201],
    [['MANAGE'], ['TRANSACT'], 403],
    [['VIEW', 'MANAGE'], ['VIEW', 'TRANSACT', 'MANAGE'], 403],
    [['TRANSACT', 'MANAGE'], ['VIEW', 'TRANSACT', 'MANAGE'], 201],
  ])('a token grants what it has: with %j it asks for %j and is answered %i', async (own, asked, status) => {
    const name = `${own} asks for ${asked}`;
    const { body } = await as(await create('Granting', own))('post', '/tokens')
      .send({ name, permissions: asked })
      .expect(status);
    if (status === 403) {
      expect([body.code, body.details]).toEqual(['FORBIDDEN', { requiredPermission: 'TRANSACT' }]);
    } else {
      expect(body.permissions).toEqual(asked);
    }
    const listed = await platform.api('get', `/tokens?name=${name}`).expect(200);
    expect(listed.body.totalCount).toBe(status === 403 ? 0 : 1);
  });
});

describe('the list', () => {
  test('is newest first, in pages, and filters by times inclusively', async () => {
    const { api } = await platform.another();
    const made: Token[] = [];
    for (const name of ['one', 'two', 'three']) {
      made.push(
        (
          await api('post', '/tokens')
            .send({ name, permissions: ['VIEW'] })
            .expect(201)
        ).body,
      );
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const names = async (query: string) =>
      (await api('get', `/tokens${query}`).expect(200)).body.data.map(({ name }: Token) => name);
    expect(await names('')).toEqual(['three', 'two', 'one', 'test']);
    const [one, two] = made as [Token, Token, Token];
    expect(await names(`?createdAfter=${one.createdAt}&createdBefore=${two.createdAt}`)).toEqual(['two', 'one']);
    expect(await names(`?updatedAfter=${two.updatedAt}`)).toEqual(['three', 'two']);
    expect(await names(`?updatedBefore=${one.updatedAt}`)).toEqual(['one', 'test']);
    expect(await names('?name=two')).toEqual(['two']);
    const first = (await api('get', '/tokens?limit=3').expect(200)).body;
    expect([first.hasMore, first.totalCount]).toEqual([true, 4]);
    expect(await names(`?limit=3&cursor=${first.nextCursor}`)).toEqual(['test']);
    await api('get', `/tokens?limit=3&name=two&cursor=${first.nextCursor}`).expect(400);
    await api('get', '/tokens?createdAfter=soon').expect(400);
  });

  test("another platform's token is not found", async () => {
    const token = await create('Mine');
    const { api } = await platform.another();
    for (const method of ['get', 'delete'] as const) {
      expect((await api(method, `/tokens/${token.id}`).expect(404)).body.code).toBe('TOKEN_NOT_FOUND');
    }
    await as(token)('get', '/tokens').expect(200);
  });

  test.each(['Token:nonsense', 'nonsense', `Token:${randomUUID()}`])('there is no token %s', async (id) => {
    expect((await platform.api('get', `/tokens/${id}`).expect(404)).body.code).toBe('TOKEN_NOT_FOUND');
  });
});
