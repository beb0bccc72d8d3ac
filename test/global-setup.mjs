import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

const PREFIX = 'ledgerline-test-postgres-';

/**
 * One PostgreSQL for the whole run, started when the first test file asks for a database (test/database.ts): unit tests do not
 * wait for it. With TEST_POSTGRES_URL set, that server is used.
 */
export default async function setUp() {
  if (process.env.TEST_POSTGRES_URL) return;
  let postgres;
  const start = () => {
    postgres ??= startPostgres();
    return postgres;
  };
  const server = createServer(async (_request, response) => {
    try {
      response.end((await start()).url);
    } catch (error) {
      response.writeHead(500).end(error.message);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  process.env.TEST_POSTGRES_BROKER = `http://127.0.0.1:${server.address().port}`;

  const tearDown = async () => {
    server.close();
    await postgres?.then((started) => started.remove()).catch(() => {});
  };
  globalThis.tearDownPostgres = tearDown;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    process.once(signal, () => tearDown().finally(() => process.exit(code)));
  }
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
  return { url, remove };
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
