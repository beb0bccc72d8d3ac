import { spawn } from 'node:child_process';
import path from 'node:path';
import { expect, jest, test } from '@jest/globals';

const ROOT = path.join(import.meta.dirname, '../..');

jest.setTimeout(300_000); // a whole program, and everything it can do

/** Runs the demo as a process of its own, from source. */
async function demo(...args: string[]): Promise<{ code: number | null; told: string }> {
  const loader = path.join(ROOT, 'test/ts-loader.mjs');
  const child = spawn(process.execPath, ['--import', loader, path.join(ROOT, 'apps/standalone/demo.ts'), ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let told = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      told += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, told };
}

test('the whole story is told, ends with a trial balance of zero, and is plain where there is no terminal', async () => {
  const { code, told } = await demo();
  expect({ code, wrong: /✗.*/.exec(told)?.[0] }).toEqual({ code: 0, wrong: undefined });
  const chapters = [...told.matchAll(/^\d+\. (.*)$/gm)].map(([, title]) => title);
  expect(chapters).toEqual([
    'A platform, and where its webhooks go',
    'Two customers; their accounts appear with them',
    'Money comes in',
    'A quote that nobody executes',
    'From customer to customer, dollars to euros',
    'Out to a bank account',
    'A payment that fails, and its refund',
    'A payment that is refused',
    'The quote of chapter 4 has expired',
    'Where the money is',
    'What the platform was told',
    'How it came about: the events of the payment to the bank',
    'The trial balance',
  ]);
  expect(told.match(/^ +sum +-?[\d.,]+ \w+$/gm)?.map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
    'sum 0.00 EUR',
    'sum 0.00 USD',
  ]);
  expect(told).not.toContain('\u001b');
});

test('a platform that cannot be reached, or credentials that are missing, end it with 1', async () => {
  const unreachable = await demo('--url', 'http://127.0.0.1:1', '--client-id', 'x', '--client-secret', 'y');
  expect(unreachable.code).toBe(1);
  const nobody = await demo('--url', 'http://127.0.0.1:1');
  expect(nobody).toEqual({ code: 1, told: expect.stringContaining('--url needs --client-id and --client-secret') });
});
