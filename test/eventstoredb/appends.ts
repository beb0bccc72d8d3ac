import shared from '@eventstore/db-client/generated/shared_pb.js';
import status from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import * as grpc from '@grpc/grpc-js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import type { Expected, Proposed, Written } from './log.ts';
import { failure, refusalOf, type Serving } from './weather.ts';

type AppendReq = InstanceType<typeof streams.AppendReq>;
type AppendResp = InstanceType<typeof streams.AppendResp>;
type BatchReq = InstanceType<typeof streams.BatchAppendReq>;
type BatchResp = InstanceType<typeof streams.BatchAppendResp>;
type Message =
  | InstanceType<typeof streams.AppendReq.ProposedMessage>
  | InstanceType<typeof streams.BatchAppendReq.ProposedMessage>;

/** One call per append: options first, then the events; answered when the call's sending side ends. */
export function appendHandler(serving: Serving) {
  return (call: grpc.ServerReadableStream<AppendReq, AppendResp>, answer: grpc.sendUnaryData<AppendResp>) => {
    let stream = '';
    let expected: Expected = 'any';
    const events: Proposed[] = [];
    const giveUp = (error: grpc.ServiceError) => answer(error);
    serving.open.add(giveUp);
    call.on('close', () => serving.open.delete(giveUp));
    call.on('error', () => {});
    call.on('data', (request: AppendReq) => {
      const options = request.getOptions();
      if (options) {
        stream = nameOf(options.getStreamIdentifier());
        expected = options.hasRevision() ? Number(options.getRevision()) : looser(options);
      } else events.push(proposed(request.getProposedMessage()!));
    });
    const received = () => {
      if (call.cancelled) return;
      const refusal = refusalOf(serving, call.metadata);
      if (refusal) return refusal === 'silence' ? undefined : answer(refusal);
      const { weather } = serving;
      if (events.reduce((sum, { data }) => sum + data.length, 0) > weather.maxAppendBytes) {
        return answer(
          failure(grpc.status.INVALID_ARGUMENT, `Maximum Append Size of ${weather.maxAppendBytes} Exceeded.`, {
            exception: 'maximum-append-size-exceeded',
            'maximum-append-size': String(weather.maxAppendBytes),
          }),
        );
      }
      const written = serving.log.append(stream, expected, events);
      if (written.result === 'wrong-version') return answer(null, wrongVersion(written, expected));
      if (weather.lostAnswers > 0) {
        weather.lostAnswers -= 1;
        return undefined;
      }
      if (weather.brokenAnswers > 0) {
        weather.brokenAnswers -= 1;
        return answer(failure(grpc.status.UNAVAILABLE, 'Connection dropped'));
      }
      if (weather.timeouts > 0) {
        weather.timeouts -= 1;
        return answer(failure(grpc.status.ABORTED, 'Operation timed out'));
      }
      return answer(null, new streams.AppendResp().setSuccess(success(written, weather.hidesAppendPositions)));
    };
    // a call that breaks off ends here too, and is known to be cancelled a little later
    call.on('end', () => setImmediate(received));
  };
}

/** One call for many appends, each with an id of its own by which its answer is found. */
export function batchAppendHandler(serving: Serving) {
  return (call: grpc.ServerDuplexStream<BatchReq, BatchResp>) => {
    const pending = new Map<string, { stream: string; expected: Expected; events: Proposed[] }>();
    const giveUp = (error: grpc.ServiceError) => call.emit('error', error);
    serving.open.add(giveUp);
    call.on('close', () => serving.open.delete(giveUp));
    call.on('error', () => {});
    call.on('end', () => call.end());
    call.on('data', (request: BatchReq) => {
      const id = request.getCorrelationId()!;
      const options = request.getOptions();
      if (options) {
        const expected = options.hasStreamPosition() ? Number(options.getStreamPosition()) : looser(options);
        pending.set(id.getString(), { stream: nameOf(options.getStreamIdentifier()), expected, events: [] });
      }
      const append = pending.get(id.getString())!;
      append.events.push(...request.getProposedMessagesList().map(proposed));
      if (!request.getIsFinal()) return;
      pending.delete(id.getString());
      const refusal = refusalOf(serving, call.metadata);
      if (refusal) {
        if (refusal !== 'silence') call.emit('error', refusal);
        return;
      }
      const written = serving.log.append(append.stream, append.expected, append.events);
      if (serving.weather.lostAnswers > 0) {
        serving.weather.lostAnswers -= 1;
        return;
      }
      const answer = new streams.BatchAppendResp().setCorrelationId(id);
      answer.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(new TextEncoder().encode(append.stream)));
      call.write(
        written.result === 'wrong-version'
          ? answer.setError(wrongVersionStatus(written, append.expected))
          : answer.setSuccess(batchSuccess(written)),
      );
    });
  };
}

const nameOf = (identifier: InstanceType<typeof shared.StreamIdentifier> | undefined): string =>
  Buffer.from(identifier!.getStreamName_asU8()).toString('utf8');

const looser = (options: { hasNoStream(): boolean; hasStreamExists(): boolean }): Expected =>
  options.hasNoStream() ? -1 : options.hasStreamExists() ? 'exists' : 'any';

function proposed(message: Message): Proposed {
  const metadata = message.getMetadataMap();
  return {
    id: message.getId()!.getString(),
    type: metadata.get('type')!,
    contentType: metadata.get('content-type')!,
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}

function wrongVersion({ revision }: Written, expected: Expected): AppendResp {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (revision < 0) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(revision));
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'exists') wrong.setExpectedStreamExists(new shared.Empty());
  else if (expected < 0) wrong.setExpectedNoStream(new shared.Empty());
  else wrong.setExpectedRevision(String(expected));
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
}

function success({ revision, position }: Written & { position: number }, hidesPosition: boolean) {
  const done = new streams.AppendResp.Success();
  if (revision < 0) done.setNoStream(new shared.Empty());
  else done.setCurrentRevision(String(revision));
  const at = String(position);
  return hidesPosition
    ? done.setNoPosition(new shared.Empty())
    : done.setPosition(new streams.AppendResp.Position().setCommitPosition(at).setPreparePosition(at));
}

function batchSuccess({ revision, position }: Written & { position: number }) {
  const at = String(position);
  return new streams.BatchAppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(new shared.AllStreamPosition().setCommitPosition(at).setPreparePosition(at));
}

function wrongVersionStatus({ revision }: Written, expected: Expected) {
  const wrong = new shared.WrongExpectedVersion();
  if (revision < 0) wrong.setCurrentNoStream(new emptyPb.Empty());
  else wrong.setCurrentStreamRevision(String(revision));
  if (typeof expected === 'number' && expected >= 0) wrong.setExpectedStreamPosition(String(expected));
  else wrong.setExpectedNoStream(new emptyPb.Empty());
  const details = new anyPb.Any();
  details.pack(wrong.serializeBinary(), 'event_store.client.WrongExpectedVersion');
  return new status.Status().setMessage('WrongExpectedVersion').setDetails(details);
}
