import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createPlatform, issueToken } from '../../apps/shared/provision.ts';
import { type AccountState, account } from '../../libs/domain/accounts/account.ts';
import { customerAccountId } from '../../libs/domain/customers/customer.process.ts';
import type { Tenant } from '../../libs/kernel/messages.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const individual = (more: object = {}) => ({ customerType: 'INDIVIDUAL', ...more });
const business = (info: object = {}, more: object = {}) => ({
  customerType: 'BUSINESS',
  businessInfo: { legalName: 'Harbour Ltd', country: 'GB', incorporatedOn: '2019-04-01', taxId: 'GB123', ...info },
  ...more,
});
const create = (body: object, api = platform.api) => api('post', '/customers').send(body);
const errorsOf = (body: { details?: { errors?: { field: string; constraint: string }[] } }) =>
  body.details?.errors?.map(({ field, constraint }) => `${field} ${constraint}`);
const uuidOf = (id: string) => id.slice('Customer:'.length);
const domain = async () => (await platform.api('get', '/config').expect(200)).body.umaDomain as string;

const everyField = {
  region: 'US',
  currencies: ['USD', 'MXN'],
  email: 'amina@example.com',
  phoneNumber: '+14155550123',
  fullName: 'Amina Diallo',
  birthDate: '1990-01-15',
  nationality: 'SN',
  address: { line1: '1 Main St', line2: 'Apt 2', city: 'Oakland', state: 'CA', postalCode: '94601', country: 'US' },
  idType: 'SSN',
  countryOfIssuance: 'US',
  sourceOfFundsCategories: ['SALARY', 'OTHER'],
  sourceOfFundsOtherDescription: 'Royalties',
  sourceOfWealthCategories: ['OTHER'],
  sourceOfWealthOtherDescription: 'A lottery',
  purposeOfAccount: 'OTHER',
  purposeOfAccountOtherDescription: 'A club',
  expectedMonthlyTransactionCount: 'COUNT_10_TO_100',
  expectedMonthlyTransactionVolume: 'VOLUME_UNDER_10K',
  annualIncomeRange: 'RANGE_50K_100K',
  netWorthRange: 'UNDER_100K',
  pepStatus: 'NONE',
};

