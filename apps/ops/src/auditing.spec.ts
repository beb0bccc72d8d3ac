import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Activity, someActivity } from '../../../test/activity.ts';
import { startTestPlatform, type TestPlatform } from '../../../test/platform.ts';
import { opsOn } from './ops.examples.ts';

/** The commands of docs/auditing.md, as they stand there. */
const document = readFileSync(new URL('../../../docs/auditing.md', import.meta.url), 'utf8');
const commands = [...document.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block]) => block!.trim().split('\n'))
  .map((line) => line.replace(/^npm run -s ops -- /, ''));

let platform: TestPlatform;
let activity: Activity;
let customer: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'ledgerline-auditing-'));
  platform = await startTestPlatform();
  const person = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  customer = (await platform.api('post', '/customers').send(person).expect(201)).body.id;
  activity = await someActivity(platform);
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const { ops } = opsOn(() => platform);

/** The words of a command line, with ids that exist here, and moments that lie after what happened here. */
function wordsOf(command: string): string[] {
  const words = command.match(/'[^']*'|\S+/g)!.map((word) => word.replace(/^'|'$/g, ''));
  const ids: Readonly<Record<string, string>> = {
    'InternalAccount:0195…': activity.usd,
    'Transaction:0195…': activity.completed,
    'Customer:0195…': customer,
    'log.ndjson': path.join(folder, 'log.ndjson'),
  };
  return words.map((word) => ids[word] ?? word.replace(/^2026-11-(22|30)/, '2999-11-$1'));
}

test('the document has commands', () => {
  expect(commands.length).toBeGreaterThan(10);
});

test.each(commands)('%s', async (command) => {
  const { code, out, err } = await ops(...wordsOf(command));
  expect([code, err]).toEqual([0, '']);
  expect(out.length).toBeGreaterThan(20);
});
