import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { verify } from '../../apps/ops/src/verify.ts';
import { rebuild } from '../../apps/projector/src/rebuild.ts';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { tryRebuildLock } from '../../apps/shared/rebuild-lock.ts';
import { customerAccountId } from '../../libs/domain/customers/customer.process.ts';
import { customer, ErasePerson } from '../../libs/domain/customers/customer.ts';
import { ConfigurePlatform, platform as platformDecider, tenantIdOf } from '../../libs/domain/platforms/platform.ts';
import { projections } from '../../projections/index.ts';
import { untilProjected } from '../activity.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { traces, uuidOf } from './erasure.setup.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
  const changes = { webhookEndpoint: 'http://127.0.0.1:1/hooks' };
  const commandId = randomUUID();
  await platform.engine.writePath.execute(
    platformDecider,
    new ConfigurePlatform({ tenantId: tenantIdOf(platform.tenant), changes }),
    { commandId, correlationId: commandId, actor: 'test', tenant: platform.tenant },
  );
});
afterAll(() => platform.stop());

const erase = (id: string) => eraseCustomer(platform.engine, platform.tenant, uuidOf(id));
/** Each long enough that ciphertext does not spell it by chance. */
const PERSON = /ebediah|quuxworthy|zeb@|987-65-4321|DE89370400440532013000|ent for the flat/i;

/** A customer with personal data wherever the platform keeps any; its public id. */
async function zebediah(): Promise<string> {
  const { body: one } = await platform
    .api('post', '/customers')
    .set('Idempotency-Key', randomUUID())
    .send({
      customerType: 'INDIVIDUAL',
      fullName: 'Zebediah Quuxworthy',
      email: 'zeb@quuxworthy.example',
      identifier: '987-65-4321',
      umaAddress: `$zebediah@${(await platform.api('get', '/config')).body.umaDomain}`,
      currencies: ['EUR', 'USD'],
      endUserTermsConsent: {
        acceptedAt: '2025-10-13T12:00:00Z',
        ipAddress: '203.0.113.77',
        termsVersion: 'V1',
        acceptanceMethod: 'CHECKBOX',
      },
    })
    .expect(201);
  await platform
    .api('patch', `/customers/${one.id}`)
    .set('Idempotency-Key', randomUUID())
    .send({ fullName: 'Zebediah P. Quuxworthy' })
    .expect(200);
  await platform
    .api('post', '/customers/external-accounts')
    .send({
      customerId: one.id,
      currency: 'EUR',
      accountInfo: {
        accountType: 'EUR_ACCOUNT',
        iban: 'DE89370400440532013000',
        beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Zebediah Quuxworthy', countryOfResidence: 'DE' },
      },
    })
    .expect(201);
  return one.id;
}