describe('creating a customer', () => {
  test('an individual with every field: all come back but the identifier, which nobody is told', async () => {
    const umaAddress = `$Amina@${await domain()}`;
    const { body } = await create(
      individual({
        ...everyField,
        platformCustomerId: 'p-1',
        umaAddress,
        identifier: '123-45-6789',
        kycStatus: 'APPROVED',
      }),
    ).expect(201);
    expect(body).toEqual({
      ...everyField,
      id: expect.stringMatching(/^Customer:[0-9a-f-]{36}$/),
      customerType: 'INDIVIDUAL',
      platformCustomerId: 'p-1',
      umaAddress: umaAddress.toLowerCase(),
      kycStatus: 'UNVERIFIED',
      isDeleted: false,
      createdAt: expect.any(String),
      updatedAt: body.createdAt,
    });
    expect((await platform.api('get', `/customers/${body.id}`).expect(200)).body).toEqual(body);
    const { rows } = await platform.engine.pool.query('SELECT state FROM customers WHERE id = $1', [uuidOf(body.id)]);
    expect(rows[0].state).not.toContain('123-45-6789');
  });

  test('a business with every field', async () => {
    const info = {
      legalName: 'Harbour Ltd',
      doingBusinessAs: 'Harbour',
      country: 'GB',
      registrationNumber: '0123',
      incorporatedOn: '2019-04-01',
      entityType: 'LLC',
      taxId: 'GB123',
      countriesOfOperation: ['GB', 'US'],
      businessType: 'RETAIL_TRADE',
      purposeOfAccount: 'OTHER',
      sourceOfFunds: 'Sales',
      expectedMonthlyTransactionCount: 'COUNT_OVER_1000',
      expectedMonthlyTransactionVolume: 'VOLUME_OVER_10M',
      expectedRecipientJurisdictions: ['US'],
      naicsCode: '445110',
      sourceOfFundsCategories: ['OPERATING_REVENUE', 'OTHER'],
      sourceOfFundsOtherDescription: 'Grants',
      purposeOfAccountOtherDescription: 'Payouts',
      expectedCounterpartyCountries: ['MX'],
      primaryContactFirstName: 'Amina',
      primaryContactLastName: 'Diallo',
    };
    const { body } = await create(business(info, { address: everyField.address })).expect(201);
    expect(body).toMatchObject({ customerType: 'BUSINESS', kybStatus: 'UNVERIFIED', businessInfo: info });
    expect(body.address).toEqual(everyField.address);
    expect(body).not.toHaveProperty('kycStatus');
    expect((await platform.api('get', `/customers/${body.id}`)).body).toEqual(body);
  });

  test('the least: identifiers are made, and the customer uses what the platform supports', async () => {
    const { body } = await create(individual()).expect(201);
    expect(body.platformCustomerId).toBe(uuidOf(body.id));
    expect(body.umaAddress).toBe(`$${uuidOf(body.id).replaceAll('-', '').slice(-16)}@${await domain()}`);
    expect(body.currencies).toEqual(['USD', 'EUR', 'GBP', 'MXN', 'BTC', 'USDC', 'USDB']);
  });

  test('its accounts are there when it is answered, one per currency', async () => {
    const { body } = await create(individual({ currencies: ['USD', 'USDB'] })).expect(201);
    const accounts = await platform.api('get', `/customers/internal-accounts?customerId=${body.id}`).expect(200);
    const shown = accounts.body.data.map(
      (one: { type: string; id: string; balance: { currency: { code: string } } }) => [
        one.balance.currency.code,
        one.type,
        one.id,
      ],
    );
    const id = (currency: string) => `InternalAccount:${customerAccountId(uuidOf(body.id), currency)}`;
    expect(shown.sort()).toEqual([
      ['USD', 'INTERNAL_FIAT', id('USD')],
      ['USDB', 'EMBEDDED_WALLET', id('USDB')],
    ]);
  });

  test('repeated with its key it is one customer with the same answer', async () => {
    const body = individual({ fullName: 'Twice', identifier: '123-45-6789' });
    const send = () => create(body).set('Idempotency-Key', 'create-twice');
    const first = await send().expect(201);
    const second = await send().expect(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.body).toEqual(first.body);
    const other = await create({ ...body, fullName: 'Other' })
      .set('Idempotency-Key', 'create-twice')
      .expect(409);
    expect(other.body.details.reason).toBe('IDEMPOTENCY_KEY_REUSED');
    const { rows } = await platform.engine.pool.query('SELECT body FROM keyed_answers WHERE stream = $1', [
      `customer-${uuidOf(first.body.id)}`,
    ]);
    expect(rows).toHaveLength(1);
    expect(Buffer.from(rows[0].body, 'base64').toString('latin1') + rows[0].body).not.toContain('Twice');
  });

  test('nothing about a person can be read in the log', async () => {
    const platformCustomerId = randomUUID();
    const person = { fullName: 'Zebediah Quuxworthy', email: 'zebediah@quuxworthy.example', identifier: '987-65-4321' };
    const umaAddress = `$zebediah@${await domain()}`;
    const { body } = await create(individual({ ...person, platformCustomerId, umaAddress })).expect(201);
    await platform.api('patch', `/customers/${body.id}`).send({ fullName: 'Zebediah P. Quuxworthy' }).expect(200);
    const log = await platform.log();
    expect(log.length).toBeGreaterThan(10);
    const everything = JSON.stringify(log);
    // Long enough that ciphertext does not spell one by chance.
    for (const personal of ['ebediah', 'uuxworthy', '987-65-4321', '987654321'])
      expect(everything).not.toContain(personal);
    expect(log.filter(({ stream }) => stream.startsWith('claim-')).map(({ stream }) => stream)).not.toContain(
      platformCustomerId,
    );
  });
});

