import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { run } from './cli.ts';
import { MASKED } from './inspect.ts';
import { amount } from './output.ts';

let platform: TestPlatform;
let activity: Activity;
beforeAll(async () => {
  platform = await startTestPlatform();
  activity = await someActivity(platform);
});
afterAll(() => platform.stop());

class Text extends Writable {
  text = '';
  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

async function ops(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const stdout = new Text();
  const stderr = new Text();
  const code = await run(args, { stdout, stderr, connect: (work) => work(platform.engine) });
  return { code, out: stdout.text, err: stderr.text };
}

async function json(...args: string[]) {
  const { code, out } = await ops(...args, '--json');
  expect(code).toBe(0);
  return JSON.parse(out);
}

describe('the command line', () => {
  test('answers 2 when it cannot be understood, 1 when there is nothing, 0 for help', async () => {
    expect(await ops('verfiy')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('verify') });
    expect(await ops('platform', 'create')).toMatchObject({ code: 2, err: expect.stringContaining('--name') });
    expect(await ops('platform', 'create', '--name', 'x', '--environment', 'moon')).toMatchObject({ code: 2 });
    expect(await ops('rebuild')).toMatchObject({ code: 2, err: 'error: name read models, or give --all\n' });
    expect(await ops('rebuild', 'moon')).toMatchObject({ code: 2, err: 'error: there is no read model moon\n' });
    expect(await ops('rebuild', 'tokens', '--all')).toMatchObject({ code: 2 });
    const unknown = 'Customer:00000000-0000-4000-8000-000000000000';
    expect(await ops('inspect', unknown)).toEqual({ code: 1, out: '', err: `Nothing is recorded about ${unknown}.\n` });
    expect(await ops('--help')).toMatchObject({ code: 0, out: expect.stringContaining('trial-balance') });
  });

  test('makes a platform whose credentials work, and lists it', async () => {
    const made = await json('platform', 'create', '--name', 'Acme', '--regulated', '--require-terms');
    expect(made).toMatchObject({
      name: 'Acme',
      environment: 'sandbox',
      webhookSecret: expect.stringMatching(/^whsec_/),
    });
    const answer = await platform.api('get', '/config').auth(made.clientId, made.clientSecret);
    expect(answer.status).toBe(200);
    const listed = await json('platform', 'list');
    expect(listed.find((one: { platform: string }) => one.platform === made.platform)).toMatchObject({
      name: 'Acme',
      settings: {
        isRegulatedFinancialInstitution: true,
        skipVerificationPaperwork: false,
        requireApprovedCustomers: false,
        requireEndUserTerms: true,
      },
    });
    expect(JSON.stringify(listed)).not.toContain('whsec_');
  });

  test('verifies: 0 and every check by name, 1 and what is wrong', async () => {
    const fine = await ops('verify');
    expect(fine.code).toBe(0);
    expect(fine.out.match(/^ok {6}.+$/gm)).toHaveLength(8);
    await platform.engine.pool.query(`UPDATE tokens SET status = 'REVOKED'`);
    const wrong = await ops('verify');
    await json('rebuild', 'tokens');
    expect(wrong.code).toBe(1);
    expect(wrong.out).toMatch(/^FAILED {2}read models: 2$/m);
    expect(wrong.out).toMatch(/status is REVOKED, a replay gives ACTIVE/);
    expect((await ops('verify')).code).toBe(0);
  });

  test('shows a trial balance that is zero in every currency', async () => {
    const { lines, totals, isBalanced } = await json('trial-balance');
    expect([totals, isBalanced]).toEqual([{ EUR: '0', USD: '0' }, true]);
    expect(lines).toContainEqual({
      account: 'platforms',
      currency: 'USD',
      inMinor: '75000',
      outMinor: '10000',
      balanceMinor: '65000',
    });
    expect((await ops('trial-balance')).out).toMatch(/^platforms +750\.00 USD +100\.00 USD +650\.00 USD$/m);
  });

  test('inspects a resource by its public id, its uuid or its stream', async () => {
    const uuid = activity.completed.slice('Transaction:'.length);
    const [stream] = await json('inspect', activity.completed);
    expect(stream.stream).toBe(`payment-${uuid}`);
    expect(await json('inspect', uuid)).toEqual([stream]);
    expect(await json('inspect', `payment-${uuid}`)).toEqual([stream]);
    const [first] = stream.events;
    expect(first).toMatchObject({ revision: 0, type: 'PaymentQuoted', before: { status: 'PENDING' } });
    const last = stream.events.at(-1);
    expect(last).toMatchObject({ type: 'PaymentCompleted', after: { status: 'COMPLETED', phase: 'DONE' } });
    expect(last.before).toEqual(stream.events.at(-2).after);
    expect(last.changed).toEqual(expect.arrayContaining(['status', 'phase']));
    const { out } = await ops('inspect', activity.completed);
    expect(out).toMatch(/^ {2}\* status = "COMPLETED" {3}\(was "P/m);
  });

  test('masks personal data and secrets unless they are asked for', async () => {
    const tenantId = `${platform.tenant.platform}.sandbox`;
    const masked = await ops('inspect', `Platform:${platform.tenant.platform}`, '--json');
    expect(masked.out).not.toContain('whsec_');
    const [created] = JSON.parse(masked.out)[0].events;
    expect(created).toMatchObject({ type: 'PlatformCreated', data: { tenantId, webhookSecret: MASKED } });
    const [revealed] = await json('inspect', `platform-${tenantId}`, '--reveal');
    expect(revealed.events[0].data.webhookSecret).toMatch(/^whsec_/);
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

  expect(await ops('erase', 'Customer:x')).toMatchObject({ code: 1, err: expect.stringMatching(/^USER_NOT_FOUND: /) });
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

test('amounts are told in major units', () => {
  expect(amount(-1_234_567n, 'USD')).toBe('-12,345.67 USD');
  expect(amount(5n, 'USD')).toBe('0.05 USD');
  expect(amount(1_500n, 'JPY')).toBe('1,500 JPY');
  expect(amount(9_007_199_254_740_993n, 'BTC')).toBe('90,071,992.54740993 BTC');
});
