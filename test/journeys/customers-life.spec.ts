import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AccountState, account, OpenAccount } from '../../libs/domain/accounts/account.ts';
import { type ClaimState, ClaimValue, claim } from '../../libs/domain/claims/claim.ts';
import { createExample } from '../../libs/domain/customers/customer.examples.ts';
import { customerAccountId } from '../../libs/domain/customers/customer.process.ts';
import { type CustomerState, customer, StartDeletion } from '../../libs/domain/customers/customer.ts';
import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import type { Command } from '../../libs/kernel/messages.ts';
import { ClaimIds } from '../../libs/runtime/claims.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

const clock = new TestClock();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ clock });
});
afterAll(() => platform.stop());

const uuidOf = (id: string) => id.slice(id.indexOf(':') + 1);
const create = async (body: object = {}): Promise<{ id: string; umaAddress: string; [field: string]: unknown }> =>
  (
    await platform
      .api('post', '/customers')
      .send({ customerType: 'INDIVIDUAL', currencies: ['USD', 'EUR'], ...body })
      .expect(201)
  ).body;
const patch = (id: string, body: object) => platform.api('patch', `/customers/${id}`).send(body);
const remove = (id: string) => platform.api('delete', `/customers/${id}`);
const accountId = (id: string, currency: string) => customerAccountId(uuidOf(id), currency);
const accountOf = async (id: string, currency: string) =>
  (await platform.engine.writePath.state<AccountState>(account, accountId(id, currency))).state;
const stateOf = async (id: string) =>
  (await platform.engine.writePath.state<CustomerState>(customer, uuidOf(id))).state;
const send = (decider: AnyDecider, command: Command) => {
  const commandId = randomUUID();
  const envelope = { commandId, correlationId: commandId, actor: 'test', tenant: platform.tenant };
  return platform.engine.writePath.execute(decider, command, envelope);
};
const errorsOf = (body: { details?: { errors?: { field: string; constraint: string }[] } }) =>
  body.details?.errors?.map(({ field, constraint }) => `${field} ${constraint}`);

