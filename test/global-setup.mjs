import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PREFIX = 'ledgerline-test-postgres-';

/** The servers that all test files of a run share: PostgreSQL, and a Kafka broker where the engine of the run needs one. */
export default async function setUp() {
  const tearDowns = [preparePostgres()];
  const tearDown = async () => {
    for (const one of tearDowns) await (await one.catch(() => {}))?.();
  };
  globalThis.tearDownServers = tearDown;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    process.once(signal, () => tearDown().finally(() => process.exit(code)));
  }
  if (process.env.TEST_ENGINE?.endsWith('-kafka')) tearDowns.push(startKafka());
  await Promise.all(tearDowns);
}

/** One broker (test/kafka/broker.ts); every test platform has a topic of its own. With TEST_KAFKA_BROKERS set, those are used. */
async function startKafka() {
  if (process.env.TEST_KAFKA_BROKERS) return;
  await import('./ts-loader.mjs');
  const [{ fetchKafka }, { KafkaCluster }] = await Promise.all([
    import('./kafka/fetch.ts'),
    import('./kafka/broker.ts'),
  ]);
  const fetched = await fetchKafka();
  if ('reason' in fetched) throw new Error(`TEST_ENGINE=${process.env.TEST_ENGINE} needs a broker: ${fetched.reason}`);
  const cluster = await KafkaCluster.start(fetched.jars);
  process.env.TEST_KAFKA_BROKERS = cluster.brokers.join(',');
  return () => cluster.stop();
}

/**
 * One PostgreSQL, started when the first test file asks for a database (test/database.ts): unit tests do not wait for it. With
 * TEST_POSTGRES_URL set, that server is used.
 */
async function preparePostgres() {
  if (process.env.TEST_POSTGRES_URL) return;
  let postgres;
  const start = () => {
    postgres ??= startPostgres();
    return postgres;
  };
  const server = createServer(async (_request, response) => {
    response.setHeader('connection', 'close'); // one that is kept would end after five seconds, just when the next file asks
    try {
      response.end((await start()).url);
    } catch (error) {
      response.writeHead(500).end(error.message);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  process.env.TEST_POSTGRES_BROKER = `http://127.0.0.1:${server.address().port}`;

  return async () => {
    server.close();
    await postgres?.then((started) => started.remove()).catch(() => {});
  };
}

async function startPostgres() {
  await removeAbandoned();
  await import('./ts-loader.mjs');
  const { startEmbeddedPostgres } = await import('../libs/adapters/postgres/embedded.ts');
  const dataDir = await mkdtemp(path.join(tmpdir(), PREFIX));
  await writeFile(path.join(dataDir, 'runner.pid'), String(process.pid));
  const { url, stop } = await startEmbeddedPostgres({ dataDir, durable: false, log: () => {} });
  const remove = async () => {
    await stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const overTcp = new URL(url); // as to a server elsewhere: tests put gates before it
  overTcp.search = '';
  return { url: overTcp.href, remove };
}

/** What a killed run left behind: its PostgreSQL and its folder. */
async function removeAbandoned() {
  for (const name of (await readdir(tmpdir())).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = path.join(tmpdir(), name);
    const read = (file) => readFile(path.join(folder, file), 'utf8').catch(() => '');
    const runner = Number((await read('runner.pid')).trim());
    if (!runner || isAlive(runner)) continue;
    const server = Number((await read('postgres/postmaster.pid')).split('\n')[0]);
    const command = server ? await readFile(`/proc/${server}/cmdline`, 'utf8').catch(() => '') : '';
    if (command.includes('cluster_name=ledgerline-')) process.kill(server, 'SIGQUIT');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
