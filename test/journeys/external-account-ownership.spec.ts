import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import supertest from 'supertest';
import { accountExamples } from '../../libs/domain/external-accounts/account.examples.ts';
import type { AccountType } from '../../libs/domain/external-accounts/account-types.ts';
import type { Permission } from '../../libs/domain/tokens/token.events.ts';
import { IssueToken, token } from '../../libs/domain/tokens/token.ts';
import type { Environment } from '../../libs/kernel/messages.ts';
import { secretHash } from '../../libs/runtime/auth.ts';
import { TestClock } from '../clock.ts';
import { type Document, expectMatchesComponent, expectMatchesOpenApi } from '../openapi-validator.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Receiver, setEndpoint, startReceiver } from '../receiver.ts';
import { evmWallet, solanaWallet, sparkWallet, tronWallet, type Wallet } from '../wallets.ts';
import { addCustomer } from './external-accounts.setup.ts';

const MINUTES = 60_000;
const clock = new TestClock();
let platform: TestPlatform;
let receiver: Receiver;
let document: Document;
let customerId: string;

beforeAll(async () => {
  platform = await startTestPlatform({ clock, dispatcher: true });
  receiver = await startReceiver();
  await setEndpoint(platform.engine.writePath, platform.tenant, receiver.url);
  document = (await supertest(platform.app.getHttpServer()).get('/openapi.json').expect(200)).body;
  customerId = await addCustomer(platform);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

type Method = Parameters<TestPlatform['api']>[0];

/** Sends a request and holds the answer against the OpenAPI document. */
async function call(method: Method, path: string, body?: object, api = platform.api) {
  const answer = await api(method, path).send(body);
  expectMatchesOpenApi(document, method, `/2025-10-13${path}`, answer);
  return answer;
}

let seeds = 0;
const newWallet = (make: (seed: string) => Wallet = evmWallet): Wallet => make(`wallet ${seeds++}`);

/** Adds a wallet of the customer's own, in self-custody; its path. */
async function addWallet({ address }: Wallet, accountType: AccountType = 'BASE_WALLET', currency = 'USDC') {
  const accountInfo = { accountType, address };
  const body = { customerId, currency, ownershipType: 'FIRST_PARTY', accountInfo };
  const answer = await call('post', '/customers/external-accounts', body);
  expect([answer.status, answer.body.status]).toEqual([201, 'PENDING_OWNERSHIP_VERIFICATION']);
  return `/customers/external-accounts/${answer.body.id}`;
}

const challenge = (path: string, method = 'WALLET_SIGNATURE') => call('post', `${path}/challenge`, { method });
const verify = (path: string, signature: string, more: object = {}) =>
  call('post', `${path}/verify`, { signature, ...more });
const statusOf = async (path: string): Promise<string> => (await call('get', path)).body.status;
const told = ({ status, body }: { status: number; body: { code?: string; details?: { reason?: string } } }) =>
  [status, body.code, body.details?.reason].join(' ');

describe('WALLET_SIGNATURE', () => {
  test.each([
    ['BASE_WALLET', 'USDC', evmWallet],
    ['ETHEREUM_WALLET', 'USDT', evmWallet],
    ['POLYGON_WALLET', 'USDC', evmWallet],
    ['PLASMA_WALLET', 'USDT', evmWallet],
    ['SOLANA_WALLET', 'USDC', solanaWallet],
    ['TRON_WALLET', 'USDT', tronWallet],
    ['SPARK_WALLET', 'BTC', sparkWallet],
  ] as const)('%s: what the wallet signs activates it, once', async (accountType, currency, make) => {
    const wallet = newWallet(make);
    const path = await addWallet(wallet, accountType, currency);
    const started = await challenge(path);
    expect(started.status).toBe(201);
    const { messageToSign, expiresAt } = started.body;
    expect(started.body).toEqual({ method: 'WALLET_SIGNATURE', messageToSign, expiresAt });
    expect(messageToSign).toContain(wallet.address);
    expect(messageToSign).toContain(path.slice(path.indexOf('ExternalAccount:')));
    expect(messageToSign).toMatch(/Nonce: [0-9a-f]{32}$/);
    const verified = await verify(path, wallet.sign(messageToSign));
    expect(verified.status).toBe(200);
    expect(verified.body).toEqual((await call('get', path)).body);
    expect(verified.body.status).toBe('ACTIVE');
    expect(told(await verify(path, wallet.sign(messageToSign)))).toBe('409 CONFLICT ALREADY_VERIFIED');
    expect(told(await challenge(path))).toBe('409 CONFLICT ALREADY_VERIFIED');
  });

  test("another wallet's signature is refused, and a new challenge is needed", async () => {
    const wallet = newWallet();
    const path = await addWallet(wallet);
    const { messageToSign } = (await challenge(path)).body;
    expect(told(await verify(path, newWallet().sign(messageToSign)))).toBe('400 INVALID_INPUT WRONG_SIGNER');
    expect(await statusOf(path)).toBe('UNVERIFIED');
    expect(told(await verify(path, wallet.sign(messageToSign)))).toBe('409 CONFLICT NO_OUTSTANDING_CHALLENGE');
    const again = (await challenge(path)).body.messageToSign;
    expect(again).not.toBe(messageToSign);
    expect(await statusOf(path)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    expect((await verify(path, wallet.sign(again))).body.status).toBe('ACTIVE');
  });

  test.each([
    ['of the message before', (wallet: Wallet, message: string) => wallet.sign(`${message} `), 'WRONG_SIGNER'],
    ['not in hex', () => 'no signature', 'MALFORMED_SIGNATURE'],
    ['too long', () => `0x${'00'.repeat(400)}`, 'MALFORMED_SIGNATURE'],
  ] as const)('a signature %s is refused', async (_, signed, reason) => {
    const wallet = newWallet();
    const path = await addWallet(wallet);
    const { messageToSign } = (await challenge(path)).body;
    expect(told(await verify(path, signed(wallet, messageToSign)))).toBe(`400 INVALID_INPUT ${reason}`);
    expect(await statusOf(path)).toBe('UNVERIFIED');
  });

  test('a signature that comes too late is refused', async () => {
    const wallet = newWallet();
    const path = await addWallet(wallet);
    const { messageToSign, expiresAt } = (await challenge(path)).body;
    expect(Math.round((Date.parse(expiresAt) - clock.nowMs()) / MINUTES)).toBe(5);
    clock.advance(5 * MINUTES);
    expect(told(await verify(path, wallet.sign(messageToSign)))).toBe('400 INVALID_INPUT CHALLENGE_EXPIRED');
    expect(await statusOf(path)).toBe('UNVERIFIED');
  });

  test('a restart and a change of method make the challenge before void', async () => {
    const wallet = newWallet();
    const path = await addWallet(wallet);
    const first = (await challenge(path)).body.messageToSign;
    const second = (await challenge(path)).body.messageToSign;
    expect(second).not.toBe(first);
    await challenge(path, 'LIVENESS');
    expect(told(await verify(path, wallet.sign(second)))).toBe('409 CONFLICT NO_OUTSTANDING_CHALLENGE');
    expect(await statusOf(path)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    const third = (await challenge(path)).body.messageToSign;
    expect(told(await verify(path, wallet.sign(first)))).toBe('400 INVALID_INPUT WRONG_SIGNER');
    expect(told(await verify(path, wallet.sign(third)))).toBe('409 CONFLICT NO_OUTSTANDING_CHALLENGE');
  });

  test('one key for a refused proof and for a good one: the refusal is not remembered, the proof is', async () => {
    const wallet = newWallet();
    const path = await addWallet(wallet);
    const keyed = (signature: string) =>
      platform.api('post', `${path}/verify`).set('Idempotency-Key', `prove ${path}`).send({ signature });
    const { messageToSign } = (await challenge(path)).body;
    expect(told(await keyed(newWallet().sign(messageToSign)))).toBe('400 INVALID_INPUT WRONG_SIGNER');
    const signature = wallet.sign((await challenge(path)).body.messageToSign);
    const first = await keyed(signature);
    const second = await keyed(signature);
    expect([first.status, second.status, second.headers['idempotent-replayed']]).toEqual([200, 200, 'true']);
    expect(second.body).toEqual(first.body);
    await platform.engine.pool.query('DELETE FROM keyed_answers');
    const late = await keyed(signature);
    expect([late.status, late.body]).toEqual([200, first.body]);
  });

  test('the request itself is checked first, and changes nothing', async () => {
    const path = await addWallet(newWallet());
    expect((await challenge(path, 'SELFIE')).body.details.errors).toMatchObject([
      { field: 'method', constraint: 'ENUM', allowed: ['WALLET_SIGNATURE', 'LIVENESS'] },
    ]);
    await challenge(path);
    expect((await call('post', `${path}/verify`, {})).body.details.errors).toMatchObject([
      { field: 'signature', constraint: 'REQUIRED' },
    ]);
    const electrum = await verify(path, '0x00', { signatureScheme: 'electrum' });
    expect(electrum.body.details.errors).toMatchObject([{ field: 'signatureScheme', constraint: 'CONFLICT' }]);
    expect(await statusOf(path)).toBe('PENDING_OWNERSHIP_VERIFICATION');
  });
});

describe('LIVENESS', () => {
  const end = (path: string, outcome: string) =>
    call('post', `${path.replace('/customers', '/sandbox')}/liveness`, { outcome });

  test.each([
    ['COMPLETED', 'ACTIVE'],
    ['FAILED', 'UNVERIFIED'],
  ])('a check that is %s makes the account %s', async (outcome, status) => {
    const path = await addWallet(newWallet());
    const started = await challenge(path, 'LIVENESS');
    expect(started.status).toBe(201);
    const { verificationLink, token, expiresAt } = started.body;
    expect(started.body).toEqual({ method: 'LIVENESS', verificationLink, token, expiresAt });
    expect(new URL(verificationLink).pathname).toBe(`/sandbox-liveness/${token}`);
    const ended = await end(path, outcome);
    expect([ended.status, ended.body.status]).toEqual([200, status]);
    expect(await statusOf(path)).toBe(status);
    expect(told(await end(path, outcome))).toMatch(/^409 CONFLICT (ALREADY_VERIFIED|NO_OUTSTANDING_CHALLENGE)$/);
  });

  test('needs an outstanding check that has not expired', async () => {
    const path = await addWallet(newWallet());
    expect(told(await end(path, 'COMPLETED'))).toBe('409 CONFLICT NO_OUTSTANDING_CHALLENGE');
    await challenge(path);
    expect(told(await end(path, 'COMPLETED'))).toBe('409 CONFLICT NO_OUTSTANDING_CHALLENGE');
    await challenge(path, 'LIVENESS');
    clock.advance(5 * MINUTES);
    expect(told(await end(path, 'COMPLETED'))).toBe('409 CONFLICT CHALLENGE_EXPIRED');
    expect((await end(path, 'MAYBE')).body.details.errors).toMatchObject([{ field: 'outcome', constraint: 'ENUM' }]);
    expect(await statusOf(path)).toBe('PENDING_OWNERSHIP_VERIFICATION');
  });

  describe('the hosted page', () => {
    const page = (link: string, end = '') =>
      supertest(platform.app.getHttpServer())[end ? 'post' : 'get'](new URL(link).pathname + end);

    test.each([
      ['/completed', 'ACTIVE', 'Check completed'],
      ['/failed', 'UNVERIFIED', 'Check failed'],
    ])('its button %s makes the account %s, once', async (button, status, says) => {
      const wallet = newWallet();
      const path = await addWallet(wallet);
      const { verificationLink } = (await challenge(path, 'LIVENESS')).body;
      const shown = await page(verificationLink).expect(200).expect('Content-Type', 'text/html; charset=utf-8');
      expect(shown.text).toContain(wallet.address);
      expect(shown.text).toContain(`action="${new URL(verificationLink).pathname}${button}"`);
      expect(shown.headers['content-security-policy']).toContain("default-src 'none'");
      expect((await page(verificationLink, button).expect(200)).text).toContain(says);
      expect(await statusOf(path)).toBe(status);
      await page(verificationLink).expect(404);
      await page(verificationLink, button).expect(404);
    });

    test('a link that is wrong, replaced or expired leads to nothing', async () => {
      const path = await addWallet(newWallet());
      const first = (await challenge(path, 'LIVENESS')).body.verificationLink;
      const second = (await challenge(path, 'LIVENESS')).body.verificationLink;
      await page(first, '/completed').expect(404);
      await page(second, '/maybe').expect(404);
      await page(`${second.slice(0, -1)}${second.endsWith('0') ? '1' : '0'}`, '/completed').expect(404);
      await page('http://localhost/sandbox-liveness/x').expect(404);
      clock.advance(5 * MINUTES);
      await page(second, '/completed').expect(404);
      expect(await statusOf(path)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    });
  });
});

describe('who has nothing to prove', () => {
  test.each([
    [
      'a bank account',
      { currency: 'USD', accountInfo: accountExamples.USD_ACCOUNT, ownershipType: 'FIRST_PARTY' },
      'NOT_SELF_CUSTODY',
    ],
    [
      'Lightning',
      { currency: 'BTC', accountInfo: accountExamples.LIGHTNING, ownershipType: 'FIRST_PARTY' },
      'NOT_SELF_CUSTODY',
    ],
    [
      'a wallet with a custodian',
      {
        currency: 'USDC',
        accountInfo: { ...accountExamples.BASE_WALLET, vaspName: 'Coin House' },
        ownershipType: 'FIRST_PARTY',
      },
      'NOT_SELF_CUSTODY',
    ],
    [
      "somebody else's wallet",
      { currency: 'USDC', accountInfo: accountExamples.POLYGON_WALLET, ownershipType: 'THIRD_PARTY' },
      'NOT_FIRST_PARTY',
    ],
    [
      'a wallet of unknown owner',
      { currency: 'USDC', accountInfo: accountExamples.ETHEREUM_WALLET },
      'NOT_FIRST_PARTY',
    ],
  ])('%s', async (_, body, reason) => {
    const { id, status } = (await call('post', '/platform/external-accounts', body)).body;
    expect(status).toBe('ACTIVE');
    for (const method of ['WALLET_SIGNATURE', 'LIVENESS']) {
      expect(told(await challenge(`/platform/external-accounts/${id}`, method))).toBe(`409 CONFLICT ${reason}`);
    }
    expect(told(await verify(`/platform/external-accounts/${id}`, '0x00'))).toBe(`409 CONFLICT ${reason}`);
  });
});

test('every change of the status is announced with the account as it then is, a restart is not', async () => {
  const wallet = newWallet();
  const body = {
    currency: 'USDC',
    ownershipType: 'FIRST_PARTY',
    accountInfo: { accountType: 'POLYGON_WALLET', address: wallet.address },
  };
  const { id } = (await call('post', '/platform/external-accounts', body)).body;
  const path = `/platform/external-accounts/${id}`;
  await challenge(path);
  await verify(path, '0x00');
  const { messageToSign } = (await challenge(path)).body;
  const active = (await verify(path, wallet.sign(messageToSign))).body;
  const events = await receiver.about(id, 3);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['EXTERNAL_ACCOUNT.STATUS_UPDATED']));
  expect(events.map(({ data }) => data.status)).toEqual(['UNVERIFIED', 'PENDING_OWNERSHIP_VERIFICATION', 'ACTIVE']);
  for (const { data } of events) expectMatchesComponent(document, 'ExternalAccount', data);
  expect(events.at(-1)!.data).toEqual(active);
});

describe('what a token allows', () => {
  /** The platform's API with a token of these permissions. */
  async function apiWith(
    permissions: Permission[],
    environment: Environment = 'sandbox',
  ): Promise<TestPlatform['api']> {
    const [tokenId, clientId, secret] = [
      randomUUID(),
      randomBytes(16).toString('hex'),
      randomBytes(16).toString('hex'),
    ];
    const tenant = { ...platform.tenant, environment };
    const issue = new IssueToken({
      tokenId,
      ...tenant,
      name: 'limited',
      permissions,
      clientId: tokenId.replaceAll('-', ''),
      secretHash: secretHash(secret),
    });
    const envelope = { commandId: clientId, correlationId: clientId, actor: 'test', tenant };
    await platform.engine.writePath.execute(token, issue, envelope);
    return (method, path) =>
      supertest(platform.app.getHttpServer())[method](`/2025-10-13${path}`).auth(tokenId.replaceAll('-', ''), secret);
  }

  test('VIEW reads and writes nothing; TRANSACT does everything', async () => {
    const wallet = newWallet();
    const path = await addWallet(wallet);
    const view = await apiWith(['VIEW']);
    const body = { currency: 'USDC', accountInfo: { accountType: 'BASE_WALLET', address: newWallet().address } };
    const sandbox = `${path.replace('/customers', '/sandbox')}/liveness`;
    const refused = [
      await call('post', '/customers/external-accounts', body, view),
      await call('post', '/platform/external-accounts', body, view),
      await call('delete', path, undefined, view),
      await call('post', `${path}/challenge`, { method: 'LIVENESS' }, view),
      await call('post', `${path}/verify`, { signature: '0x00' }, view),
      await call('post', sandbox, { outcome: 'COMPLETED' }, view),
    ].map(({ status, body: { code } }) => `${status} ${code}`);
    expect(refused).toEqual(Array(6).fill('403 FORBIDDEN'));
    expect((await call('get', path, undefined, view)).body.status).toBe('PENDING_OWNERSHIP_VERIFICATION');
    const transact = await apiWith(['TRANSACT']);
    expect((await call('post', '/customers/external-accounts', body, transact)).status).toBe(201);
    expect((await call('get', path, undefined, transact)).status).toBe(200);
    expect((await call('delete', path, undefined, transact)).status).toBe(204);
  });

  test('production has no providers of its own, and no sandbox', async () => {
    const production = await apiWith(['VIEW', 'TRANSACT', 'MANAGE'], 'production');
    const path = await addWallet(newWallet());
    const body = { currency: 'USD', accountInfo: accountExamples.USD_ACCOUNT };
    const added = await call('post', '/platform/external-accounts', body, production);
    expect([added.status, added.body.code, typeof added.body.details.provider]).toEqual([
      501,
      'NOT_IMPLEMENTED',
      'string',
    ]);
    expect((await call('get', '/platform/external-accounts', undefined, production)).body.data).toEqual([]);
    expect((await call('get', path, undefined, production)).status).toBe(404);
    const sandbox = `${path.replace('/customers', '/sandbox')}/liveness`;
    expect((await call('post', sandbox, { outcome: 'COMPLETED' }, production)).status).toBe(403);
  });
});