describe('changing a customer', () => {
  test('fields that are given replace, the others stay', async () => {
    const one = await create({ fullName: 'Amina', email: 'amina@example.com', pepStatus: 'NONE' });
    const { body } = await patch(one.id, {
      customerType: 'INDIVIDUAL',
      fullName: 'Amina Diallo',
      email: 'a@example.com',
    }).expect(200);
    expect(body).toEqual({ ...one, fullName: 'Amina Diallo', email: 'a@example.com', updatedAt: expect.any(String) });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(String(one.updatedAt)));
    expect((await platform.api('get', `/customers/${one.id}`)).body).toEqual(body);
  });

  test('an empty change changes nothing', async () => {
    const one = await create();
    expect((await patch(one.id, {}).expect(200)).body).toEqual(one);
  });

  test('fields of the other kind of customer are ignored, whatever they hold', async () => {
    const person = await create();
    for (const businessInfo of [{ legalName: 'of the other kind' }, 5, { taxId: [] }]) {
      expect((await patch(person.id, { businessInfo }).expect(200)).body).toEqual(person);
    }
    const info = { legalName: 'Harbour', country: 'GB', incorporatedOn: '2019-04-01', taxId: '1' };
    const business = await create({ customerType: 'BUSINESS', businessInfo: info });
    for (const customerType of ['BUSINESS', undefined]) {
      const change = { customerType, fullName: 5, birthDate: 'x', purposeOfAccount: 'OTHER' };
      expect((await patch(business.id, change).expect(200)).body).toEqual(business);
      const { body } = await patch(business.id, { ...change, businessInfo: { taxId: 7 } }).expect(400);
      expect(errorsOf(body)).toEqual(['businessInfo.taxId TYPE']);
    }
  });

  test('business information is merged', async () => {
    const info = { legalName: 'Harbour', country: 'GB', incorporatedOn: '2019-04-01', taxId: '1' };
    const one = await create({ customerType: 'BUSINESS', businessInfo: info });
    const { body } = await patch(one.id, { businessInfo: { taxId: '2', naicsCode: '4451' } }).expect(200);
    expect(body.businessInfo).toEqual({ ...info, taxId: '2', naicsCode: '4451' });
  });

  test('what cannot change is refused unless it stays the same', async () => {
    const one = await create({ platformCustomerId: 'fixed', region: 'US' });
    await patch(one.id, { platformCustomerId: 'fixed', region: 'US' }).expect(200);
    const { body } = await patch(one.id, { customerType: 'BUSINESS', platformCustomerId: 'new', region: 'DE' }).expect(
      400,
    );
    expect(errorsOf(body)).toEqual(['customerType CONFLICT', 'platformCustomerId CONFLICT', 'region CONFLICT']);
  });

  test('e-mail and telephone are changed one at a time', async () => {
    const one = await create();
    const { body } = await patch(one.id, { email: 'a@example.com', phoneNumber: '+14155550123' }).expect(400);
    expect(errorsOf(body)).toEqual(['phoneNumber CONFLICT']);
    await patch(one.id, { phoneNumber: '+14155550123' }).expect(200);
  });

  test('every invalid field is listed', async () => {
    const one = await create();
    const { body } = await patch(one.id, { birthDate: 'x', purposeOfAccount: 'OTHER', identifier: '1' }).expect(400);
    expect(errorsOf(body)!.sort()).toEqual([
      'birthDate FORMAT',
      'identifier PATTERN',
      'purposeOfAccountOtherDescription REQUIRED',
    ]);
  });

  test('further currencies open accounts before the answer; those left out keep theirs', async () => {
    const one = await create({ currencies: ['USD'] });
    const { body } = await patch(one.id, { currencies: ['MXN', 'MXN'] }).expect(200);
    expect(body.currencies).toEqual(['MXN']);
    expect((await accountOf(one.id, 'MXN')).status).toBe('ACTIVE');
    expect((await accountOf(one.id, 'USD')).status).toBe('ACTIVE');
    expect((await patch(one.id, { currencies: ['BRL'] }).expect(400)).body.code).toBe('INVALID_CURRENCY');
  });

  test('a new UMA address frees the old one; one that is taken is a conflict', async () => {
    const one = await create();
    const other = await create();
    const next = one.umaAddress.replace('$', '$next');
    expect((await patch(one.id, { umaAddress: other.umaAddress }).expect(409)).body.code).toBe('UMA_ADDRESS_EXISTS');
    expect((await patch(one.id, { umaAddress: 'bad' }).expect(400)).body.code).toBe('INVALID_UMA_ADDRESS');
    expect((await patch(one.id, { umaAddress: next.toUpperCase() }).expect(200)).body.umaAddress).toBe(next);
    expect((await patch(other.id, { umaAddress: one.umaAddress }).expect(200)).body.umaAddress).toBe(one.umaAddress);
  });

  test('the UMA address that the customer has is no change, also when the platform has moved to another domain', async () => {
    const { api } = await platform.another();
    const { body: one } = await api('post', '/customers').send({ customerType: 'INDIVIDUAL' }).expect(201);
    await api('patch', '/config').send({ umaDomain: 'moved.example' }).expect(200);
    const change = { umaAddress: one.umaAddress.toUpperCase(), fullName: 'Amina Diallo' };
    const { body } = await api('patch', `/customers/${one.id}`).send(change).expect(200);
    expect([body.umaAddress, body.fullName]).toEqual([one.umaAddress, 'Amina Diallo']);
    const elsewhere = { umaAddress: one.umaAddress.replace('$', '$next') };
    const refused = await api('patch', `/customers/${one.id}`).send(elsewhere).expect(400);
    expect(errorsOf(refused.body)).toEqual(['umaAddress FORMAT']);
  });

  test('everything that is wrong is told at once, and nothing changes', async () => {
    const one = await create();
    const { body } = await patch(one.id, {
      email: 'nope',
      region: 'FR',
      currencies: ['BRL'],
      umaAddress: 'bad',
    }).expect(400);
    expect([body.code, ...errorsOf(body)!]).toEqual([
      'INVALID_INPUT',
      'email FORMAT',
      'region CONFLICT',
      'currencies.0 ENUM',
      'umaAddress PATTERN',
    ]);
    expect((await platform.api('get', `/customers/${one.id}`)).body).toEqual(one);
  });

  test('repeated with its key it happens once', async () => {
    const one = await create();
    const next = one.umaAddress.replace('$', '$once');
    const change = () => patch(one.id, { umaAddress: next }).set('Idempotency-Key', 'change-once');
    const first = await change().expect(200);
    await patch(one.id, { umaAddress: one.umaAddress }).expect(200);
    const second = await change().expect(200);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
    expect((await platform.api('get', `/customers/${one.id}`)).body.umaAddress).toBe(one.umaAddress);
  });

  test('no suffix decides a verification again', async () => {
    const regulated = await platform.another({ isRegulatedFinancialInstitution: true });
    const { body } = await regulated.api('post', '/customers').send({ customerType: 'INDIVIDUAL', fullName: 'A 002' });
    const renamed = await regulated
      .api('patch', `/customers/${body.id}`)
      .send({ fullName: 'A', kycStatus: 'APPROVED' });
    expect([body.kycStatus, renamed.body.kycStatus]).toEqual(['REJECTED', 'REJECTED']);
  });
});

