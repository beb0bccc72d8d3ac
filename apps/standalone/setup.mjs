import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const inRoot = (...names) => path.join(root, ...names);
const say = (line) => process.stderr.write(`${line}\n`);
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** What tsc compiles, see tsconfig.build.json. */
const SOURCES = [
  'apps',
  'libs',
  'projections',
  'migrations',
  'test/bench',
  'test/faults',
  'test/random',
  'test/roles',
  'test/kafka',
  'test/eventstoredb',
];
const FILES = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'test/openapi-validator.ts'];
const STAMP = inRoot('dist', '.built');

/** Ends the program, with a reason, on a Node that is too old. */
export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  say(`Ledgerline needs Node 20.19 or newer; this is Node ${process.versions.node} (${process.execPath}).`);
  process.exit(1);
}

/** Installs the dependencies unless node_modules holds what package-lock.json asks for. */
export async function install() {
  if (isInstalled()) return;
  await alone(() => {
    if (isInstalled()) return;
    say('Installing dependencies (npm ci) …');
    const npm = process.env.npm_execpath;
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
    const ended = npm?.endsWith('.js')
      ? run(process.execPath, [npm, ...args])
      : run('npm', args, { shell: process.platform === 'win32' });
    if (ended.status !== 0) fail('npm ci failed.', ended);
  });
}

function isInstalled() {
  const lock = inRoot('package-lock.json');
  const installedLock = inRoot('node_modules', '.package-lock.json');
  if (!existsSync(installedLock)) return false;
  if (statSync(installedLock).mtimeMs >= statSync(lock).mtimeMs) return true;
  const installed = readJson(installedLock).packages;
  return Object.entries(readJson(lock).packages).every(([name, wanted]) => {
    if (name === '') return true;
    const found = installed[name];
    return found ? found.version === wanted.version : Boolean(wanted.optional || wanted.devOptional);
  });
}

/** Compiles the program unless dist was made from exactly these sources. Answers whether dist is up to date now. */
export async function build() {
  if (isBuilt()) return true;
  return alone(() => {
    if (isBuilt()) return true;
    say('Building …');
    const signature = sourceSignature();
    rmSync(STAMP, { force: true });
    if (!existsSync(inRoot('dist', 'apps'))) rmSync(inRoot('dist', '.tsbuildinfo'), { force: true });
    const ended = run(process.execPath, [inRoot('node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json']);
    if (ended.status !== 0) return false;
    removeOrphans(inRoot('dist'));
    writeFileSync(STAMP, signature);
    return true;
  });
}

const isBuilt = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourceSignature();

/** Changes when a source is changed, added or taken away. */
function sourceSignature() {
  const hash = createHash('sha256');
  const add = (file) => {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${path.relative(root, file)} ${mtimeMs} ${size}\n`);
  };
  for (const name of FILES) add(inRoot(name));
  for (const folder of SOURCES.map((name) => inRoot(name))) {
    if (existsSync(folder)) walk(folder, (file) => /(?<!\.spec|\.examples)\.(ts|json)$/.test(file) && add(file));
  }
  return hash.digest('hex');
}

/** A compiled file whose source is gone would still be found by whoever lists its folder. */
function removeOrphans(dist) {
  walk(dist, (file) => {
    const source = path.relative(dist, file).replace(/\.js(\.map)?$/, '.ts');
    if (source.endsWith('.ts') && !existsSync(inRoot(source))) rmSync(file);
  });
}

function walk(folder, visit) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) walk(file, visit);
    else visit(file);
  }
}

/** One command at a time sets up this folder: `npm start` and `npm test` may be typed together on a fresh clone. */
async function alone(work) {
  const user = process.getuid?.() ?? '';
  const lock = path.join(
    tmpdir(),
    `ledgerline-setup-${user}-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`,
  );
  for (let waited = 0; !take(lock); waited += 1) {
    if (waited === 10) say(`Waiting for another command that sets up ${root} (${lock}) …`);
    await sleep(200);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!holderLives(lock)) rmSync(lock, { force: true });
  return false;
}

function holderLives(lock) {
  try {
    const text = readFileSync(lock, 'utf8');
    if (text === '') return Date.now() - statSync(lock).mtimeMs < 5_000;
    process.kill(Number(text), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Output goes to standard error: standard output belongs to the program that is started afterwards. */
function run(program, args, options = {}) {
  return spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
}

function fail(message, { error, signal }) {
  say(error ? `${message} ${error.message}` : message);
  process.exit(signal ? 130 : 1);
}