describe('a wrong request', () => {
  test('lists every invalid field', async () => {
    const { body } = await create(
      individual({
        region: 'USA',
        email: 'nobody',
        phoneNumber: '0815',
        birthDate: '2020-02-30',
        nationality: 'XX',
        address: { line1: '', country: 'US' },
        idType: 'EIN',
        identifier: '123456789',
        countryOfIssuance: 'DE',
        sourceOfFundsCategories: ['OTHER'],
        sourceOfWealthCategories: ['OTHER'],
        purposeOfAccount: 'OTHER',
        pepStatus: 'MAYBE',
        endUserTermsConsent: { ipAddress: 'x'.repeat(46), acceptedAt: 'yesterday' },
      }),
    ).expect(400);
    expect(body.code).toBe('INVALID_INPUT');
    expect(errorsOf(body)!.sort()).toEqual([
      'address.line1 MIN_LENGTH',
      'address.postalCode REQUIRED',
      'birthDate FORMAT',
      'countryOfIssuance ENUM',
      'email FORMAT',
      'endUserTermsConsent.acceptanceMethod REQUIRED',
      'endUserTermsConsent.acceptedAt FORMAT',
      'endUserTermsConsent.ipAddress MAX_LENGTH',
      'endUserTermsConsent.termsVersion REQUIRED',
      'idType ENUM',
      'identifier PATTERN',
      'nationality FORMAT',
      'pepStatus ENUM',
      'phoneNumber FORMAT',
      'purposeOfAccountOtherDescription REQUIRED',
      'region MAX_LENGTH',
      'sourceOfFundsOtherDescription REQUIRED',
      'sourceOfWealthOtherDescription REQUIRED',
    ]);
  });

  test.each([
    [{}, ['customerType REQUIRED']],
    [{ customerType: 'ROBOT' }, ['customerType ENUM']],
    [{ customerType: 'BUSINESS' }, ['businessInfo REQUIRED']],
    [
      business({
        legalName: undefined,
        country: undefined,
        incorporatedOn: undefined,
        taxId: undefined,
        purposeOfAccount: 'OTHER',
        naicsCode: 'x',
      }),
      [
        'businessInfo.country REQUIRED',
        'businessInfo.incorporatedOn REQUIRED',
        'businessInfo.legalName REQUIRED',
        'businessInfo.naicsCode PATTERN',
        'businessInfo.purposeOfAccountOtherDescription REQUIRED',
        'businessInfo.taxId REQUIRED',
      ],
    ],
  ])('%j: %j', async (body, errors) => {
    const answer = await create(body).expect(400);
    expect(errorsOf(answer.body)!.sort()).toEqual(errors);
  });

  test('a currency that the platform does not support', async () => {
    const { body } = await create(individual({ currencies: ['USD', 'BRL', 'XXX'] })).expect(400);
    expect(body.code).toBe('INVALID_CURRENCY');
    expect(errorsOf(body)).toEqual(['currencies.1 ENUM', 'currencies.2 ENUM']);
  });

  test('a UMA address at another domain, or that is none', async () => {
    for (const umaAddress of ['$amina@elsewhere.example', 'amina', `$UPPER CASE@${await domain()}`]) {
      const { body } = await create(individual({ umaAddress })).expect(400);
      expect([body.code, body.details.errors[0].field]).toEqual(['INVALID_UMA_ADDRESS', 'umaAddress']);
    }
  });

  test('terms that do not exist', async () => {
    const endUserTermsConsent = {
      acceptedAt: '2025-10-13T12:00:00Z',
      ipAddress: '203.0.113.7',
      termsVersion: 'V0',
      acceptanceMethod: 'CHECKBOX',
    };
    const { body } = await create(individual({ endUserTermsConsent })).expect(400);
    expect(body.code).toBe('END_USER_TERMS_VERSION_NOT_FOUND');
    expect(body.details).toMatchObject({ termsVersion: 'V0', known: ['V1'] });
    expect(errorsOf(body)).toEqual(['endUserTermsConsent.termsVersion ENUM']);
  });

  test('everything that is wrong is told at once, whoever finds it', async () => {
    const endUserTermsConsent = { acceptedAt: '2025-10-13T12:00:00Z', ipAddress: '203.0.113.7', termsVersion: 'V9' };
    const wrong = {
      email: 'nope',
      currencies: ['ZZZ'],
      umaAddress: 'nope',
      endUserTermsConsent: { ...endUserTermsConsent, acceptanceMethod: 'CHECKBOX' },
    };
    const errors = ['currencies.0 ENUM', 'umaAddress PATTERN', 'endUserTermsConsent.termsVersion ENUM'];
    const { body } = await create(individual(wrong)).expect(400);
    expect([body.code, ...errorsOf(body)!]).toEqual(['INVALID_INPUT', 'email FORMAT', ...errors]);
    const { email, ...rest } = wrong;
    const second = await create(individual(rest)).expect(400);
    expect([second.body.code, ...errorsOf(second.body)!]).toEqual(['INVALID_INPUT', ...errors]);
    const third = await create(individual({ ...wrong, endUserTermsConsent })).expect(400);
    expect(errorsOf(third.body)).toEqual([
      'email FORMAT',
      'endUserTermsConsent.acceptanceMethod REQUIRED',
      ...errors.slice(0, 2),
    ]);
  });

  test('what no kind of customer may say is told also when the kind is missing or unknown', async () => {
    const wrong = { email: 'nope', region: 'USA', address: { line1: '' }, fullName: 1, businessInfo: 1 };
    const common = [
      'region MAX_LENGTH',
      'email FORMAT',
      'address.line1 MIN_LENGTH',
      'address.postalCode REQUIRED',
      'address.country REQUIRED',
    ];
    const { body } = await create(wrong).expect(400);
    expect(errorsOf(body)).toEqual(['customerType REQUIRED', ...common]);
    const unknown = await create({ ...wrong, customerType: 'ROBOT' }).expect(400);
    expect(errorsOf(unknown.body)).toEqual(['customerType ENUM', ...common]);
  });
});

