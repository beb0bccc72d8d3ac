import { isIP } from 'node:net';
import path from 'node:path';

/** What a program may be: one part of the platform, or all of them in one process. */
export const ROLES = ['standalone', 'api', 'relay', 'projector', 'worker', 'dispatcher'] as const;
export type Role = (typeof ROLES)[number];

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
/**
 * The client of EventStoreDB would print the whole string, password included, for the sake of an option that it does not know. Of those
 * it knows, one has no effect and one would have it keep conflicts to itself; they are not among these.
 */
const ESDB_OPTIONS = [
  ...['tls', 'tlsCAFile', 'userCertFile', 'userKeyFile', 'connectionName', 'nodePreference', 'defaultDeadline'],
  ...['maxDiscoverAttempts', 'discoveryInterval', 'gossipTimeout', 'keepAliveInterval', 'keepAliveTimeout'],
];
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Everything that can be configured, checked and in the form the program uses. */
export interface Config {
  role: Role;
  port: number;
  host: string;
  /** Absolute. */
  dataDir: string;
  /** Absent: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined;
  /** Port of the embedded PostgreSQL; absent: a free one, picked once and kept in `dataDir`. */
  postgresPort: number | undefined;
  /** Absent: generated once and kept in `dataDir`. */
  bootstrap: { clientId: string; clientSecret: string } | undefined;
  /** 32 bytes; absent: generated once and kept in `dataDir`. */
  masterKey: Buffer | undefined;
  /** Sandbox delays and expiries are multiplied by it. */
  sandboxTimeScale: number;
  webhookAllowPrivateTargets: boolean;
  logLevel: (typeof LOG_LEVELS)[number];
  eventStore: 'postgres' | 'eventstoredb';
  /** Connection string; present when the event store is EventStoreDB. */
  esdbUrl: string | undefined;
  feed: 'direct' | 'kafka';
  /** Present when the feed is Kafka. */
  kafka: KafkaConfig | undefined;
  projector: 'thread' | 'inline';
}

export interface KafkaConfig {
  /** `host:port` each. */
  brokers: string[];
  topic: string;
  partitions: number;
  tls: boolean;
  sasl: { mechanism: (typeof SASL_MECHANISMS)[number]; username: string; password: string } | undefined;
}

interface Variable<T> {
  /** What a value must be, as the end of "must be …". */
  allowed: string;
  /** The value, or undefined when the text is not allowed. */
  read(text: string): T | undefined;
  /** The text that counts when the variable is not set. */
  default?: string;
  /** What happens without a value, where there is no default text. */
  absent?: string;
  /** What it does, for the README. */
  about: string;
  secret?: true;
}

const variable = <T>(definition: Variable<T>): Variable<T> => definition;

const oneOf = <const T extends readonly string[]>(values: T) => ({
  allowed: values.join(' or '),
  read: (text: string): T[number] | undefined => values.find((value) => value === text),
});

const wholeNumber = (min: number, max: number) => ({
  allowed: `a whole number from ${min} to ${max}`,
  read: (text: string) =>
    /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
});

const matching = (pattern: RegExp, allowed: string) => ({
  allowed,
  read: (text: string) => (pattern.test(text) ? text : undefined),
});

