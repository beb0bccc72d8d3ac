/** `npm test -- [jest's arguments]`: does the set-up that a fresh clone lacks, then runs jest. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { build, checkNode, install, root } from '../apps/standalone/setup.mjs';

checkNode();
process.chdir(root);
const args = process.argv.slice(2);
await install();
if (!(await build())) {
  if (args.length === 0) process.exit(1);
  process.stderr.write('The build failed; tests that start the built program use the last one.\n');
}

const jest = spawn(process.execPath, [path.join(root, 'node_modules/jest/bin/jest.js'), ...args], {
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --no-warnings`.trim(),
  },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // Ctrl-C reaches jest by itself; the others are handed on. Either way jest tidies up first.
  process.on(signal, () => signal !== 'SIGINT' && jest.kill(signal));
}
jest.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