describe('what a customer has alone', () => {
  test('a platformCustomerId in use is a conflict, and nothing is created', async () => {
    await create(individual({ platformCustomerId: 'alone' })).expect(201);
    const umaAddress = `$free@${await domain()}`;
    const { body } = await create(individual({ platformCustomerId: 'alone', umaAddress })).expect(409);
    expect([body.code, body.details.reason]).toEqual(['CONFLICT', 'PLATFORM_CUSTOMER_ID']);
    await create(individual({ umaAddress })).expect(201);
    const other = await platform.another();
    await create(individual({ platformCustomerId: 'alone' }), other.api).expect(201);
  });

  test('a UMA address in use is a conflict, in any case, and gives the platformCustomerId back', async () => {
    const umaAddress = `$taken@${await domain()}`;
    await create(individual({ umaAddress })).expect(201);
    const { body } = await create(
      individual({ umaAddress: umaAddress.replace('taken', 'TAKEN'), platformCustomerId: 'given-back' }),
    ).expect(409);
    expect(body.code).toBe('UMA_ADDRESS_EXISTS');
    await create(individual({ platformCustomerId: 'given-back' })).expect(201);
  });

  test('of many at once exactly one gets it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create(individual({ platformCustomerId: 'raced', currencies: ['USD'] }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  test('a refused request that is repeated with its key succeeds once the value is free', async () => {
    const { body: first } = await create(individual({ platformCustomerId: 'freed' })).expect(201);
    const again = () => create(individual({ platformCustomerId: 'freed' })).set('Idempotency-Key', 'freed');
    await again().expect(409);
    await platform.api('delete', `/customers/${first.id}`).expect(200);
    const { body } = await again().expect(201);
    expect(body.id).not.toBe(first.id);
    await create(individual({ platformCustomerId: 'freed' })).expect(409);
  });
});

describe('verification at creation', () => {
  const suffixes = [
    ['Amina 001', 'PENDING'],
    ['Amina 002', 'REJECTED'],
    ['Amina 003', 'UNVERIFIED'],
    ['Amina', 'APPROVED'],
    [undefined, 'UNVERIFIED'],
  ] as const;

  test.each([{ isRegulatedFinancialInstitution: true }, { skipVerificationPaperwork: true }])(
    'is decided by the suffix with %j, for individuals only',
    async (settings) => {
      const { api } = await platform.another(settings);
      for (const [fullName, kycStatus] of suffixes) {
        const { body } = await create(individual({ fullName, currencies: ['USD'] }), api).expect(201);
        expect([fullName, body.kycStatus]).toEqual([fullName, kycStatus]);
      }
      const { body } = await create(business({ registrationNumber: '002' }), api).expect(201);
      expect(body.kybStatus).toBe('UNVERIFIED');
    },
  );

  test('has no provider in production: the creation is refused by name, and nothing is recorded', async () => {
    const tenant: Tenant = { platform: platform.tenant.platform, environment: 'production' };
    const settings = { isRegulatedFinancialInstitution: true };
    await createPlatform(platform.engine, tenant, { name: 'Live', settings, currencies: ['USD'] });
    const { clientId, clientSecret } = await issueToken(platform.engine, tenant, {
      name: 'live',
      tokenId: randomUUID(),
    });
    const head = await platform.engine.store.head();
    const { body } = await create(individual({ fullName: 'Amina' }))
      .auth(clientId, clientSecret)
      .expect(501);
    expect([body.code, body.details]).toEqual(['NOT_IMPLEMENTED', { provider: 'kyc' }]);
    expect(await platform.engine.store.head()).toBe(head);
  });

  test('is left to the verification on other platforms', async () => {
    for (const [fullName] of suffixes) {
      const { body } = await create(individual({ fullName, currencies: ['USD'] })).expect(201);
      expect(body.kycStatus).toBe('UNVERIFIED');
    }
  });
});

