import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withSuffix } from '../../../libs/domain/external-accounts/account.examples.ts';
import { primaryIdentifier } from '../../../libs/domain/external-accounts/account-types.ts';
import { loadConfig } from '../../../libs/runtime/config.ts';
import { FIRST_MIGRATION, pendingMigrations } from '../../../migrations/index.ts';
import { someActivity, untilProjected } from '../../../test/activity.ts';
import { freshDatabase } from '../../../test/database.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { MASKED } from './inspect.ts';
import { opsOn, runOps } from './ops.examples.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
  await someActivity(platform);
});
afterAll(() => platform.stop());

const { ops, json } = opsOn(() => platform);

describe('the command line', () => {
  test('answers 2 when it cannot be understood, 1 when there is nothing, 0 for help', async () => {
    expect(await ops('verfiy')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('verify') });
    expect(await ops('platform', 'create')).toMatchObject({ code: 2, err: expect.stringContaining('--name') });
    expect(await ops('platform', 'create', '--name', 'x', '--environment', 'moon')).toMatchObject({ code: 2 });
    expect(await ops('platform', 'create', '--name', ' ')).toMatchObject({
      code: 2,
      err: expect.stringContaining('It must not be empty.'),
    });
    expect(await ops('dead-letters', 'retry', 'abc')).toEqual({
      code: 2,
      out: '',
      err: 'abc is no webhook: give Webhook:<uuid>.\n',
    });
    expect(await ops('rebuild')).toMatchObject({ code: 2, err: 'error: name read models, or give --all\n' });
    expect(await ops('rebuild', 'moon')).toMatchObject({ code: 2, err: 'error: there is no read model moon\n' });
    expect(await ops('rebuild', 'tokens', '--all')).toMatchObject({ code: 2 });
    expect(await ops('rebuild', 'tokens', '--skip', '3,x')).toMatchObject({ code: 2, out: '' });
    expect(await ops('verify', '--show', 'all')).toMatchObject({ code: 2, out: '' });
    const unknown = 'Customer:00000000-0000-4000-8000-000000000000';
    expect(await ops('inspect', unknown)).toEqual({ code: 1, out: '', err: `Nothing is recorded about ${unknown}.\n` });
    expect(await ops('--help')).toMatchObject({ code: 0, out: expect.stringContaining('trial-balance') });
  });

  test.each(['spec', 'keys export', 'export', 'trial-balance --json'])(
    'says that the disk is full which its output goes to: %s',
    async (line) => {
      const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      const stdout = new Writable({ write: (_chunk, _encoding, done) => done(full) });
      const { code, err } = await runOps(line.split(' '), {
        stdout,
        connect: (work) => work(platform.engine),
      });
      expect([code, err]).toEqual([1, 'The output could not be written: ENOSPC: no space left on device, write\n']);
    },
  );

  test.each([
    ['status'],
    ['verify'],
    ['balance', 'transit:USD'],
    ['export'],
    ['keys', 'export'],
    ['platform', 'list'],
    ['rebuild', '--all'],
    ['redeliver', 'Webhook:00000000-0000-4000-8000-000000000000'],
    ['erase', 'Customer:00000000-0000-4000-8000-000000000000'],
  ])('refuses a folder where there is no data, and makes nothing there: %s %s', async (...args) => {
    const folder = path.join(tmpdir(), 'ledgerline-not-there');
    expect(await runOps(args, { config: () => loadConfig({ DATA_DIR: folder }) })).toEqual({
      code: 1,
      out: '',
      err: `There is no data in ${folder}: check DATA_DIR.\n`,
    });
    expect(existsSync(folder)).toBe(false);
  });

  test('refuses a database where there is no data, and makes nothing there: an audit of it would find nothing wrong', async () => {
    const wrong = await freshDatabase();
    const config = () => loadConfig({ DATABASE_URL: wrong.url, MASTER_KEY: 'b'.repeat(64), DATA_DIR: '/not/there' });
    const refused = {
      code: 1,
      out: '',
      err: 'There is no data in this database: check DATABASE_URL. `ops migrate` makes the tables of a new deployment.\n',
    };
    for (const command of ['verify', 'trial-balance', 'status'])
      expect(await runOps([command], { config })).toEqual(refused);
    expect(await pendingMigrations(wrong.url)).toContain(FIRST_MIGRATION);
    expect((await runOps(['migrate'], { config })).code).toBe(0);
    expect((await runOps(['verify'], { config })).code).toBe(0);
    await wrong.drop();
  });

  test('makes a platform whose credentials work in both environments, and lists it', async () => {
    const made = await json('platform', 'create', '--name', 'Acme', '--regulated', '--require-terms');
    expect(made).toEqual({
      platform: expect.any(String),
      name: 'Acme',
      environments: ['sandbox', 'production'].map((environment) => ({
        environment,
        clientId: expect.stringMatching(/^[0-9a-f]{32}$/),
        clientSecret: expect.stringMatching(/^[0-9a-f]{64}$/),
        webhookSecret: expect.stringMatching(/^whsec_/),
      })),
    });
    for (const { clientId, clientSecret } of made.environments) {
      const answer = await platform.api('get', '/config').auth(clientId, clientSecret);
      expect(answer.status).toBe(200);
    }
    const listed = await json('platform', 'list');
    const mine = listed.filter((one: { platform: string }) => one.platform === made.platform);
    const settings = {
      isRegulatedFinancialInstitution: true,
      skipVerificationPaperwork: false,
      requireApprovedCustomers: false,
      requireEndUserTerms: true,
    };
    expect(mine).toMatchObject([
      { name: 'Acme', environment: 'sandbox', settings },
      { name: 'Acme', environment: 'production', settings },
    ]);
    expect(JSON.stringify(listed)).not.toContain('whsec_');
    const one = await json('platform', 'create', '--name', 'One', '--environment', 'production');
    expect(one.environments.map((each: { environment: string }) => each.environment)).toEqual(['production']);
  });

  test('does nothing with another master key than the one of the deployment: read models would stop at what it writes', async () => {
    const { url, store } = platform.engine;
    const before = await store.head();
    const env = { DATABASE_URL: url, MASTER_KEY: 'f'.repeat(64), DATA_DIR: path.join(tmpdir(), 'ledgerline-nowhere') };
    const config = () => loadConfig(env);
    for (const command of [
      ['platform', 'create', '--name', 'Acme'],
      ['verify'],
      ['trigger', 'INCOMING_PAYMENT.COMPLETED'],
    ]) {
      expect(await runOps(command, { config })).toEqual({
        code: 1,
        out: '',
        err: 'MASTER_KEY is not the key that the personal data in this database is encrypted with.\n',
      });
    }
    expect(await store.head()).toBe(before);
  });

  test('verifies: 0 and every check by name, 1 and what is wrong', async () => {
    const fine = await ops('verify');
    expect(fine.code).toBe(0);
    expect(fine.out.match(/^ok {6}.+$/gm)).toHaveLength(10);
    await platform.engine.pool.query(`UPDATE tokens SET status = 'REVOKED'`);
    const wrong = await ops('verify');
    await json('rebuild', 'tokens');
    expect(wrong.code).toBe(1);
    expect(wrong.out).toMatch(/^FAILED {2}read models: 4$/m);
    expect(wrong.out).toMatch(/status is REVOKED, a replay gives ACTIVE/);
    expect((await ops('verify')).code).toBe(0);
  });

  test('shows nobody what stands in a wrong row about people', async () => {
    const person = { customerType: 'INDIVIDUAL', fullName: 'DIALLO', email: 'amina@example.com' };
    const { body } = await platform.api('post', '/customers').send(person).expect(201);
    const accountInfo = withSuffix('USD_ACCOUNT', '790');
    await platform.api('post', '/platform/external-accounts').send({ currency: 'USD', accountInfo }).expect(201);
    await untilProjected(platform);
    const accountNumber = primaryIdentifier(accountInfo);
    const spoil = async () => {
      await platform.engine.pool.query(`UPDATE customers SET state = replace(state, 'DIALLO', 'JONES') WHERE id = $1`, [
        body.id.slice('Customer:'.length),
      ]);
      const digits = `UPDATE external_accounts SET state = replace(state, $1, '987654321')`;
      await platform.engine.pool.query(digits, [accountNumber]);
    };
    await spoil();
    const printed = [await ops('verify'), await ops('verify', '--json')];
    printed.push(await ops('rebuild', 'customers', 'external_accounts'));
    await spoil();
    printed.push(await ops('rebuild', 'customers', 'external_accounts', '--json'));
    expect(printed.map(({ code }) => code)).toEqual([1, 1, 0, 0]);
    for (const { out } of printed) {
      expect(out).toContain('state.profile.fullName');
      expect(out).toContain('state.accountInfo.accountNumber');
      expect(out).not.toMatch(new RegExp(`DIALLO|JONES|${accountNumber}|987654321`));
    }
  });
});