/** Every variable, in the order of the README's table. An empty one counts as not set. */
const variables = {
  ROLE: variable({
    ...oneOf(ROLES),
    default: 'standalone',
    about: 'Which part of the platform the container image runs; all of them in one process by default.',
  }),
  PORT: variable({ ...wholeNumber(0, 65_535), default: '3000', about: 'Port of the API; 0 takes any free one.' }),
  HOST: variable({
    allowed: 'an IP address or a host name',
    read: readHost,
    default: '127.0.0.1',
    about: 'Address the API listens on; `0.0.0.0` for all.',
  }),
  DATA_DIR: variable({
    allowed: 'a folder',
    read: (text) => path.resolve(text),
    default: './data',
    about: 'Folder of the embedded PostgreSQL, of the keys and of the logs. Relative to the project folder.',
  }),
  DATABASE_URL: variable({
    allowed: 'a URL like postgres://user:password@host:5432/database',
    read: readDatabaseUrl,
    absent: 'the embedded PostgreSQL in `DATA_DIR`',
    about: 'PostgreSQL server to use.',
    secret: true,
  }),
  POSTGRES_PORT: variable({
    ...wholeNumber(1, 65_535),
    absent: 'a free port, picked at the first start and kept in `DATA_DIR`',
    about: 'Port of the embedded PostgreSQL on 127.0.0.1.',
  }),
  BOOTSTRAP_CLIENT_ID: variable({
    ...matching(/^[\x20-\x39\x3b-\x7e]{16,128}$/, '16 to 128 printable ASCII characters without a colon'),
    absent: 'generated once and kept in `DATA_DIR/keys`',
    about: 'Client id of the first API token; together with its secret.',
  }),
  BOOTSTRAP_CLIENT_SECRET: variable({
    ...matching(/^[\x20-\x7e]{16,128}$/, '16 to 128 printable ASCII characters'),
    absent: 'generated once and kept in `DATA_DIR/keys`',
    about: 'Secret of the first API token; together with its client id.',
    secret: true,
  }),
  MASTER_KEY: variable({
    allowed: '32 bytes as base64 or as 64 hex digits',
    read: readMasterKey,
    absent: 'generated once and kept in `DATA_DIR/keys`',
    about: 'Key that encrypts the keys of personal data. Stored personal data cannot be read without it.',
    secret: true,
  }),
  SANDBOX_TIME_SCALE: variable({
    allowed: 'a number above 0',
    read: readScale,
    default: '1',
    about: 'Multiplies the delays and expiries of the sandbox: `0.01` turns 30 s into 0.3 s.',
  }),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: variable({
    ...oneOf(['true', 'false']),
    absent: '`true` with the embedded PostgreSQL and a loopback `HOST`, else `false`',
    about: 'Whether webhooks may go to private and loopback addresses.',
  }),
  LOG_LEVEL: variable({ ...oneOf(LOG_LEVELS), default: 'info', about: 'The least severe log lines that are written.' }),
  EVENT_STORE: variable({
    ...oneOf(['postgres', 'eventstoredb']),
    default: 'postgres',
    about: 'Where events are stored. PostgreSQL keeps everything else in either case.',
  }),
  ESDB_URL: variable({
    allowed: `a connection string like esdb://user:password@host:2113?tls=true, its options of ${ESDB_OPTIONS.join(', ')}`,
    read: readEsdbUrl,
    absent: 'must be set with `EVENT_STORE=eventstoredb`',
    about: 'EventStoreDB to use, 22.6 or newer; nodes, login and TLS are all in its connection string.',
    secret: true,
  }),
  FEED: variable({
    ...oneOf(['direct', 'kafka']),
    default: 'direct',
    about: 'How events reach the read models: from the event store, or through a relay and a Kafka topic.',
  }),
  KAFKA_BROKERS: variable({
    allowed: 'host:port, several with commas between',
    read: readBrokers,
    absent: 'must be set with `FEED=kafka`',
    about: 'Brokers to begin with, like `kafka-1:9092,kafka-2:9092`.',
  }),
  KAFKA_TOPIC: variable({
    ...matching(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/, 'at most 200 letters, digits, dots, dashes and underscores'),
    default: 'ledgerline.events',
    about: 'Topic of the events; made when it is missing.',
  }),
  KAFKA_PARTITIONS: variable({
    ...wholeNumber(1, 1_000),
    default: '12',
    about: 'Partitions of the topic, fixed for its life; a topic with another number is refused.',
  }),
  KAFKA_TLS: variable({
    ...oneOf(['true', 'false']),
    default: 'false',
    about:
      'Whether connections to brokers are encrypted. `NODE_EXTRA_CA_CERTS` names certificates of your own authority.',
  }),
  KAFKA_SASL: variable({
    allowed: `mechanism:user:password, the mechanism being ${SASL_MECHANISMS.join(' or ')}`,
    read: readSasl,
    absent: 'no login',
    about: 'Login at the brokers, like `scram-sha-512:ledgerline:secret`.',
    secret: true,
  }),
  PROJECTOR: variable({
    ...oneOf(['thread', 'inline']),
    default: 'thread',
    about: 'Whether the projector works in a thread of its own or beside the requests.',
  }),
};

