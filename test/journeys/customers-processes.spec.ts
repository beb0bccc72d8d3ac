import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verify } from '../../apps/ops/src/verify.ts';
import { projections } from '../../projections/index.ts';
import { startTestPlatform, type TestInstance, type TestPlatform } from '../platform.ts';

/** Two processes of the API: the second one may remember what the first one has changed. */
let platform: TestPlatform;
let other: TestInstance;
let domain: string;
beforeAll(async () => {
  platform = await startTestPlatform();
  other = await platform.instance();
  other.engine.writePath.noteForeign = () => {}; // as in the half second before it notices
  domain = (await platform.api('get', '/config').expect(200)).body.umaDomain;
});
afterAll(() => platform.stop());

type Process = Pick<TestPlatform, 'api'>;

const create = (body: object = {}) =>
  platform.api('post', '/customers').send({ customerType: 'INDIVIDUAL', currencies: ['USD'], ...body });
const customerOf = async (body: object = {}): Promise<{ id: string; umaAddress: string }> =>
  (await create(body).expect(201)).body;
const change = ({ api }: Process, id: string, name: string) =>
  api('patch', `/customers/${id}`).send({ umaAddress: `$${name}@${domain}` });
/** Makes the other process remember the customer as it is now. */
const remember = (id: string) => other.api('patch', `/customers/${id}`).send({}).expect(200);
const codeOf = async (name: string) => {
  const { status, body } = await create({ umaAddress: `$${name}@${domain}` });
  return status === 201 ? 'free' : body.code;
};

describe('a UMA address', () => {
  test('that is set twice at once stays with the customer who has it', async () => {
    const { id } = await customerOf();
    const answers = await Promise.all([change(platform, id, 'twice'), change(platform, id, 'twice')]);
    expect(answers.map(({ status, body }) => [status, body.umaAddress])).toEqual([
      [200, `$twice@${domain}`],
      [200, `$twice@${domain}`],
    ]);
    expect(await codeOf('twice')).toBe('UMA_ADDRESS_EXISTS');
  });

  test('that is set again by a process that does not know of the first time stays too', async () => {
    const { id } = await customerOf();
    await remember(id);
    await change(platform, id, 'again').expect(200);
    await change(other, id, 'again').expect(200);
    expect(await codeOf('again')).toBe('UMA_ADDRESS_EXISTS');
  });

  test('that a process believes to be still set is set back', async () => {
    const { id } = await customerOf({ umaAddress: `$one@${domain}` });
    await remember(id);
    await change(platform, id, 'two').expect(200);
    const { body } = await change(other, id, 'one').expect(200);
    expect(body.umaAddress).toBe(`$one@${domain}`);
    expect(await codeOf('one')).toBe('UMA_ADDRESS_EXISTS');
    expect(await codeOf('two')).toBe('free');
  });

  test('that is changed to and fro by both at once ends with one, and the others are free', async () => {
    const { id } = await customerOf();
    const names = ['x', 'y', 'x', 'z', 'x', 'y'];
    const answers = await Promise.all(names.map((name, i) => change(i % 2 ? other : platform, id, name)));
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const { body } = await other.api('patch', `/customers/${id}`).send({}).expect(200);
    const codes = await Promise.all(['x', 'y', 'z'].map(async (name) => [`$${name}@${domain}`, await codeOf(name)]));
    expect(codes).toEqual(codes.map(([name]) => [name, name === body.umaAddress ? 'UMA_ADDRESS_EXISTS' : 'free']));
    expect(codes.map(([, code]) => code).sort()).toEqual(['UMA_ADDRESS_EXISTS', 'free', 'free']);
  });

  test('is claimed by whoever shows it, for all that was done here', async () => {
    const { failures, findings } = await verify(platform.engine, projections, {});
    expect(findings).toEqual([]);
    expect(failures.claims).toBe(0);
  });
});

describe('a customer whom the first process has just deleted', () => {
  const account = (customerId: string) => ({
    customerId,
    currency: 'GBP',
    accountInfo: {
      accountType: 'GBP_ACCOUNT',
      sortCode: '123456',
      accountNumber: '12345678',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amina Diallo' },
    },
  });

  test('gets no external account by the other one', async () => {
    const { id } = await customerOf();
    await remember(id);
    await platform.api('delete', `/customers/${id}`).expect(200);
    const { body } = await other.api('post', '/customers/external-accounts').send(account(id)).expect(410);
    expect(body.code).toBe('CUSTOMER_DELETED');
  });

  test('invites nobody by the other one', async () => {
    const { id, umaAddress } = await customerOf();
    await other.api('post', '/invitations').send({ inviterUma: umaAddress }).expect(201);
    await platform.api('delete', `/customers/${id}`).expect(200);
    const { body } = await other.api('post', '/invitations').send({ inviterUma: umaAddress }).expect(400);
    expect([body.code, body.details.errors[0].field]).toEqual(['INVALID_UMA_ADDRESS', 'inviterUma']);
  });
});
