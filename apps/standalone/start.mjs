/**
 * Does the set-up that a fresh clone lacks, then becomes the program: `node start.mjs`, or `node start.mjs <tool> [arguments]`.
 * The program runs in this very process, so that signals, exit code and `kill -9` are its own.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, checkNode, install, root } from './setup.mjs';

const PROGRAMS = {
  start: 'apps/standalone/main.js',
  demo: 'apps/standalone/demo.js',
  role: 'apps/main.js',
  ops: 'apps/ops/main.js',
  bench: 'test/bench/main.js',
  faults: 'test/faults/main.js',
  random: 'test/random/main.js',
};

checkNode();
const [first, ...rest] = process.argv.slice(2);
const name = first !== undefined && Object.hasOwn(PROGRAMS, first) ? first : 'start';
const given = name === first ? rest : process.argv.slice(2);
const args = given[0] === '--' ? given.slice(1) : given;
if (name === 'start' && args.length > 0) {
  quit(`There is no program called ${args[0]}. There are: ${Object.keys(PROGRAMS).join(', ')}.`);
}

process.chdir(root);
await install();
if (!(await build())) quit('The build failed; see above.');

const program = path.join(root, 'dist', PROGRAMS[name]);
if (!existsSync(program)) quit(`The build made no dist/${PROGRAMS[name]}: this version has no ${name} program.`);
process.argv = [process.execPath, program, ...args];
await import(pathToFileURL(program).href);

function quit(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
