import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeConfig, loadConfig, variableDocs } from './config.ts';

const KEY = Buffer.alloc(32, 0xfb);

/** The lines of the error, without its heading. */
function problems(env: NodeJS.ProcessEnv): string[] {
  try {
    loadConfig(env);
  } catch (error) {
    return (error as Error).message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  return [];
}

describe('loadConfig', () => {
  test('with nothing set is the embedded sandbox', () => {
    expect(loadConfig({})).toEqual({
      role: 'standalone',
      port: 3000,
      host: '127.0.0.1',
      dataDir: path.resolve('data'),
      databaseUrl: undefined,
      postgresPort: undefined,
      bootstrap: undefined,
      masterKey: undefined,
      sandboxTimeScale: 1,
      webhookAllowPrivateTargets: true,
      logLevel: 'info',
      eventStore: 'postgres',
      esdbUrl: undefined,
      feed: 'direct',
      kafka: undefined,
      projector: 'thread',
    });
  });

  test('takes every variable', () => {
    const config = loadConfig({
      ROLE: 'worker',
      PORT: '0',
      HOST: 'payments.internal',
      DATA_DIR: '/srv/ledgerline',
      DATABASE_URL: 'postgres://app:secret@db:5432/payments',
      POSTGRES_PORT: '6000',
      BOOTSTRAP_CLIENT_ID: 'client-id-of-sixteen',
      BOOTSTRAP_CLIENT_SECRET: 'secret: of sixteen ~',
      MASTER_KEY: KEY.toString('hex'),
      SANDBOX_TIME_SCALE: '.01',
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      LOG_LEVEL: 'silent',
      EVENT_STORE: 'eventstoredb',
      ESDB_URL: 'esdb+discover://app:secret@events.internal:2113?tlsCAFile=/ca.crt',
      FEED: 'kafka',
      KAFKA_BROKERS: 'kafka-1:9092, [::1]:9093',
      KAFKA_TOPIC: 'payments.events',
      KAFKA_PARTITIONS: '24',
      KAFKA_TLS: 'true',
      KAFKA_SASL: 'SCRAM-SHA-512:app:secret:with colon',
      PROJECTOR: 'inline',
    });
    expect(config).toEqual({
      role: 'worker',
      port: 0,
      host: 'payments.internal',
      dataDir: path.resolve('/srv/ledgerline'),
      databaseUrl: 'postgres://app:secret@db:5432/payments',
      postgresPort: 6000,
      bootstrap: { clientId: 'client-id-of-sixteen', clientSecret: 'secret: of sixteen ~' },
      masterKey: KEY,
      sandboxTimeScale: 0.01,
      webhookAllowPrivateTargets: true,
      logLevel: 'silent',
      eventStore: 'eventstoredb',
      esdbUrl: 'esdb+discover://app:secret@events.internal:2113?tlsCAFile=/ca.crt',
      feed: 'kafka',
      kafka: {
        brokers: ['kafka-1:9092', '[::1]:9093'],
        topic: 'payments.events',
        partitions: 24,
        tls: true,
        sasl: { mechanism: 'scram-sha-512', username: 'app', password: 'secret:with colon' },
      },
      projector: 'inline',
    });
  });

  test('takes an empty variable as not set', () => {
    const empty = Object.fromEntries(variableDocs.map(({ name }) => [name, '']));
    expect(loadConfig(empty)).toEqual(loadConfig({}));
  });

  test('names every wrong variable at once, and what is allowed', () => {
    const env = Object.fromEntries(variableDocs.map(({ name }) => [name, 'no / good']));
    expect(problems({ ...env, DATA_DIR: 'data' })).toEqual([
      'BOOTSTRAP_CLIENT_ID must be 16 to 128 printable ASCII characters without a colon, not "no / good"',
      'BOOTSTRAP_CLIENT_SECRET must be 16 to 128 printable ASCII characters',
      'HOST must be an IP address or a host name, not "no / good"',
      'DATABASE_URL must be a URL like postgres://user:password@host:5432/database',
      'WEBHOOK_ALLOW_PRIVATE_TARGETS must be true or false, not "no / good"',
      'ROLE must be standalone or api or relay or projector or worker or dispatcher, not "no / good"',
      'EVENT_STORE must be postgres or eventstoredb, not "no / good"',
      expect.stringMatching(
        /^ESDB_URL must be a connection string like esdb:\/\/user:password@host:2113\?tls=true, its options of tls, /,
      ),
      'FEED must be direct or kafka, not "no / good"',
      'KAFKA_BROKERS must be host:port, several with commas between, not "no / good"',
      'KAFKA_TOPIC must be at most 200 letters, digits, dots, dashes and underscores, not "no / good"',
      'KAFKA_PARTITIONS must be a whole number from 1 to 1000, not "no / good"',
      'KAFKA_TLS must be true or false, not "no / good"',
      'KAFKA_SASL must be mechanism:user:password, the mechanism being plain or scram-sha-256 or scram-sha-512',
      'PORT must be a whole number from 0 to 65535, not "no / good"',
      'POSTGRES_PORT must be a whole number from 1 to 65535, not "no / good"',
      'MASTER_KEY must be 32 bytes as base64 or as 64 hex digits',
      'SANDBOX_TIME_SCALE must be a number above 0, not "no / good"',
      'LOG_LEVEL must be fatal or error or warn or info or debug or trace or silent, not "no / good"',
      'PROJECTOR must be thread or inline, not "no / good"',
    ]);
  });

  test.each([
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '3000.5'],
    ['PORT', ' 3000'],
    ['POSTGRES_PORT', '0'],
    ['HOST', '999.0.0.1'],
    ['HOST', 'http://localhost'],
    ['DATABASE_URL', 'mysql://db/payments'],
    ['DATABASE_URL', 'postgres://db'],
    ['BOOTSTRAP_CLIENT_ID', 'fifteen-letters'],
    ['BOOTSTRAP_CLIENT_ID', 'with:colon-and-long-enough'],
    ['BOOTSTRAP_CLIENT_ID', 'line\nbreak-and-long-enough'],
    ['BOOTSTRAP_CLIENT_SECRET', 'x'.repeat(129)],
    ['MASTER_KEY', KEY.subarray(1).toString('base64')],
    ['MASTER_KEY', KEY.toString('hex').slice(1)],
    ['ESDB_URL', 'http://events:2113'],
    ['ESDB_URL', 'esdb://'],
    ['ESDB_URL', 'esdb://app:secret@'],
    ['ESDB_URL', 'esdb://events:2113?tls'],
    ['ESDB_URL', 'esdb://events:2113?tls=true&tlsVerifyCert=false'],
    ['ESDB_URL', 'esdb://events:2113?tls=true?tlsCAFile=/ca.crt'],
    ['KAFKA_BROKERS', 'kafka'],
    ['KAFKA_BROKERS', 'kafka:0'],
    ['KAFKA_BROKERS', 'kafka:9092,'],
    ['KAFKA_TOPIC', '..'],
    ['KAFKA_PARTITIONS', '0'],
    ['KAFKA_SASL', 'md5:app:secret'],
    ['KAFKA_SASL', 'plain:app'],
    ['SANDBOX_TIME_SCALE', '0'],
    ['SANDBOX_TIME_SCALE', '-1'],
    ['SANDBOX_TIME_SCALE', 'Infinity'],
    ['SANDBOX_TIME_SCALE', '1e999'],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', 'yes'],
  ])('refuses %s=%j', (name, text) => {
    const pair = { BOOTSTRAP_CLIENT_ID: 'x'.repeat(16), BOOTSTRAP_CLIENT_SECRET: 'x'.repeat(16) };
    expect(problems({ ...pair, [name]: text })).toEqual([expect.stringMatching(`^${name} must be `)]);
  });

  test('asks for a connection string where events are in EventStoreDB', () => {
    expect(problems({ EVENT_STORE: 'eventstoredb' })).toEqual(['ESDB_URL must be set with EVENT_STORE=eventstoredb']);
    expect(loadConfig({ ESDB_URL: 'esdb://a:2113,b:2113?tls=false' }).esdbUrl).toBeUndefined();
  });

  test('asks for brokers where the feed is Kafka', () => {
    expect(problems({ FEED: 'kafka' })).toEqual(['KAFKA_BROKERS must be set with FEED=kafka']);
  });

  test.each(['BOOTSTRAP_CLIENT_ID', 'BOOTSTRAP_CLIENT_SECRET'])('refuses %s alone', (name) => {
    expect(problems({ [name]: 'x'.repeat(16) })).toEqual([
      'BOOTSTRAP_CLIENT_ID and BOOTSTRAP_CLIENT_SECRET must be set together or not at all',
    ]);
  });

  test('a part that runs on its own needs what it shares with the others', () => {
    const missing = (role: string) => [
      `DATABASE_URL must be set for the ${role}, the same for every part of the platform`,
      `MASTER_KEY must be set for the ${role}, the same for every part of the platform`,
    ];
    expect(problems({ ROLE: 'projector' })).toEqual(missing('projector'));
    const shared = { DATABASE_URL: 'postgres://db/payments', MASTER_KEY: KEY.toString('hex') };
    expect(loadConfig(shared, 'api')).toMatchObject({ role: 'api', databaseUrl: shared.DATABASE_URL, masterKey: KEY });
    expect(loadConfig({ ...shared, ROLE: 'worker' }, 'api').role).toBe('api');
    expect(() => loadConfig({ ROLE: 'king' }, 'standalone')).toThrow(/^ {2}ROLE must be .*, not "king"$/m);
    expect(problems({ DATABASE_URL: 'nonsense', ROLE: 'relay' })).toEqual([
      'DATABASE_URL must be a URL like postgres://user:password@host:5432/database',
      missing('relay')[1],
    ]);
  });

  test.each([
    ['hex', KEY.toString('hex')],
    ['hex in capitals', KEY.toString('hex').toUpperCase()],
    ['base64', KEY.toString('base64')],
    ['base64url', KEY.toString('base64url')],
  ])('reads a MASTER_KEY in %s', (_, text) => {
    expect(loadConfig({ MASTER_KEY: text }).masterKey).toEqual(KEY);
  });

  test.each<[NodeJS.ProcessEnv, boolean]>([
    [{}, true],
    [{ HOST: 'localhost' }, true],
    [{ HOST: '127.1.2.3' }, true],
    [{ HOST: '::1' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '127.example.com' }, false],
    [{ DATABASE_URL: 'postgres://db/payments' }, false],
    [{ WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false' }, false],
    [{ WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true', HOST: '0.0.0.0' }, true],
  ])('private webhook targets with %j: %s', (env, allowed) => {
    expect(loadConfig(env).webhookAllowPrivateTargets).toBe(allowed);
  });
});

test('describeConfig shows every variable and no secret', () => {
  const env = {
    DATABASE_URL: 'postgres://app:hidden-1@db:5432/payments?password=hidden-2',
    BOOTSTRAP_CLIENT_ID: 'client-id-of-sixteen',
    BOOTSTRAP_CLIENT_SECRET: 'hidden-3-of-sixteen',
    MASTER_KEY: KEY.toString('hex'),
    EVENT_STORE: 'eventstoredb',
    ESDB_URL: 'esdb://app:hidden-5@a:2113,b:2113?tls=true',
    FEED: 'kafka',
    KAFKA_BROKERS: 'kafka:9092',
    KAFKA_SASL: 'plain:app:hidden-4',
  };
  const shown = describeConfig(loadConfig(env));
  expect(Object.keys(shown)).toEqual(variableDocs.map(({ name }) => name));
  expect(shown).toMatchObject({
    PORT: '3000',
    DATABASE_URL: 'postgres://app:***@db:5432/payments',
    POSTGRES_PORT: '(a free port, picked at the first start and kept in `DATA_DIR`)',
    BOOTSTRAP_CLIENT_ID: 'client-id-of-sixteen',
    BOOTSTRAP_CLIENT_SECRET: '***',
    MASTER_KEY: '***',
    ESDB_URL: 'esdb://***@a:2113,b:2113?tls=true',
    KAFKA_BROKERS: 'kafka:9092',
    KAFKA_SASL: '***',
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false',
  });
  expect(JSON.stringify(shown)).not.toMatch(/hidden|fbfb/);
});

const readme = path.join(import.meta.dirname, '../../README.md');
const hasReadme = existsSync(readme);
if (!hasReadme) console.info('skipped: there is no README.md to hold against the variables');

(hasReadme ? test : test.skip)('the README documents every variable, in this order', () => {
  const rows = readFileSync(readme, 'utf8')
    .split('\n')
    .filter((line) => /^\| `[A-Z_]+` \|/.test(line));
  expect(rows).toEqual(variableDocs.map(({ name, default: text, about }) => `| \`${name}\` | ${text} | ${about} |`));
});
