import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Beside this file, or from `dist/test/kafka`. */
const POM = path.join(import.meta.dirname, import.meta.url.endsWith('.ts') ? '' : '../../../test/kafka', 'pom.xml');
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'ledgerline-kafka');
const FETCH_MS = 240_000;
/** Without a network every test file would wait for it again: for so long a failure is believed. */
const FAILURE_COUNTS_MS = 600_000;
const JAVA = 17;

/** Where the jars are, or why a real broker cannot run here. */
export type FetchedKafka = { jars: string } | { reason: string };

/**
 * Has Maven fetch what `pom.xml` names into the user's cache folder, once; several test files may ask at the same time.
 * `TEST_KAFKA=off` leaves these tests out.
 */
export async function fetchKafka(): Promise<FetchedKafka> {
  if (process.env.TEST_KAFKA === 'off') return { reason: 'TEST_KAFKA is off' };
  const missing = await missingProgram();
  if (missing) return { reason: missing };
  const pom = await readFile(POM);
  const name = createHash('sha256').update(pom).digest('hex').slice(0, 12);
  const jars = path.join(CACHE, name);
  await mkdir(CACHE, { recursive: true });
  const lock = `${jars}.lock`;
  const failure = `${jars}.failed`;
  for (;;) {
    if (existsSync(jars)) return { jars };
    const reason = await recentFailure(failure);
    if (reason) return { reason };
    if (await locked(lock)) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  try {
    if (!existsSync(jars)) await fetchInto(jars);
    return { jars };
  } catch (error) {
    const reason = `Maven could not fetch Kafka: ${firstComplaint(error)}`;
    await writeFile(failure, reason);
    return { reason };
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function fetchInto(jars: string): Promise<void> {
  const fresh = `${jars}.${process.pid}`;
  const goal = 'dependency:copy-dependencies';
  const args = ['-q', '-B', '-f', POM, goal, `-DoutputDirectory=${fresh}`, '-DincludeScope=runtime'];
  try {
    await run('mvn', args, { timeout: FETCH_MS, killSignal: 'SIGKILL', maxBuffer: 16 << 20 });
    await rename(fresh, jars);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function missingProgram(): Promise<string | undefined> {
  const versionOf = (program: string, flag: string) =>
    run(program, [flag], { timeout: 60_000 }).then(
      ({ stdout, stderr }) => stdout + stderr,
      () => undefined,
    );
  const java = await versionOf('java', '-version');
  if (!java) return 'there is no Java to run Kafka with';
  const major = Number(/version "(\d+)/.exec(java)?.[1]);
  if (!(major >= JAVA)) return `Kafka needs Java ${JAVA} or newer, here is ${major}`;
  if (!(await versionOf('mvn', '-v'))) return 'there is no Maven to fetch Kafka with';
  return undefined;
}

async function recentFailure(file: string): Promise<string | undefined> {
  const { mtimeMs } = (await stat(file).catch(() => undefined)) ?? {};
  if (mtimeMs === undefined || Date.now() - mtimeMs > FAILURE_COUNTS_MS) return undefined;
  return readFile(file, 'utf8');
}

/** One fetches, the others wait; a lock whose owner was killed counts no more after the time a fetch may take. */
async function locked(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    const { mtimeMs } = (await stat(lock).catch(() => undefined)) ?? {};
    if (mtimeMs !== undefined && Date.now() - mtimeMs > FETCH_MS + 10_000)
      await rm(lock, { recursive: true, force: true });
    return false;
  }
}

function firstComplaint(error: unknown): string {
  const { stdout = '', killed, message } = error as Error & { stdout?: string; killed?: boolean };
  if (killed) return `it took longer than ${FETCH_MS / 1000} s`;
  const line = stdout.split('\n').find((one) => one.startsWith('[ERROR]'));
  return (line ?? message.split('\n')[0]!).replace('[ERROR] ', '').slice(0, 300);
}
