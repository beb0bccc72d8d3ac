import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { type ClaimState, ClaimValue, claim } from '../../libs/domain/claims/claim.ts';
import { accountExamples } from '../../libs/domain/external-accounts/account.examples.ts';
import { accountKey, formerAccountKey } from '../../libs/domain/external-accounts/account-types.ts';
import {
  AddExternalAccount,
  DeleteExternalAccount,
  externalAccount,
} from '../../libs/domain/external-accounts/external-account.ts';
import { tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import type { AnyDecider } from '../../libs/kernel/decider.ts';
import type { Command } from '../../libs/kernel/messages.ts';
import { ClaimIds } from '../../libs/runtime/claims.ts';
import { TestClock } from '../clock.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { addCustomer, deleteCustomer } from './external-accounts.setup.ts';

const clock = new TestClock();
let platform: TestPlatform;
let customerId: string;

beforeAll(async () => {
  platform = await startTestPlatform({ clock });
  customerId = await addCustomer(platform);
});
afterAll(() => platform.stop());

/** What a request had sent before it died. */
function send(decider: AnyDecider, command: Command) {
  const commandId = randomUUID();
  const envelope = { commandId, correlationId: commandId, actor: 'test', tenant: platform.tenant };
  return platform.engine.writePath.execute(decider, command, envelope);
}

let numbers = 5_000_000;
function accountInfo() {
  numbers += 10;
  return { ...accountExamples.USD_ACCOUNT, accountNumber: `${numbers}999` };
}
const post = (body: object) => platform.api('post', '/customers/external-accounts').send(body);
const list = async () =>
  (await platform.api('get', `/customers/external-accounts?customerId=${customerId}&limit=100`).expect(200)).body.data;

function claimIdOf(info: ReturnType<typeof accountInfo>, keyOf = accountKey): string {
  const holder = customerId.slice('Customer:'.length);
  const value = [tenantIdOf(platform.tenant), holder, 'USD', keyOf(info)];
  return platform.app.get(ClaimIds).idOf('EXTERNAL_ACCOUNT_EXISTS', ...value);
}

const addCommand = (externalAccountId: string, info: ReturnType<typeof accountInfo>, more: object = {}) =>
  new AddExternalAccount({
    externalAccountId,
    tenantId: tenantIdOf(platform.tenant),
    customerId: customerId.slice('Customer:'.length),
    currency: 'USD',
    accountInfo: info,
    beneficiaryVerificationStatus: 'MATCHED',
    claimId: claimIdOf(info),
    ...more,
  });

describe('when a request dies', () => {
  test('after its claim: the account can be added by another one a minute later, and never by the dead one', async () => {
    const info = accountInfo();
    const owner = randomUUID();
    const rule = 'EXTERNAL_ACCOUNT_EXISTS';
    await send(claim, new ClaimValue({ claimId: claimIdOf(info), rule, owner, refusal: 'CONFLICT' }));
    const body = { currency: 'USD', accountInfo: info, customerId };
    expect((await post(body)).status).toBe(409);
    clock.advance(61_000);
    expect((await post(body)).status).toBe(201);
    await expect(send(externalAccount, addCommand(owner, info))).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { reason: 'CREATION_ABANDONED' },
    });
    expect(await list()).toHaveLength(1);
  });

  test('before the new account is the default: it becomes the default by itself', async () => {
    const id = randomUUID();
    await send(externalAccount, addCommand(id, accountInfo(), { isDefaultWanted: true }));
    const isDefault = (one: { id: string; defaultUmaDepositAccount: boolean }) =>
      one.id === `ExternalAccount:${id}` && one.defaultUmaDepositAccount;
    const shown = await eventually(list, (all) => all.some(isDefault));
    expect(shown.filter((one: { defaultUmaDepositAccount: boolean }) => one.defaultUmaDepositAccount)).toHaveLength(1);
  });

  test('after the deletion: the account can be added again', async () => {
    const info = accountInfo();
    const { body } = await post({ currency: 'USD', accountInfo: info, customerId, defaultUmaDepositAccount: true });
    const externalAccountId = body.id.slice('ExternalAccount:'.length);
    await send(externalAccount, new DeleteExternalAccount({ externalAccountId }));
    expect((await post({ currency: 'USD', accountInfo: info, customerId })).status).toBe(201);
    const defaults = (await list()).filter(
      (one: { defaultUmaDepositAccount: boolean }) => one.defaultUmaDepositAccount,
    );
    expect(defaults).toEqual([]);
  });
});

test('an account whose claim is named by the former key is found, and free again once it is deleted', async () => {
  const info = accountInfo();
  const owner = randomUUID();
  const claimId = claimIdOf(info, formerAccountKey);
  await send(claim, new ClaimValue({ claimId, rule: 'EXTERNAL_ACCOUNT_EXISTS', owner, refusal: 'CONFLICT' }));
  await send(externalAccount, addCommand(owner, info, { claimId }));
  const body = { currency: 'USD', accountInfo: info, customerId };
  const refused = await post(body).expect(409);
  expect([refused.body.code, refused.body.details.reason]).toEqual(['CONFLICT', 'EXTERNAL_ACCOUNT_EXISTS']);
  await platform.api('delete', `/customers/external-accounts/ExternalAccount:${owner}`).expect(204);
  const { state } = await platform.engine.writePath.state<ClaimState>(claim, claimId);
  expect(state.owner).toBeUndefined();
  await post(body).expect(201);
  await post(body).expect(409);
});

test('nothing in the log, in the claims or in what is remembered for a key tells whose account it is', async () => {
  const info = { ...accountInfo(), beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Zainab Unlikely-Name' } };
  await post({ currency: 'USD', accountInfo: info, customerId }).set('Idempotency-Key', 'secret').expect(201);
  const { rows } = await platform.engine.pool.query<{ body: string }>('SELECT body FROM keyed_answers');
  const log = (await platform.log()).map(({ stream, payload, metadata }) => stream + payload + metadata);
  const texts = [...log, ...rows.map(({ body }) => body)];
  expect([log.length > 10, rows.length > 0]).toEqual([true, true]);
  const told = texts.filter((text) => text.includes(info.accountNumber) || text.includes('Unlikely-Name'));
  expect(told).toEqual([]);
  expect(texts.some((text) => text.includes('"accountInfo":{"$enc"'))).toBe(true);
});

test('with an erased customer the accounts go', async () => {
  const customer = await addCustomer(platform);
  const body = { currency: 'USD', accountInfo: accountInfo(), customerId: customer };
  const { id } = (await post(body).expect(201)).body;
  await deleteCustomer(platform, customer);
  await platform.api('get', `/customers/external-accounts/${id}`).expect(200);
  await eraseCustomer(platform.engine, platform.tenant, customer.slice('Customer:'.length));
  await platform.api('get', `/customers/external-accounts/${id}`).expect(404);
  await platform.api('post', `/customers/external-accounts/${id}/challenge`).send({ method: 'LIVENESS' }).expect(404);
  await platform.api('delete', `/customers/external-accounts/${id}`).expect(404);
  const list = await platform.api('get', `/customers/external-accounts?customerId=${customer}`).expect(200);
  expect(list.body).toEqual({ data: [], hasMore: false, totalCount: 0 });
  const { rows } = await platform.engine.pool.query<{ text: string }>(
    'SELECT t::text AS text FROM external_accounts t',
  );
  expect(rows.filter(({ text }) => text.includes(body.accountInfo.accountNumber))).toEqual([]);
});
