import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import * as grpc from '@grpc/grpc-js';
import type { LogRecord, ServerLog } from './log.ts';
import { failure, refusalOf, type Serving } from './weather.ts';

type ReadReq = InstanceType<typeof streams.ReadReq>;
type ReadResp = InstanceType<typeof streams.ReadResp>;
type Options = InstanceType<typeof streams.ReadReq.Options>;
type Call = grpc.ServerWritableStream<ReadReq, ReadResp>;

/** What a server without positions on stream reads sends: -1 as an unsigned number. */
const NO_POSITION = '18446744073709551615';
const CHECKPOINT_EVERY = 32;

/** Reads of streams and of the whole log, in both directions, and subscriptions to the whole log. */
export function readHandler(serving: Serving) {
  return (call: Call) => {
    const options = call.request.getOptions()!;
    let isOver = false;
    const end = (error?: grpc.ServiceError) => {
      if (isOver) return;
      isOver = true;
      serving.open.delete(end);
      if (error) call.emit('error', error);
      else call.end();
    };
    serving.open.add(end);
    call.on('cancelled', () => {
      isOver = true;
      serving.open.delete(end);
    });
    call.on('error', () => {});
    const refusal = refusalOf(serving, call.metadata);
    if (refusal) return refusal === 'silence' ? undefined : end(refusal);
    try {
      if (options.hasSubscription()) return subscribe(serving, call, options, () => isOver);
      const found = options.hasStream() ? streamRecords(serving, call, options) : allRecords(serving.log, options);
      void send(call, found, options, serving, () => isOver).then(() => end());
    } catch (error) {
      end(error as grpc.ServiceError);
    }
  };
}

async function send(
  call: Call,
  found: readonly LogRecord[],
  options: Options,
  { weather }: Serving,
  isOver: () => boolean,
): Promise<void> {
  const hidesPositions = options.hasStream() && weather.hidesStreamPositions;
  for (const record of found) {
    if (weather.recordMs > 0) await sleep(weather.recordMs);
    if (weather.isSilent) await new Promise(() => {}); // not the end of the read either
    if (isOver()) return;
    if (!call.write(eventOf(record, hidesPositions))) await new Promise((resolve) => call.once('drain', resolve));
  }
}

function streamRecords({ log, weather }: Serving, call: Call, options: Options): readonly LogRecord[] {
  const from = options.getStream()!;
  const name = Buffer.from(from.getStreamIdentifier()!.getStreamName_asU8()).toString('utf8');
  const isStale = weather.staleReads > 0;
  if (isStale) weather.staleReads -= 1;
  const records = isStale ? log.stream(name).slice(0, -1) : log.stream(name);
  if (records.length === 0) {
    const missing = new streams.ReadResp.StreamNotFound().setStreamIdentifier(from.getStreamIdentifier());
    call.write(new streams.ReadResp().setStreamNotFound(missing));
    return [];
  }
  const count = Number(options.getCount());
  if (options.getReadDirection() === streams.ReadReq.Options.ReadDirection.FORWARDS) {
    const start = from.hasRevision() ? Number(from.getRevision()) : from.hasEnd() ? records.length : 0;
    return records.slice(start, start + count);
  }
  const last = from.hasRevision() ? Number(from.getRevision()) : from.hasStart() ? 0 : records.length - 1;
  return records.slice(Math.max(0, last + 1 - count), last + 1).toReversed();
}

/** Forwards from a position on, backwards from before it; one between two records is an error, as it is on a real server's disk. */
function allRecords(log: ServerLog, options: Options): readonly LogRecord[] {
  const from = options.getAll()!;
  const isForwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.FORWARDS;
  let index = from.hasEnd() ? log.records.length : 0;
  if (from.hasPosition()) {
    const position = Number(from.getPosition()!.getCommitPosition());
    index = log.indexOf(position);
    requireBoundary(log, index, position);
  }
  const count = Number(options.getCount());
  const accepts = filterOf(options);
  const direction = isForwards ? log.records.slice(index) : log.records.slice(0, index).toReversed();
  return direction.filter(accepts).slice(0, count);
}

function requireBoundary(log: ServerLog, index: number, position: number): void {
  if (index < log.records.length && log.records[index]!.position !== position) {
    throw failure(grpc.status.UNKNOWN, 'Unexpected ReadAllResult: InvalidPosition');
  }
}

function filterOf(options: Options): (record: LogRecord) => boolean {
  const filter = options.getFilter();
  if (!filter) return () => true;
  const expression = filter.getEventType() ?? filter.getStreamIdentifier()!;
  const subject = (record: LogRecord) => (filter.hasEventType() ? record.type : record.stream);
  const prefixes = expression.getPrefixList();
  if (prefixes.length > 0) return (record) => prefixes.some((prefix) => subject(record).startsWith(prefix));
  const regex = new RegExp(expression.getRegex());
  return (record) => regex.test(subject(record));
}

/** Everything after the given position, then what is appended; a checkpoint where a filter leaves out much. */
function subscribe({ log, weather }: Serving, call: Call, options: Options, isOver: () => boolean): void {
  const from = options.getAll()!;
  const accepts = filterOf(options);
  let next = from.hasEnd() ? log.records.length : 0;
  if (from.hasPosition()) {
    const position = Number(from.getPosition()!.getCommitPosition());
    next = log.indexOf(position);
    requireBoundary(log, next, position);
    if (log.records[next]?.position === position) next += 1;
  }
  call.write(
    new streams.ReadResp().setConfirmation(
      new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID()),
    ),
  );
  let skipped = 0;
  const pump = () => {
    if (isOver()) return stop();
    if (weather.isSubscriptionSilent || weather.isSilent) return;
    for (; next < log.records.length; next += 1) {
      const record = log.records[next]!;
      if (accepts(record)) call.write(eventOf(record, false));
      else skipped += 1;
      if (skipped === CHECKPOINT_EVERY) {
        skipped = 0;
        const at = String(record.position);
        const checkpoint = new streams.ReadResp.Checkpoint().setCommitPosition(at).setPreparePosition(at);
        call.write(new streams.ReadResp().setCheckpoint(checkpoint));
      }
    }
  };
  const stop = log.watch(() => setImmediate(pump));
  call.on('close', stop);
  pump();
}

function eventOf(record: LogRecord, hidesPosition: boolean): ReadResp {
  const at = hidesPosition ? NO_POSITION : String(record.position);
  const event = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(new TextEncoder().encode(record.stream)))
    .setStreamRevision(String(record.revision))
    .setCommitPosition(at)
    .setPreparePosition(at)
    .setData(record.data)
    .setCustomMetadata(record.metadata);
  event.getMetadataMap().set('type', record.type);
  event.getMetadataMap().set('content-type', record.contentType);
  event.getMetadataMap().set('created', String(BigInt(record.createdMs) * 10_000n));
  const read = new streams.ReadResp.ReadEvent().setEvent(event);
  return new streams.ReadResp().setEvent(
    hidesPosition ? read.setNoPosition(new shared.Empty()) : read.setCommitPosition(at),
  );
}
