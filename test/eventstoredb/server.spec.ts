import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import * as grpc from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { append, bareStore, fresh } from './bare.ts';
import { startEventStoreServer } from './server.ts';

const { AppendReq } = streams;

function header(stream: string) {
  const identifier = new shared.StreamIdentifier().setStreamName(new TextEncoder().encode(stream));
  return new AppendReq().setOptions(
    new AppendReq.Options().setStreamIdentifier(identifier).setNoStream(new shared.Empty()),
  );
}

function proposal() {
  const message = new AppendReq.ProposedMessage().setId(new shared.UUID().setString(randomUUID()));
  message.getMetadataMap().set('type', 'Happened').set('content-type', 'application/octet-stream');
  return new AppendReq().setProposedMessage(message);
}

test('an append that breaks off before its last event writes none of them', async () => {
  const server = await startEventStoreServer();
  const { store } = bareStore(server.url);
  const client = new streamsService.StreamsClient(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
  try {
    const [stream, other] = [fresh(), fresh()];
    const call = client.append(new grpc.Metadata(), () => {});
    call.on('error', () => {}); // it is cancelled
    for (const part of [header(stream), proposal(), proposal()]) {
      await new Promise((resolve) => call.write(part, resolve));
    }
    await store.append([append(other, -1)]); // the server has had time to hear of them
    call.cancel();
    await once(call, 'status');
    await store.append([append(other, 0)]);
    expect([server.log.stream(stream).length, server.log.stream(other).length]).toEqual([0, 2]);
  } finally {
    client.close();
    await store.close();
    await server.stop();
  }
});
