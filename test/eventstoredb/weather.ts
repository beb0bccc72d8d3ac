import * as grpc from '@grpc/grpc-js';
import type { ServerLog } from './log.ts';

/** What a server is made to do wrong; changed while it runs. */
export interface Weather {
  /** Answers appends, and reads that ask for the leader, with where the leader is. */
  leaderAt: { host: string; port: number } | undefined;
  /** Takes calls and answers none. */
  isSilent: boolean;
  /** So many appends are committed and never answered. */
  lostAnswers: number;
  /** So many appends are committed and answered by a broken call. */
  brokenAnswers: number;
  /** So many appends are answered as the server does when its disk or its cluster is too slow, and committed all the same. */
  timeouts: number;
  /** So many calls are refused as by a server that is starting. */
  notReady: number;
  /** So many reads of streams are not shown the last event, as before it is replicated. */
  staleReads: number;
  /** How long each record of a read takes, in milliseconds. */
  recordMs: number;
  /** Open subscriptions are told nothing any more. */
  isSubscriptionSilent: boolean;
  /** Leaves positions out: of answers to appends, and of reads of streams as before 22.6. */
  hidesAppendPositions: boolean;
  hidesStreamPositions: boolean;
  /** Most bytes that one append may hold. */
  maxAppendBytes: number;
  /** `username:password` that calls must bring. */
  credentials: string | undefined;
}

/** What the handlers of a server share. */
export interface Serving {
  log: ServerLog;
  weather: Weather;
  /** Open calls; each is given up by its function. */
  open: Set<(error: grpc.ServiceError) => void>;
}

/** A day without faults. */
export const clearDay = (): Weather => ({
  leaderAt: undefined,
  isSilent: false,
  lostAnswers: 0,
  brokenAnswers: 0,
  timeouts: 0,
  notReady: 0,
  staleReads: 0,
  recordMs: 0,
  isSubscriptionSilent: false,
  hidesAppendPositions: false,
  hidesStreamPositions: false,
  maxAppendBytes: 1_048_576,
  credentials: undefined,
});

/** An error as gRPC carries it; `exception` is the server's own name for it. */
export function failure(code: grpc.status, details: string, exception: Record<string, string> = {}): grpc.ServiceError {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(exception)) metadata.set(name, value);
  return Object.assign(new Error(details), { code, details, metadata });
}

/** Why a call is not served on this day; `silence` when it gets no answer at all. */
export function refusalOf({ weather }: Serving, metadata: grpc.Metadata): grpc.ServiceError | 'silence' | undefined {
  if (weather.isSilent) return 'silence';
  if (weather.notReady > 0) {
    weather.notReady -= 1;
    return failure(grpc.status.UNAVAILABLE, 'Server Is Not Ready');
  }
  const expected = weather.credentials && `Basic ${Buffer.from(weather.credentials).toString('base64')}`;
  if (expected && metadata.get('authorization')[0] !== expected) {
    return failure(grpc.status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
  }
  if (weather.leaderAt && metadata.get('requires-leader')[0] === 'true') {
    const { host, port } = weather.leaderAt;
    return failure(grpc.status.NOT_FOUND, 'Leader info available', {
      exception: 'not-leader',
      'leader-endpoint-host': host,
      'leader-endpoint-port': String(port),
    });
  }
  return undefined;
}