type Name = keyof typeof variables;
type Value<N extends Name> = Exclude<ReturnType<(typeof variables)[N]['read']>, undefined>;

/** A row of the README's table. */
export interface VariableDoc {
  name: string;
  default: string;
  about: string;
}

/** The variables as the README documents them. */
export const variableDocs: readonly VariableDoc[] = entries().map(([name, { default: text, absent, about }]) => ({
  name,
  default: text === undefined ? (absent ?? '') : `\`${text}\``,
  about,
}));

/**
 * The configuration of an environment; `asked` counts instead of `ROLE`, which is checked all the same. A part that runs on its own shares its database and its key
 * with the others, so it must be given both.
 * @throws one error that names every variable with a value that is not allowed, and says what is; secrets are not repeated.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env, asked?: Role): Config {
  const problems: string[] = [];
  const textOf = (name: Name) => env[name] || variables[name].default;
  const value = <N extends Name>(name: N): Value<N> | undefined => {
    const text = textOf(name);
    if (text === undefined) return undefined;
    const { allowed, read, secret }: Variable<unknown> = variables[name];
    const found = read(text) as Value<N> | undefined;
    if (found === undefined)
      problems.push(`${name} must be ${allowed}${secret ? '' : `, not ${JSON.stringify(text)}`}`);
    return found;
  };
  const withDefault = <N extends Name>(name: N) => value(name) as Value<N>;

  const clientId = value('BOOTSTRAP_CLIENT_ID');
  const clientSecret = value('BOOTSTRAP_CLIENT_SECRET');
  if (Boolean(textOf('BOOTSTRAP_CLIENT_ID')) !== Boolean(textOf('BOOTSTRAP_CLIENT_SECRET'))) {
    problems.push('BOOTSTRAP_CLIENT_ID and BOOTSTRAP_CLIENT_SECRET must be set together or not at all');
  }
  const host = withDefault('HOST');
  const databaseUrl = value('DATABASE_URL');
  const allowPrivateTargets = value('WEBHOOK_ALLOW_PRIVATE_TARGETS');
  const named = withDefault('ROLE');
  const role = asked ?? named;
  for (const name of ['DATABASE_URL', 'MASTER_KEY'] as const) {
    if (role && role !== 'standalone' && !textOf(name))
      problems.push(`${name} must be set for the ${role}, the same for every part of the platform`);
  }
  const eventStore = withDefault('EVENT_STORE');
  const esdbUrl = value('ESDB_URL');
  if (eventStore === 'eventstoredb' && !textOf('ESDB_URL'))
    problems.push('ESDB_URL must be set with EVENT_STORE=eventstoredb');
  const feed = withDefault('FEED');
  const kafka = {
    brokers: value('KAFKA_BROKERS') ?? [],
    topic: withDefault('KAFKA_TOPIC'),
    partitions: withDefault('KAFKA_PARTITIONS'),
    tls: value('KAFKA_TLS') === 'true',
    sasl: value('KAFKA_SASL'),
  };
  if (feed === 'kafka' && !textOf('KAFKA_BROKERS')) problems.push('KAFKA_BROKERS must be set with FEED=kafka');
  const config: Config = {
    role,
    port: withDefault('PORT'),
    host,
    dataDir: withDefault('DATA_DIR'),
    databaseUrl,
    postgresPort: value('POSTGRES_PORT'),
    bootstrap: clientId && clientSecret ? { clientId, clientSecret } : undefined,
    masterKey: value('MASTER_KEY'),
    sandboxTimeScale: withDefault('SANDBOX_TIME_SCALE'),
    webhookAllowPrivateTargets: allowPrivateTargets
      ? allowPrivateTargets === 'true'
      : databaseUrl === undefined && isLoopback(host),
    logLevel: withDefault('LOG_LEVEL'),
    eventStore,
    esdbUrl: eventStore === 'eventstoredb' ? esdbUrl : undefined,
    feed,
    kafka: feed === 'kafka' ? kafka : undefined,
    projector: withDefault('PROJECTOR'),
  };
  if (problems.length > 0)
    throw new Error(`The configuration is wrong:\n${problems.map((line) => `  ${line}`).join('\n')}`);
  return config;
}

/** The configuration by the names of the variables, for people to read: no secret in it, `undefined` as what happens instead. */
export function describeConfig(config: Config): Record<string, string> {
  const values: Record<Name, string | undefined> = {
    ROLE: config.role,
    PORT: String(config.port),
    HOST: config.host,
    DATA_DIR: config.dataDir,
    DATABASE_URL: config.databaseUrl && withoutPassword(config.databaseUrl),
    POSTGRES_PORT: config.postgresPort?.toString(),
    BOOTSTRAP_CLIENT_ID: config.bootstrap?.clientId,
    BOOTSTRAP_CLIENT_SECRET: config.bootstrap && '***',
    MASTER_KEY: config.masterKey && '***',
    SANDBOX_TIME_SCALE: String(config.sandboxTimeScale),
    WEBHOOK_ALLOW_PRIVATE_TARGETS: String(config.webhookAllowPrivateTargets),
    LOG_LEVEL: config.logLevel,
    EVENT_STORE: config.eventStore,
    ESDB_URL: config.esdbUrl?.replace(/\/\/.*@/, '//***@'),
    FEED: config.feed,
    KAFKA_BROKERS: config.kafka?.brokers.join(','),
    KAFKA_TOPIC: config.kafka?.topic,
    KAFKA_PARTITIONS: config.kafka?.partitions.toString(),
    KAFKA_TLS: config.kafka?.tls.toString(),
    KAFKA_SASL: config.kafka?.sasl && '***',
    PROJECTOR: config.projector,
  };
  return Object.fromEntries(entries().map(([name, { absent }]) => [name, values[name] ?? `(${absent ?? 'not used'})`]));
}