describe('deleting a customer', () => {
  const fund = (id: string, currency: string) =>
    platform
      .api('post', `/sandbox/internal-accounts/InternalAccount:${accountId(id, currency)}/fund`)
      .send({ amount: 100 })
      .expect(200);

  test('closes its accounts and leaves it readable', async () => {
    const one = await create();
    const { body } = await remove(one.id).expect(200);
    expect(body).toEqual({ ...one, isDeleted: true, updatedAt: expect.any(String) });
    expect((await platform.api('get', `/customers/${one.id}`).expect(200)).body).toEqual(body);
    expect([await accountOf(one.id, 'USD'), await accountOf(one.id, 'EUR')].map(({ status }) => status)).toEqual([
      'CLOSED',
      'CLOSED',
    ]);
    const accounts = await platform.api('get', `/customers/internal-accounts?customerId=${one.id}`);
    expect(accounts.body.data.map((shown: { status: string }) => shown.status)).toEqual(['CLOSED', 'CLOSED']);
    expect(accounts.body.data[0].fundingPaymentInstructions).toEqual([]);
  });

  test('a second time it is gone, and cannot be changed', async () => {
    const one = await create();
    await remove(one.id).expect(200);
    expect((await remove(one.id).expect(410)).body.code).toBe('CUSTOMER_DELETED');
    expect((await patch(one.id, { fullName: 'x' }).expect(410)).body.code).toBe('CUSTOMER_DELETED');
  });

  test('with money on an account it is a conflict, and nothing changes', async () => {
    const one = await create();
    await fund(one.id, 'EUR');
    const { body } = await remove(one.id).expect(409);
    expect([body.code, body.details]).toEqual([
      'CONFLICT',
      { reason: 'ACCOUNT_NOT_EMPTY', accounts: [`InternalAccount:${accountId(one.id, 'EUR')}`] },
    ]);
    expect((await platform.api('get', `/customers/${one.id}`)).body).toEqual(one);
    expect((await accountOf(one.id, 'USD')).status).toBe('ACTIVE');
  });

  test('money that arrived after the balances were checked stops it: what was closed is open again', async () => {
    const one = await create();
    await fund(one.id, 'EUR');
    await send(customer, new StartDeletion({ customerId: uuidOf(one.id) }));
    const settled = await eventually(
      () => stateOf(one.id),
      ({ status }) => status === 'ACTIVE' || status === 'DELETED',
    );
    expect(settled).toMatchObject({ status: 'ACTIVE', accounts: ['USD', 'EUR'], accountsToReopen: [] });
    expect((await accountOf(one.id, 'USD')).status).toBe('ACTIVE');
    await fund(one.id, 'USD');
    const stream = `account-${accountId(one.id, 'USD')}`;
    const events = (await platform.log()).filter((event) => event.stream === stream);
    expect(events.map(({ type }) => type)).toEqual([
      'AccountOpened',
      'AccountClosed',
      'AccountReopened',
      'DepositReceived',
    ]);
    expect((await platform.api('get', `/customers/${one.id}`)).body).toEqual(one);
  });

  test('frees what it had alone', async () => {
    const one = await create({ platformCustomerId: 'freed-by-deletion' });
    await remove(one.id).expect(200);
    const { umaAddress } = one;
    const next = await create({ platformCustomerId: 'freed-by-deletion', umaAddress });
    expect(next.id).not.toBe(one.id);
  });
});