describe('end-user terms', () => {
  const endUserTermsConsent = {
    acceptedAt: '2025-10-13T14:00:00+02:00',
    ipAddress: '203.0.113.7',
    termsVersion: 'V1',
    acceptanceMethod: 'CLICK_TO_ACCEPT',
  };

  test('have a version and a place', async () => {
    const { body } = await platform.api('get', '/customers/end-user-terms').expect(200);
    expect(body).toEqual({ version: 'V1', url: 'https://ledgerline.example/end-user-terms/V1' });
  });

  test('a platform that requires them opens accounts at consent', async () => {
    const { api } = await platform.another({ requireEndUserTerms: true });
    const { body } = await create(individual({ currencies: ['USD', 'EUR'] }), api).expect(201);
    expect(body).not.toHaveProperty('endUserTermsConsent');
    const accounts = async () =>
      (await api('get', `/customers/internal-accounts?customerId=${body.id}`)).body.totalCount;
    expect(await accounts()).toBe(0);
    await api('patch', `/customers/${body.id}`).send({ fullName: 'Amina' }).expect(200);
    expect(await accounts()).toBe(0);
    const accepted = await api('patch', `/customers/${body.id}`).send({ endUserTermsConsent }).expect(200);
    expect(accepted.body.endUserTermsConsent).toEqual({
      ...endUserTermsConsent,
      acceptedAt: '2025-10-13T12:00:00.000Z',
    });
    expect(await accounts()).toBe(2);
  });

  test('consent at creation opens them at once', async () => {
    const { api } = await platform.another({ requireEndUserTerms: true });
    const { body } = await create(individual({ currencies: ['USD'], endUserTermsConsent }), api).expect(201);
    const { state } = await platform.engine.writePath.state<AccountState>(
      account,
      customerAccountId(uuidOf(body.id), 'USD'),
    );
    expect(state.status).toBe('ACTIVE');
  });
});

describe('who may', () => {
  test('a VIEW token reads and does not write; a TRANSACT token neither creates, changes nor deletes', async () => {
    const { body: one } = await create(individual()).expect(201);
    for (const permission of ['VIEW', 'TRANSACT']) {
      const { body: token } = await platform
        .api('post', '/tokens')
        .send({ name: permission, permissions: [permission] })
        .expect(201);
      const api: TestPlatform['api'] = (method, path) =>
        platform.api(method, path).auth(token.clientId, token.clientSecret);
      await api('get', '/customers').expect(200);
      await api('get', `/customers/${one.id}`).expect(200);
      for (const refused of [
        api('post', '/customers').send(individual()),
        api('patch', `/customers/${one.id}`).send({ fullName: 'x' }),
        api('delete', `/customers/${one.id}`),
      ]) {
        const { body } = await refused.expect(403);
        expect([body.code, body.details.requiredPermission]).toEqual(['FORBIDDEN', 'MANAGE']);
      }
    }
  });

  test("another platform's customer is not found", async () => {
    const { body: one } = await create(individual()).expect(201);
    const { api } = await platform.another();
    for (const asked of [
      api('get', `/customers/${one.id}`),
      api('patch', `/customers/${one.id}`).send({ fullName: 'x' }),
      api('delete', `/customers/${one.id}`),
    ]) {
      expect((await asked.expect(404)).body.code).toBe('USER_NOT_FOUND');
    }
    expect((await api('get', '/customers')).body.data).toEqual([]);
  });

  test.each(['Customer:nonsense', 'nonsense', `Customer:${randomUUID()}`, `InternalAccount:${randomUUID()}`])(
    'there is no customer %s',
    async (id) => {
      for (const method of ['get', 'patch', 'delete'] as const) {
        const { body } = await platform.api(method, `/customers/${id}`).expect(404);
        expect(body.code).toBe('USER_NOT_FOUND');
      }
    },
  );
});
