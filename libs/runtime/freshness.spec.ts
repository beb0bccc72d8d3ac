import { expect, test } from '@jest/globals';
import { MemoryEventStore } from '../adapters/memory/event-store.ts';
import { MemorySubjectKeys } from '../adapters/memory/subject-keys.ts';
import { IssueToken, RevokeToken, type TokenState, token } from '../domain/tokens/token.ts';
import type { Command } from '../kernel/messages.ts';
import { EventCodec } from './codec.ts';
import { WritePath } from './execute.ts';
import { Freshness } from './freshness.ts';

const tenant = { platform: 'p', environment: 'sandbox' } as const;

function processOn(store: MemoryEventStore) {
  const codec = new EventCodec([token], new MemorySubjectKeys());
  const writePath = new WritePath({ store, codec, clock: { nowMs: () => 0 }, writer: 'w', log: () => {} });
  const freshness = new Freshness(store, writePath, () => {});
  const send = (command: Command) =>
    writePath.execute(token, command, { commandId: command.type, correlationId: 'r', actor: 'test', tenant });
  const status = async () => (await writePath.state<TokenState>(token, 't')).state.status;
  return { freshness, send, status };
}

test('a token revoked in another process is revoked here after the next look', async () => {
  const store = new MemoryEventStore();
  const [here, there] = [processOn(store), processOn(store)];
  await here.send(
    new IssueToken({ tokenId: 't', ...tenant, name: 'n', permissions: ['VIEW'], clientId: 'c', secretHash: 'h' }),
  );
  await there.send(new RevokeToken({ tokenId: 't' }));
  expect(await here.status()).toBe('ACTIVE');
  await here.freshness.look();
  expect(await here.status()).toBe('REVOKED');
});

test('a look goes on from the last one', async () => {
  const asked: number[] = [];
  const store = {
    head: async () => 7,
    changedStreams: async (after: number) => {
      asked.push(after);
      return { streams: [], upTo: after + 3 };
    },
  };
  const freshness = new Freshness(store, { noteForeign: () => {} }, () => {});
  await freshness.start();
  await freshness.look();
  await freshness.look();
  await freshness.stop();
  expect(asked).toEqual([7, 10]);
});
