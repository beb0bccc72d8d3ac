import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Deposit } from '../../../libs/domain/accounts/account.events.ts';
import { account, ReceiveDeposit } from '../../../libs/domain/accounts/account.ts';
import { createLogger } from '../../../libs/runtime/http/index.ts';
import { projections } from '../../../projections/index.ts';
import { someActivity } from '../../../test/activity.ts';
import { freshDatabase, type TestDatabase } from '../../../test/database.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { createPlatform, platformAccountId } from '../../shared/provision.ts';
import { alone } from './alone.ts';
import { whileProjecting } from './connection.ts';
import { doctorIn, opsOn, runOps } from './ops.examples.ts';
import { verify } from './verify.ts';

const person = { customerType: 'INDIVIDUAL', fullName: 'Amina Diallo', email: 'amina@example.com' };
const masterKey = randomBytes(32);
const logger = createLogger({ level: 'error' });

let platform: TestPlatform;
let customer: string;
let folder: string;
beforeAll(async () => {
  platform = await startTestPlatform({ masterKey });
  folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-export-'));
  await platform.api('patch', '/config').send({ webhookEndpoint: 'http://127.0.0.1:9/' }).expect(200);
  const { body } = await platform
    .api('post', '/customers')
    .send({ ...person, currencies: ['USD'] })
    .expect(201);
  customer = body.id;
  await someActivity(platform);
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const { ops, json } = opsOn(() => platform);
const file = (name: string) => path.join(folder, name);
const logOf = async (engine: Engine) => (await engine.store.readAll(0, 10_000)).events;
const linesOf = (text: string) => text.trimEnd().split('\n');

describe('export', () => {
  test('gives every event as it is stored, in order, and says what it is and that it is whole', async () => {
    const stored = await logOf(platform.engine);
    const { code, out, err } = await ops('export');
    expect([code, err]).toEqual([0, '']);
    const lines = linesOf(out);
    expect(JSON.parse(lines[0]!)).toEqual({ ledgerline: 'export', version: 1, upTo: stored.length, isWhole: true });
    expect(lines.slice(1, -1).map((line) => JSON.parse(line))).toEqual(stored);
    const sha256 = createHash('sha256')
      .update(
        lines
          .slice(1, -1)
          .map((line) => `${line}\n`)
          .join(''),
      )
      .digest('hex');
    expect(JSON.parse(lines.at(-1)!)).toEqual({ end: { events: stored.length, sha256 } });
    expect(out).not.toMatch(/Amina|amina@|whsec_/);
  });

  test('of a part: by position, by time, by type', async () => {
    const stored = await logOf(platform.engine);
    const exported = async (...args: string[]) =>
      linesOf((await ops('export', ...args)).out).map((line) => JSON.parse(line));
    const [header, ...events] = await exported('--from', '3', '--to', '5');
    expect(header).toEqual({
      ledgerline: 'export',
      version: 1,
      upTo: stored.length,
      isWhole: false,
      from: '3',
      to: '5',
    });
    expect(events.map(({ position }) => position)).toEqual([3, 4, 5, undefined]);
    const opened = await exported('--type', 'AccountOpened,TokenIssued');
    expect(new Set(opened.slice(1, -1).map(({ type }) => type))).toEqual(new Set(['AccountOpened', 'TokenIssued']));
    expect((await exported('--to', '2000-01-01')).slice(1)).toEqual([
      { end: { events: 0, sha256: expect.any(String) } },
    ]);
    expect((await exported('--from', '2000-01-01')).length).toBe(stored.length + 2);
  });

  test('of a customer: what names it and what follows there', async () => {
    const { out } = await ops('export', '--customer', customer);
    const events = linesOf(out)
      .slice(1, -1)
      .map((line) => JSON.parse(line));
    const categories = events.map(({ stream }) => stream.slice(0, stream.indexOf('-')));
    expect(categories).toEqual(['claim', 'claim', 'customer', 'account', 'customer']);
    expect(await ops('export', '--customer', 'Amina')).toMatchObject({ code: 2, out: '' });
  });

  test('shows personal data when asked to, beside what is stored, and records that first', async () => {
    const before = await platform.engine.store.head();
    const { out } = await ops('export', '--reveal', '--by', 'auditor@desk', '--customer', customer, '--from', '1');
    const created = linesOf(out)
      .map((line) => JSON.parse(line))
      .find(({ type }) => type === 'CustomerCreated');
    expect(created.revealed.profile).toEqual({ fullName: 'Amina Diallo', email: 'amina@example.com' });
    expect(created.payload).not.toContain('Amina');
    expect(JSON.parse(linesOf(out)[0]!)).toMatchObject({ upTo: before, isRevealed: true, customer: customer.slice(9) });
    const { events } = await platform.engine.store.readAll(before, 10);
    expect(events.map(({ type, payload }) => [type, JSON.parse(payload)])).toEqual([
      [
        'PersonalDataRevealed',
        {
          operationId: expect.any(String),
          by: 'auditor@desk',
          command: 'export',
          upTo: before,
          from: '1',
          customerId: customer.slice(9),
        },
      ],
    ]);
  });

  test('refuses an option that says nothing, such as a variable of a script that is not set', async () => {
    const before = await platform.engine.store.head();
    for (const option of ['--customer', '--type', '--output', '--from', '--to', '--by']) {
      expect(await ops('export', '--reveal', option, '')).toMatchObject({ code: 2, out: '' });
    }
    expect(await ops('inspect', customer, '--reveal', '--by', ' ')).toMatchObject({ code: 2, out: '' });
    expect(await platform.engine.store.head()).toBe(before);
  });

  test('into a file that only its owner reads; it goes on where it was interrupted', async () => {
    const whole = file('whole.ndjson');
    const made = await json('export', '--output', whole);
    const text = readFileSync(whole, 'utf8');
    expect(made).toEqual({ file: whole, ...JSON.parse(linesOf(text).at(-1)!).end });
    expect(statSync(whole).mode & 0o777).toBe(0o600);
    expect(await ops('export', '--output', whole)).toMatchObject({ code: 1, err: `${whole} is there already.\n` });

    const cut = file('cut.ndjson');
    const secondLine = text.indexOf('\n', text.indexOf('\n') + 1);
    for (const length of [0, 10, secondLine, secondLine + 1, text.length / 2, text.length]) {
      writeFileSync(`${cut}.part`, text.slice(0, length));
      expect((await ops('export', '--output', cut)).code).toBe(0);
      expect(readFileSync(cut, 'utf8')).toBe(text);
      expect(existsSync(`${cut}.part`)).toBe(false);
      rmSync(cut);
    }

    const foreign = file('foreign.ndjson');
    const beyond = text.replace(/"upTo":\d+/, '"upTo":1000000');
    const another = text.replace('"type":"AccountOpened"', '"type":"AccountClosed"');
    for (const cutOff of [beyond, another.slice(0, another.indexOf('\n', another.indexOf('AccountClosed')) + 1)]) {
      writeFileSync(`${foreign}.part`, cutOff);
      expect(await ops('export', '--output', foreign)).toMatchObject({
        code: 1,
        err: 'The unfinished file is of another log, or of this one before it was restored: delete it.\n',
      });
      expect(existsSync(foreign)).toBe(false);
    }

    const other = file('other.ndjson');
    writeFileSync(`${other}.part`, text.slice(0, text.length / 2));
    expect(await ops('export', '--from', '2', '--output', other)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The unfinished file is of another export/),
    });
  });
});