/** A payment of the customer's to the platform, with a text; nothing is left on its account. */
async function payRent(id: string): Promise<void> {
  const accountId = `InternalAccount:${customerAccountId(uuidOf(id), 'EUR')}`;
  const own = await platform.api('get', '/platform/internal-accounts?currency=EUR').expect(200);
  await platform.api('post', `/sandbox/internal-accounts/${accountId}/fund`).send({ amount: 500 }).expect(200);
  const quote = {
    source: { sourceType: 'ACCOUNT', accountId },
    destination: { destinationType: 'ACCOUNT', accountId: own.body.data[0].id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 500,
    immediatelyExecute: true,
    description: 'Rent for the flat',
  };
  await paid(quote);
}

/** A payment that is made at once, as soon as it is over: before that its customer cannot be erased. */
async function paid(quote: object): Promise<void> {
  const { body } = await platform.api('post', '/quotes').send(quote).expect(201);
  await eventually(
    async () => (await platform.api('get', `/transactions/${body.transactionId}`).expect(200)).body.status,
    (status) => status === 'COMPLETED',
  );
}

describe('erasing a person', () => {
  test('leaves nothing of it anywhere, and what it was part of still adds up', async () => {
    const id = await zebediah();
    await payRent(id);
    const { body: deleted } = await platform.api('delete', `/customers/${id}`).expect(200);
    expect(await traces(platform, PERSON)).not.toEqual({});

    const erasure = await erase(id);
    expect(erasure).toMatchObject({ externalAccounts: 1, payments: 1 });
    expect(erasure.answers).toBeGreaterThan(0);
    expect(erasure.webhooks).toBeGreaterThan(0);
    expect(await traces(platform, PERSON)).toEqual({});

    const { body } = await platform.api('get', `/customers/${id}`).expect(200);
    expect(body).toEqual({
      id,
      customerType: 'INDIVIDUAL',
      platformCustomerId: deleted.platformCustomerId,
      currencies: ['EUR', 'USD'],
      umaAddress: '$erased@erased.invalid',
      kycStatus: 'UNVERIFIED',
      isDeleted: true,
      createdAt: deleted.createdAt,
      updatedAt: expect.any(String),
    });
    const listed = await platform.api('get', '/customers?isIncludingDeleted=true').expect(200);
    expect(listed.body.data.map((one: { id: string }) => one.id)).toContain(id);
    const transactions = await platform.api('get', `/transactions?customerId=${id}`).expect(200);
    expect(transactions.body.totalCount).toBeGreaterThan(0);
  });

  test('leaves nothing of who sent money to the person either, and rows as they are when made anew', async () => {
    const id = await zebediah();
    const [usd, own] = [
      `InternalAccount:${customerAccountId(uuidOf(id), 'USD')}`,
      (await platform.api('get', '/platform/internal-accounts?currency=USD').expect(200)).body.data[0].id,
    ];
    const quote = (source: object, accountId: string, more: object = {}) => ({
      source,
      destination: { destinationType: 'ACCOUNT', accountId },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 500,
      ...more,
    });
    const realtime = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: id };
    const { body: awaited } = await platform.api('post', '/quotes').send(quote(realtime, usd)).expect(201);
    const sent = await platform.api('post', '/sandbox/send').send({ quoteId: awaited.id, currencyCode: 'USD' });
    expect(sent.body.source).toMatchObject({ accountHolderName: 'Sandbox Sender' });
    const all = quote({ sourceType: 'ACCOUNT', accountId: usd }, own, { immediatelyExecute: true });
    await paid(all);
    await platform.api('delete', `/customers/${id}`).expect(200);
    expect(await traces(platform, /Sandbox Sender/)).not.toEqual({});

    expect(await erase(id)).toMatchObject({ payments: 1 });
    expect(await traces(platform, /Sandbox Sender/)).toEqual({});
    expect((await verify(platform.engine, projections)).findings).toEqual([]);
  });

  test('takes away what was filled ahead of a rebuild, and does not begin while one runs', async () => {
    const id = await zebediah();
    await payRent(id);
    await platform.api('delete', `/customers/${id}`).expect(200);
    await rebuild(platform.engine, projections, { ahead: true });
    // as one leaves it that ends when it begins to fill the table anew
    await platform.engine.pool.query(`DELETE FROM rebuilds WHERE name = 'customers'`);

    const rebuilding = new pg.Client(platform.engine.url);
    await rebuilding.connect();
    expect(await tryRebuildLock(rebuilding)).toBe(true);
    await expect(erase(id)).rejects.toMatchObject({ code: 'CONFLICT', details: { reason: 'REBUILD_UNDER_WAY' } });
    await rebuilding.end();

    await erase(id);
    expect(await traces(platform, PERSON)).toEqual({});
    await rebuild(platform.engine, projections);
    expect(await traces(platform, PERSON)).toEqual({});
  });

  test('may be repeated', async () => {
    const id = await zebediah();
    await platform.api('delete', `/customers/${id}`).expect(200);
    await erase(id);
    const before = await platform.engine.store.head();
    expect(await erase(id)).toMatchObject({ answers: 0, webhooks: 0, payments: 0 });
    expect(await platform.engine.store.head()).toBe(before);
    await platform.api('delete', `/customers/${id}`).expect(410);
  });

  test('is healed by repeating it, also where the projector has come to know rows since it was interrupted', async () => {
    const id = await zebediah();
    await payRent(id);
    await platform.api('delete', `/customers/${id}`).expect(200);
    const { writePath } = platform.engine;
    const command = new ErasePerson({ customerId: uuidOf(id), externalAccountIds: [] });
    const envelope = { commandId: randomUUID(), correlationId: randomUUID(), actor: 'test', tenant: platform.tenant };
    await writePath.execute(customer, command, envelope);
    const { body } = await platform.api('get', `/transactions?customerId=${id}&type=OUTGOING`).expect(200);
    const [{ id: rent, description }] = body.data;
    expect(description).toBe('Rent for the flat');
    const confirm = async () => {
      await platform
        .api('post', `/transactions/${rent}/confirm`)
        .set('Idempotency-Key', randomUUID())
        .send({})
        .expect(200);
      return (await platform.api('get', `/transactions/${rent}`).expect(200)).body;
    };
    const before = await confirm();

    expect(await erase(id)).toMatchObject({ payments: 1 });
    const after = await confirm();
    expect(after.receiptDeliveryConfirmedAt > before.receiptDeliveryConfirmedAt).toBe(true);
    expect(after).not.toHaveProperty('description');
    expect(await traces(platform, /ent for the flat/)).toEqual({});
  });

  test('reads rows that PostgreSQL cannot: NUL and lone surrogates in what was stored of a payment', async () => {
    const id = await zebediah();
    const account = `InternalAccount:${customerAccountId(uuidOf(id), 'USD')}`;
    await platform.api('post', `/sandbox/internal-accounts/${account}/fund`).send({ amount: 1 }).expect(200);
    const own = await platform.api('get', '/platform/internal-accounts?currency=USD').expect(200);
    const destination = { destinationType: 'ACCOUNT', accountId: own.body.data[0].id };
    const source = { sourceType: 'ACCOUNT', accountId: account };
    const quote = { source, destination, lockedCurrencySide: 'SENDING', lockedCurrencyAmount: 1 };
    await paid({ ...quote, immediatelyExecute: true });
    await platform.api('delete', `/customers/${id}`).expect(200);
    await untilProjected(platform); // what comes later writes the whole row
    const { rows } = await platform.engine.pool.query<{ id: string; state: string }>(
      `UPDATE payments SET state = left(state, -1) || $2 WHERE customer = $1 AND type = 'OUTGOING' RETURNING id, state`,
      [uuidOf(id), ',"receiverCustomerInfo":{"Z\\ud800":"Quuxworthy\\u0000"},"kept\\ud800":"\\u0000"}'],
    );
    expect(rows).toHaveLength(1);
    expect(await erase(id)).toMatchObject({ payments: 1 });
    const after = await platform.engine.pool.query('SELECT state FROM payments WHERE id = $1', [rows[0]!.id]);
    const { receiverCustomerInfo, ...rest } = JSON.parse(rows[0]!.state);
    expect(receiverCustomerInfo).toEqual({ 'Z\ud800': 'Quuxworthy\u0000' });
    expect(JSON.parse(after.rows[0]!.state)).toEqual(rest);
  });

  test('is refused for a customer that was not deleted, that is unknown or another platform’s', async () => {
    const id = await zebediah();
    await expect(erase(id)).rejects.toMatchObject({ code: 'CONFLICT', details: { reason: 'NOT_DELETED' } });
    expect((await platform.api('get', `/customers/${id}`)).body.fullName).toBe('Zebediah P. Quuxworthy');
    await expect(erase(`Customer:${randomUUID()}`)).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    const { tenant } = await platform.another();
    await expect(eraseCustomer(platform.engine, tenant, uuidOf(id))).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });
});