function entries(): [Name, Variable<unknown>][] {
  return Object.entries(variables) as [Name, Variable<unknown>][];
}

function readHost(text: string): string | undefined {
  const label = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
  const name = new RegExp(`^(?=.{1,253}$)(?!.*(^|\\.)\\d+$)${label}(\\.${label})*$`, 'i');
  return isIP(text) !== 0 || name.test(text) ? text : undefined;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function readDatabaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, pathname } = new URL(text);
  return /^postgres(ql)?:$/.test(protocol) && pathname.length > 1 ? text : undefined;
}

function readEsdbUrl(text: string): string | undefined {
  const parts = /^esdb(?:\+discover)?:\/\/(?:[^@/?#\s]+@)?[^@/?#\s]+\/?(?:\?([^?\s]*))?$/.exec(text);
  const options = parts?.[1]?.split('&') ?? [];
  const isKnown = (option: string) => ESDB_OPTIONS.some((name) => option.startsWith(`${name}=`));
  return parts && options.every(isKnown) ? text : undefined;
}

/** A password may also stand in the parameters, as may the secrets of a client certificate: all parameters are left out. */
function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  if (url.password) url.password = '***';
  url.search = '';
  return url.href;
}

function readMasterKey(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^([A-Za-z0-9+/]{43}|[A-Za-z0-9_-]{43})=?$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function readBrokers(text: string): string[] | undefined {
  const brokers = text.split(',').map((one) => one.trim());
  const isBroker = (one: string) => {
    const [, host = '', port] = /^(.+):(\d{1,5})$/.exec(one) ?? [];
    return readHost(host.replace(/^\[(.*)\]$/, '$1')) !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
  };
  return brokers.every(isBroker) ? brokers : undefined;
}

function readSasl(text: string): KafkaConfig['sasl'] {
  const [, name, username, password] = /^([^:]+):([^:]+):(.+)$/.exec(text) ?? [];
  const mechanism = SASL_MECHANISMS.find((one) => one === name?.toLowerCase());
  return mechanism && username && password ? { mechanism, username, password } : undefined;
}

function readScale(text: string): number | undefined {
  const scale = /^\d*\.?\d+(e-?\d+)?$/i.test(text) ? Number(text) : 0;
  return scale > 0 && Number.isFinite(scale) ? scale : undefined;
}