describe('after a crash', () => {
  test('in the middle of a creation the accounts are opened without the client', async () => {
    const customerId = randomUUID();
    const data = { customerId, tenantId: tenantIdOf(platform.tenant), claims: [] };
    await send(customer, createExample(data));
    await eventually(
      () => stateOf(customerId),
      ({ accountsToOpen }) => accountsToOpen.length === 0,
    );
    expect((await accountOf(customerId, 'EUR')).status).toBe('ACTIVE');
  });

  test('accounts that were opened before it stay as they are', async () => {
    const customerId = randomUUID();
    const { tenantId } = createExample({ tenantId: tenantIdOf(platform.tenant) }).data;
    const open = {
      tenantId,
      customerId,
      platformCustomerId: 'amina-1',
      currency: 'USD',
      type: 'INTERNAL_FIAT' as const,
    };
    await send(account, new OpenAccount({ ...open, accountId: customerAccountId(customerId, 'USD') }));
    await send(customer, createExample({ customerId, tenantId, claims: [] }));
    await eventually(
      () => stateOf(customerId),
      ({ accountsToOpen }) => accountsToOpen.length === 0,
    );
    expect(
      [await accountOf(customerId, 'USD'), await accountOf(customerId, 'EUR')].map(({ status }) => status),
    ).toEqual(['ACTIVE', 'ACTIVE']);
  });

  test('in the middle of a deletion it is finished without the client', async () => {
    const one = await create();
    await send(customer, new StartDeletion({ customerId: uuidOf(one.id) }));
    const after = await eventually(
      () => stateOf(one.id),
      ({ status, claimsToRelease }) => status === 'DELETED' && claimsToRelease.length === 0,
    );
    expect(after.accounts).toEqual([]);
    const { body } = await platform.api('get', `/customers/${one.id}`);
    expect(body.isDeleted).toBe(true);
  });

  describe('a claim that was left behind', () => {
    const claimIdOf = (value: string) =>
      new ClaimIds(platform.engine.keyFor('claims')).idOf('PLATFORM_CUSTOMER_ID', tenantIdOf(platform.tenant), value);
    const leave = (value: string, owner: string) =>
      send(
        claim,
        new ClaimValue({ claimId: claimIdOf(value), rule: 'PLATFORM_CUSTOMER_ID', owner, refusal: 'CONFLICT' }),
      );
    const ownerOf = async (value: string) =>
      (await platform.engine.writePath.state<ClaimState>(claim, claimIdOf(value))).state.owner;

    test('is respected while its request may still be under way, and taken over later; the late creation fails', async () => {
      const late = randomUUID();
      await leave('left-behind', late);
      const body = { customerType: 'INDIVIDUAL', platformCustomerId: 'left-behind' };
      await platform.api('post', '/customers').send(body).expect(409);
      clock.advance(61_000);
      const taken = await platform.api('post', '/customers').send(body).expect(201);
      expect(await ownerOf('left-behind')).toBe(uuidOf(taken.body.id));
      const claims = [{ rule: 'PLATFORM_CUSTOMER_ID', claimId: claimIdOf('left-behind'), epoch: 1 } as const];
      await expect(send(customer, createExample({ customerId: late, claims }))).rejects.toMatchObject({
        code: 'CONFLICT',
        details: { reason: 'CLAIM_FORGONE' },
      });
      await platform.api('get', `/customers/Customer:${late}`).expect(404);
    });

    test('by a customer that exists but does not use it is taken over too; what uses it is not', async () => {
      const one = await create({ platformCustomerId: 'in-use' });
      await leave('not-in-use', uuidOf(one.id));
      clock.advance(61_000);
      const next = await create({ platformCustomerId: 'not-in-use' });
      expect(await ownerOf('not-in-use')).toBe(uuidOf(next.id));
      await platform
        .api('post', '/customers')
        .send({ customerType: 'INDIVIDUAL', platformCustomerId: 'in-use' })
        .expect(409);
    });
  });
});
