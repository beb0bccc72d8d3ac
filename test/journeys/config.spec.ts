import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { createApi } from '../../apps/api/src/app.ts';
import { createLogger } from '../../libs/runtime/http/index.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const get = async () => (await platform.api('get', '/config').expect(200)).body;
const patch = (body: object) => platform.api('patch', '/config').send(body);
const errorsOf = (body: { details: { errors: { field: string; constraint: string }[] } }) =>
  body.details.errors.map(({ field, constraint }) => `${field} ${constraint}`);
const currency = (currencyCode: string, more: object = {}) => ({
  currencyCode,
  minAmount: 100,
  maxAmount: 5_000_000,
  requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }],
  enabledTransactionTypes: ['OUTGOING'],
  ...more,
});
const fee = (more: object = {}) => ({
  feeType: 'CROSS_CURRENCY_TRANSACTION',
  sourceCurrency: 'USD',
  variableFeeBps: 30,
  fixedFee: { amount: 50, currency: 'USD' },
  ...more,
});

describe('the configuration', () => {
  test('of a new platform', async () => {
    const body = await get();
    const label = platform.tenant.platform.slice(-8);
    expect(body).toMatchObject({
      id: `PlatformConfig:${platform.tenant.platform}`,
      umaDomain: `${label}.ledgerline.test`,
      proxyUmaSubdomain: label,
      isRegulatedFinancialInstitution: false,
      feeConfigs: [],
    });
    expect(body.supportedCurrencies.map((one: { currencyCode: string }) => one.currencyCode)).toEqual([
      'USD',
      'EUR',
      'GBP',
      'MXN',
      'BTC',
      'USDC',
      'USDB',
    ]);
    for (const absent of ['webhookEndpoint', 'embeddedWalletConfig', 'cardTokenization2faConfig', 'cardConfigs']) {
      expect(body).not.toHaveProperty(absent);
    }
  });

  test('every field that can be changed', async () => {
    const { api } = await platform.another({ isRegulatedFinancialInstitution: true });
    const changes = {
      umaDomain: 'Pay.Example.com',
      webhookEndpoint: 'http://127.0.0.1:9/hooks',
      supportedCurrencies: [currency('USD'), currency('JPY', { minAmount: 0 })],
      embeddedWalletConfig: {
        appName: 'Wallet',
        otpLength: 6,
        alphanumeric: true,
        expirationSeconds: 300,
        sendFromEmailAddress: 'no-reply@example.com',
        sendFromEmailSenderName: 'Example',
        replyToEmailAddress: 'help@example.com',
        logoUrl: 'https://example.com/logo.png',
      },
      cardTokenization2faConfig: {
        displayName: 'Card',
        logoUrl: 'https://example.com/card.png',
        email: {
          fromAddress: 'cards@example.com',
          fromName: 'Cards',
          replyToAddress: 'help@example.com',
          subject: 'Your code',
          bodyText: 'Here it is',
        },
        sms: { templateSid: 'HX1', bodyText: 'Your code' },
      },
      feeConfigs: [fee()],
      cardConfigs: { maxSpendPerTransaction: 10_000, maxSpendPerDay: null },
    };
    const readOnly = { id: 'x', proxyUmaSubdomain: 'x', isRegulatedFinancialInstitution: false, createdAt: 'x' };
    const { body } = await api('patch', '/config')
      .send({ ...changes, ...readOnly })
      .expect(200);
    expect(body).toMatchObject({
      ...changes,
      umaDomain: 'pay.example.com',
      supportedCurrencies: changes.supportedCurrencies.map((one) => ({
        ...one,
        providerRequiredCustomerFields: [],
        providerRequiredCounterpartyCustomerFields: [],
      })),
      isRegulatedFinancialInstitution: true,
    });
    expect((await api('get', '/config').expect(200)).body).toEqual(body);
  });

  test('what is left out stays; texts and caps are merged, a fee replaces its like and ends at zero', async () => {
    await patch({
      embeddedWalletConfig: { appName: 'A', otpLength: 6 },
      cardTokenization2faConfig: { email: { subject: 'S', fromName: 'N' } },
      feeConfigs: [fee()],
      cardConfigs: { maxSpendPerTransaction: 5, maxSpendPerDay: 9 },
    }).expect(200);
    const { body } = await patch({
      embeddedWalletConfig: { otpLength: 8 },
      cardTokenization2faConfig: { email: { subject: 'T' }, sms: { bodyText: 'B' } },
      feeConfigs: [fee({ variableFeeBps: 0 })],
      cardConfigs: { maxSpendPerDay: null },
    }).expect(200);
    expect(body).toMatchObject({
      embeddedWalletConfig: { appName: 'A', otpLength: 8 },
      cardTokenization2faConfig: { email: { subject: 'T', fromName: 'N' }, sms: { bodyText: 'B' } },
      feeConfigs: [fee({ variableFeeBps: 0 })],
      cardConfigs: { maxSpendPerTransaction: 5, maxSpendPerDay: null },
    });
    const ended = await patch({ feeConfigs: [fee({ variableFeeBps: 0, fixedFee: { amount: 0, currency: 'USD' } })] });
    expect(ended.body.feeConfigs).toEqual([]);
  });

  test('nothing to change changes nothing, and a key makes a change happen once', async () => {
    const before = await get();
    expect((await patch({}).expect(200)).body).toEqual(before);
    const change = () => patch({ umaDomain: 'once.example.com' }).set('Idempotency-Key', 'config-1');
    const first = await change().expect(200);
    await patch({ umaDomain: before.umaDomain }).expect(200);
    expect((await change().expect(200)).body).toEqual(first.body);
    expect((await get()).umaDomain).toBe(before.umaDomain);
  });

  test('a new currency has an account of the platform before the answer; one that comes back keeps its own', async () => {
    const { api } = await platform.another();
    const accounts = async () =>
      (await api('get', '/platform/internal-accounts?currency=JPY').expect(200)).body.data as {
        id: string;
        type: string;
      }[];
    expect(await accounts()).toEqual([]);
    await api('patch', '/config')
      .send({ supportedCurrencies: [currency('JPY')] })
      .expect(200);
    const [opened] = await accounts();
    expect(opened).toMatchObject({ type: 'INTERNAL_FIAT' });
    await api('patch', '/config')
      .send({ supportedCurrencies: [currency('USD')] })
      .expect(200);
    await api('patch', '/config')
      .send({ supportedCurrencies: [currency('USD'), currency('JPY')] })
      .expect(200);
    expect((await accounts()).map(({ id }) => id)).toEqual([opened!.id]);
  });

  test('simultaneous requests may add the same currency: all are done, and so is what else they change', async () => {
    const { api } = await platform.another();
    const supportedCurrencies = [currency('USD'), currency('BRL')];
    const changes = [
      { umaDomain: 'first.example.com' },
      { embeddedWalletConfig: { appName: 'Second' } },
      { cardConfigs: { maxSpendPerDay: 3 } },
    ];
    const answers = await Promise.all(
      changes.map((change) => api('patch', '/config').send({ supportedCurrencies, ...change })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await api('get', '/config').expect(200);
    expect(body).toMatchObject(Object.assign({}, ...changes));
    expect(body.supportedCurrencies).toHaveLength(2);
    const accounts = await api('get', '/platform/internal-accounts?currency=BRL').expect(200);
    expect(accounts.body.data).toHaveLength(1);
  });

  test('a new webhook endpoint gets a TEST event, the same one again does not', async () => {
    const { api } = await platform.another();
    const tests = async () => {
      const { body } = await api('get', '/webhooks/deliveries').expect(200);
      return body.data.filter((one: { type: string }) => one.type === 'TEST').length;
    };
    await api('patch', '/config').send({ webhookEndpoint: 'http://127.0.0.1:9/a' }).expect(200);
    expect(await tests()).toBe(1);
    await api('patch', '/config')
      .send({ webhookEndpoint: 'http://127.0.0.1:9/a', umaDomain: 'x.example.com' })
      .expect(200);
    expect(await tests()).toBe(1);
    await api('patch', '/config').send({ webhookEndpoint: 'http://127.0.0.1:9/b' }).expect(200);
    expect(await tests()).toBe(2);
  });
});

describe('a wrong change', () => {
  test('lists every invalid field and changes nothing', async () => {
    const before = await get();
    const { body } = await patch({
      umaDomain: 'not a domain',
      supportedCurrencies: [
        { currencyCode: 'XXX', minAmount: -1, maxAmount: 1.5, enabledTransactionTypes: ['SIDEWAYS'] },
      ],
      embeddedWalletConfig: { otpLength: 3, expirationSeconds: 86_401, alphanumeric: 'yes', logoUrl: 'x' },
      cardTokenization2faConfig: { logoUrl: 'http://example.com/x.png', sms: { bodyText: 'x'.repeat(481) } },
      feeConfigs: [{ feeType: 'OTHER', sourceCurrency: 'USD', variableFeeBps: 10_001 }],
      cardConfigs: { maxSpendPerTransaction: 0, maxSpendPerDay: '1' },
    }).expect(400);
    expect(errorsOf(body).sort()).toEqual([
      'cardConfigs.maxSpendPerDay TYPE',
      'cardConfigs.maxSpendPerTransaction MINIMUM',
      'cardTokenization2faConfig.logoUrl PATTERN',
      'cardTokenization2faConfig.sms.bodyText MAX_LENGTH',
      'embeddedWalletConfig.alphanumeric TYPE',
      'embeddedWalletConfig.expirationSeconds MAXIMUM',
      'embeddedWalletConfig.logoUrl FORMAT',
      'embeddedWalletConfig.otpLength MINIMUM',
      'feeConfigs.0.feeType ENUM',
      'feeConfigs.0.fixedFee REQUIRED',
      'feeConfigs.0.variableFeeBps MAXIMUM',
      'supportedCurrencies.0.currencyCode ENUM',
      'supportedCurrencies.0.enabledTransactionTypes.0 ENUM',
      'supportedCurrencies.0.maxAmount TYPE',
      'supportedCurrencies.0.minAmount MINIMUM',
      'supportedCurrencies.0.requiredCounterpartyFields REQUIRED',
      'umaDomain FORMAT',
    ]);
    expect(await get()).toEqual(before);
  });

  test.each([
    [{ supportedCurrencies: [currency('USD'), currency('USD')] }, ['supportedCurrencies.1.currencyCode CONFLICT']],
    [
      { supportedCurrencies: [currency('USD', { minAmount: 9, maxAmount: 8 })] },
      ['supportedCurrencies.0.maxAmount MINIMUM'],
    ],
    [{ supportedCurrencies: [] }, ['supportedCurrencies MIN_LENGTH']],
    [{ feeConfigs: [fee({ fixedFee: { amount: 1, currency: 'EUR' } })] }, ['feeConfigs.0.fixedFee.currency CONFLICT']],
    [{ feeConfigs: [fee(), fee()] }, ['feeConfigs.1.sourceCurrency CONFLICT']],
    [{ webhookEndpoint: 'ftp://example.com' }, ['webhookEndpoint FORMAT']],
    [
      { umaDomain: '!', webhookEndpoint: 'ftp://example.com', feeConfigs: [fee(), fee()] },
      ['umaDomain FORMAT', 'webhookEndpoint FORMAT', 'feeConfigs.1.sourceCurrency CONFLICT'],
    ],
    [{ webhookEndpoint: 'https://user:password@example.com' }, ['webhookEndpoint FORMAT']],
    [{ webhookEndpoint: `https://example.com/${'x'.repeat(2_048)}` }, ['webhookEndpoint MAX_LENGTH']],
  ])('%j: %j', async (body, errors) => {
    const answer = await patch(body).expect(400);
    expect(errorsOf(answer.body)).toEqual(errors);
  });

  test('a fee in another currency than USD is not available', async () => {
    const { body } = await patch({
      feeConfigs: [fee({ sourceCurrency: 'EUR', fixedFee: { amount: 1, currency: 'EUR' } })],
    }).expect(501);
    expect([body.code, body.details]).toEqual(['NOT_IMPLEMENTED', { sourceCurrency: 'EUR' }]);
  });

  test('needs MANAGE; VIEW reads', async () => {
    const { body: token } = await platform
      .api('post', '/tokens')
      .send({ name: 'v', permissions: ['VIEW', 'TRANSACT'] });
    const auth = [token.clientId, token.clientSecret] as const;
    await platform
      .api('get', '/config')
      .auth(...auth)
      .expect(200);
    await platform
      .api('patch', '/config')
      .auth(...auth)
      .send({})
      .expect(403);
  });

  test('private addresses are refused where the deployment does not allow them', async () => {
    const app = await createApi(platform.engine, { logger: createLogger({ level: 'error' }) });
    const { clientId, clientSecret } = platform.credentials;
    for (const webhookEndpoint of [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://localhost/',
      'https://[::1]/',
      'https://169.254.169.254/',
    ]) {
      const { body } = await supertest(app.getHttpServer())
        .patch('/2025-10-13/config')
        .auth(clientId, clientSecret)
        .send({ webhookEndpoint })
        .expect(400);
      expect(errorsOf(body)).toEqual(['webhookEndpoint FORMAT']);
    }
    await app.close();
  });
});