test('is alone with its file: two at once would both write into it, and one would call it whole', async () => {
  const twice = file('twice.ndjson');
  const refused = await alone(platform.engine, `export ${twice}`, 'never', () => ops('export', '--output', twice));
  expect(refused).toEqual({ code: 1, out: '', err: `Another export into ${twice} is under way.\n` });
  expect([existsSync(twice), existsSync(`${twice}.part`)]).toEqual([false, false]);
  expect((await ops('export', '--output', twice)).code).toBe(0);
});

test('is not whole when the disk is full in the middle of its last line', async () => {
  const child = fileURLToPath(new URL('full-disk.examples.ts', import.meta.url));
  const loader = fileURLToPath(new URL('../../../test/ts-loader.mjs', import.meta.url));
  const target = file('full.ndjson');
  const limited = `trap '' XFSZ; ulimit -f 1; exec "$0" --import "$@"`; // 512 bytes
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, loader, child, target], { env });
  expect(stdout).toBe('EFBIG');
  expect([existsSync(target), statSync(`${target}.part`).size]).toEqual([false, 512]);
});

describe('import', () => {
  let database: TestDatabase;
  let engine: Engine;
  let whole: string;
  beforeAll(async () => {
    whole = (await ops('export')).out;
    writeFileSync(file('log.ndjson'), whole);
  });
  beforeEach(async () => {
    database = await freshDatabase();
    engine = await openEngine({ databaseUrl: database.url, masterKey, logger });
  });
  afterEach(async () => {
    await engine.close();
    await database.drop();
  });

  /** Up to where webhooks are taken to be sent. */
  const deliveriesFrom = async ({ pool }: Engine) =>
    (await pool.query(`SELECT position FROM checkpoints WHERE name = 'deliveries'`)).rows;

  const into = (args: readonly string[], input?: string) => runOps(args, { connect: (work) => work(engine) }, input);

  test('brings a log into an empty store exactly as it was; with its keys everything is there again, and nothing is sent', async () => {
    const stored = await logOf(platform.engine);
    expect(await into(['import', file('log.ndjson')])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The keys of personal data are not there/),
    });
    const keys = await ops('keys', 'export');
    expect(keys.code).toBe(0);
    expect(await into(['keys', 'import', '-'], keys.out)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+ keys\n$/),
    });
    expect(await into(['import', file('log.ndjson')])).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`^${stored.length} events in .* the log ends at ${stored.length}\n`)),
    });
    expect(await logOf(engine)).toEqual(stored);
    const { rows } = await engine.pool.query('SELECT count(*)::int AS sent FROM webhooks');
    expect(rows).toEqual([{ sent: 0 }]);
    expect(await verify(engine, projections)).toMatchObject({ findings: [], unprojected: 0, events: stored.length });
    const read = await into(['inspect', customer, '--reveal']);
    expect(read.out).toContain('Amina Diallo');
    const timers = async (on: Engine) =>
      (await on.pool.query('SELECT stream, process, due_at FROM timers ORDER BY 1')).rows;
    expect(await timers(engine)).toEqual(await timers(platform.engine));
  });

  test('what happens after an import is announced', async () => {
    await into(['import', '-', '--without-keys'], whole);
    const head = await engine.store.head();
    await whileProjecting(engine, async () => {
      const { tenant } = platform;
      const accountId = platformAccountId(tenant, 'USD');
      const { data } = await engine.codec
        .decode(await engine.store.readStream(`account-${accountId}`, -1))
        .then((events) => events.find(({ type }) => type === 'DepositReceived')!);
      const deposit = new ReceiveDeposit({ ...(data as Deposit), paymentId: randomUUID() });
      const commandId = randomUUID();
      await engine.writePath.execute(account, deposit, { commandId, correlationId: commandId, actor: 'test', tenant });
    });
    const { rows } = await engine.pool.query('SELECT DISTINCT position::int FROM webhooks');
    expect(rows).toEqual([{ position: head + 1 }]);
  });

  test('refuses a store that is not empty, and goes on with an import that was interrupted', async () => {
    const cut = linesOf(whole).slice(0, 12).join('\n');
    expect(await into(['import', '-', '--without-keys'], cut)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The export has no end/),
    });
    const { code: unwell, of } = await doctorIn({ DATABASE_URL: database.url, MASTER_KEY: masterKey.toString('hex') });
    expect([unwell, of('event store').at(-1)]).toEqual([1, expect.stringMatching(/^fail an import has not come to/)]);
    const there = await logOf(engine);
    expect(await into(['import', '-'], whole)).toMatchObject({
      code: 1,
      err: 'The event store is not empty. An import that was interrupted goes on with --resume.\n',
    });
    expect(await logOf(engine)).toEqual(there);
    const { code, out } = await into(['import', file('log.ndjson'), '--resume', '--without-keys', '--json']);
    expect([code, JSON.parse(out).resumed]).toEqual([0, there.length]);
    expect(await logOf(engine)).toEqual(
      await logOf(platform.engine).then((all) => all.slice(0, linesOf(whole).length - 2)),
    );
  });

  test('leaves the webhooks of a platform alone that it refuses to go on with', async () => {
    await createPlatform(engine, platform.tenant, { name: 'At work' });
    expect(await into(['import', file('log.ndjson'), '--resume'])).toMatchObject({
      code: 1,
      err: 'The store holds something else than this export, from position 1 on.\n',
    });
    expect(await deliveriesFrom(engine)).toEqual([]);
  });

  test('is one at a time: one that comes too late would hold back the webhooks of what happens from then on', async () => {
    const late = new Readable({ read() {} });
    const coming = runOps(['import', '-', '--without-keys'], { connect: (work) => work(engine), stdin: late });
    await eventually(isImporting, (is) => is);
    const other = await into(['import', '-', '--without-keys'], whole);
    expect(other).toMatchObject({ code: 1, err: 'Another import is under way on this database.\n' });
    late.push(whole);
    late.push(null);
    expect((await coming).code).toBe(0);
    expect(await deliveriesFrom(engine)).toEqual([{ position: String(await engine.store.head()) }]);
  });

  /** Whether an import has begun that is alone. */
  async function isImporting(): Promise<boolean> {
    const { rowCount } = await engine.pool.query(
      `SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE l.locktype = 'advisory' AND a.application_name = 'ledgerline-ops' AND a.datname = current_database()`,
    );
    return rowCount === 1;
  }

  test('brings nothing in from a file that is damaged, of another kind, of a part, or has no end', async () => {
    const lines = linesOf(whole);
    const bad: [string, string, RegExp][] = [
      [
        'damaged',
        whole.replace('"amountMinor\\":\\"50000\\"', '"amountMinor\\":\\"50001\\"'),
        /^The export is damaged/,
      ],
      ['cut', lines.slice(0, -1).join('\n'), /^The export has no end/],
      ['foreign', `{"hello":1}\n${lines.slice(1).join('\n')}`, /^This is no export of Ledgerline/],
      ['broken', `${lines[0]}\n{"position":`, /^Line 2 is no JSON/],
      ['newer', whole.replace('"version":1', '"version":2'), /^The export is of version 2/],
    ];
    for (const [name, text, expected] of bad) {
      expect(text).not.toBe(whole);
      writeFileSync(file(name), text);
      expect(await into(['import', file(name), '--without-keys'])).toMatchObject({
        code: 1,
        err: expect.stringMatching(expected),
      });
    }
    const part = (await ops('export', '--from', '3')).out;
    expect(await into(['import', '-', '--without-keys'], part)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^This is an export of a part/),
    });
    expect(await engine.store.head()).toBe(0);
    expect(await deliveriesFrom(engine)).toEqual([]);
    expect(await into(['import', file('nowhere'), '--without-keys'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/ENOENT/),
    });
  });

  test('says that the folder of its file is not there', async () => {
    expect(await ops('export', '--output', file('nope/x.ndjson'))).toEqual({
      code: 1,
      out: '',
      err: `${file('nope/x.ndjson')}.part cannot be written: there is no such folder.\n`,
    });
  });

  test('refuses a type of event that there is not, and names those that there are', async () => {
    const { code, out, err } = await ops('export', '--type', 'DepositReceived,Bogus');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/ There is no type Bogus\. There are: AccountClosed, .*\bDepositReceived\b/);
  });

  test('says which line of the keys was cut off', async () => {
    const keys = (await ops('keys', 'export')).out;
    expect(await into(['keys', 'import', '-'], keys.slice(0, -20))).toEqual({
      code: 1,
      out: '',
      err: `Line ${linesOf(keys).length} is no key: the file is damaged, or was cut off.\n`,
    });
  });

  test('keys of another master key are refused, and an erasure is never taken back', async () => {
    const other = await openEngine({ databaseUrl: database.url, masterKey: randomBytes(32), logger });
    const keys = (await ops('keys', 'export')).out;
    const refused = await runOps(['keys', 'import', '-'], { connect: (work) => work(other) }, keys);
    await other.close();
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^These keys were wrapped by another master key/),
    });
    expect((await engine.pool.query('SELECT 1 FROM subject_keys')).rowCount).toBe(0);
    await engine.keys.destroy(customer.slice(9));
    expect((await into(['keys', 'import', '-'], keys)).code).toBe(0);
    expect((await engine.keys.find([customer.slice(9)])).size).toBe(0);
    const erased = (await into(['keys', 'export'])).out;
    expect(linesOf(erased).map((line) => JSON.parse(line))).toContainEqual({
      subject: customer.slice(9),
      erasedAt: expect.any(String),
    });
  });
});
