import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { runOps } from './ops.examples.ts';
import { stateMachines } from './spec.ts';

const domain = fileURLToPath(new URL('../../../libs/domain', import.meta.url));

test('every transition table of the domain is printed', () => {
  const files = readdirSync(domain, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!spec)\.ts$/.test(file),
  );
  const tables = files.flatMap((file) => readFileSync(path.join(domain, file), 'utf8').match(/= transitions</g) ?? []);
  expect(stateMachines.length).toBe(tables.length);
});

test('prints Markdown, a row per line of the tables, refusals included; no database is needed', async () => {
  const { code, out, err } = await runOps(['spec'], {
    config: () => {
      throw new Error('no configuration is needed');
    },
  });
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(
    [
      '## API token',
      '',
      '| in | command | becomes | event |',
      '|---|---|---|---|',
      '| NONE | IssueToken | ACTIVE | TokenIssued |',
      '| ACTIVE, REVOKED | IssueToken | refused: `CONFLICT` (TOKEN_EXISTS) |  |',
      '| ACTIVE | RevokeToken | REVOKED | TokenRevoked |',
      '',
      'Everything else is refused: `TOKEN_NOT_FOUND`.',
    ].join('\n'),
  );
  expect(out.match(/^## /gm)).toHaveLength(stateMachines.length);
});

test('prints JSON', async () => {
  const { out } = await runOps(['spec', '--json'], {});
  expect(JSON.parse(out)[1]).toEqual({
    name: 'API token',
    states: ['NONE', 'ACTIVE', 'REVOKED'],
    transitions: [
      { from: ['NONE'], command: 'IssueToken', to: 'ACTIVE', event: 'TokenIssued' },
      { from: ['ACTIVE', 'REVOKED'], command: 'IssueToken', refusal: { code: 'CONFLICT', reason: 'TOKEN_EXISTS' } },
      { from: ['ACTIVE'], command: 'RevokeToken', to: 'REVOKED', event: 'TokenRevoked' },
    ],
    otherwise: { code: 'TOKEN_NOT_FOUND' },
  });
});