test('erases a customer once it is deleted; before that its data is masked, after it is gone and everything still adds up', async () => {
  const person = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', email: 'amina@example.com' };
  const { body } = await platform.api('post', '/customers').send(person).expect(201);
  const masked = await ops('inspect', body.id);
  expect(masked.code).toBe(0);
  expect(masked.out).toContain(MASKED);
  expect(masked.out).not.toMatch(/Amina|amina@/);
  expect((await ops('inspect', body.id, '--reveal')).out).toContain('Amina Diallo');

  expect(await ops('erase', 'Customer:x')).toEqual({
    code: 2,
    out: '',
    err: 'Customer:x is no customer: give Customer:<uuid>.\n',
  });
  expect(await ops('erase', 'Customer:00000000-0000-4000-8000-000000000000')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^USER_NOT_FOUND: /),
  });
  expect(await ops('erase', body.id)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^CONFLICT: .*NOT_DELETED/),
  });
  await platform.api('delete', `/customers/${body.id}`);
  expect(await ops('erase', body.id)).toMatchObject({ code: 0, err: '' });
  const after = await ops('inspect', body.id, '--reveal');
  expect(after.out).toContain('PersonErased');
  expect(after.out).not.toMatch(/Amina|amina@/);
  expect((await ops('verify')).out).not.toContain('FAILED');
});
