import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import * as grpc from '@grpc/grpc-js';
import { appendHandler, batchAppendHandler } from './appends.ts';
import { ServerLog } from './log.ts';
import { readHandler } from './reads.ts';
import { clearDay, failure, type Serving, type Weather } from './weather.ts';

export interface TestServer {
  /** Connection string. */
  url: string;
  port: number;
  log: ServerLog;
  weather: Weather;
  /** How often each method was called. */
  calls: Map<string, number>;
  /** Breaks every open call, as a server does that is shut down. */
  breakCalls(): void;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  /** 0: any free one. */
  port?: number;
  /** Keeps the log beyond the process. */
  file?: string;
  /** The log of another server: both are nodes of one cluster then. */
  log?: ServerLog;
  tls?: { key: Buffer; certificate: Buffer };
}

/**
 * An EventStoreDB server for tests: speaks the gRPC protocol with the definitions that the client ships, keeps its log in memory or in a
 * file, and has bad days. What it answers follows the documented behaviour of the real server, log positions with gaps and system
 * events among ours included.
 */
export async function startEventStoreServer(options: TestServerOptions = {}): Promise<TestServer> {
  const log = options.log ?? new ServerLog(options.file);
  const serving: Serving = { log, weather: clearDay(), open: new Set() };
  const calls = new Map<string, number>();
  const server = new grpc.Server({ interceptors: [countingInto(calls)] });
  server.addService(streamsService.StreamsService, {
    read: readHandler(serving),
    append: appendHandler(serving),
    batchAppend: batchAppendHandler(serving),
  } as unknown as grpc.UntypedServiceImplementation);
  server.addService(featuresService.ServerFeaturesService, { getSupportedMethods: supportedMethods });
  let port = options.port ?? 0;
  server.addService(gossipService.GossipService, { read: gossipOf(serving, () => port) });
  port = await bound(server, port, options.tls);
  return {
    url: `esdb://127.0.0.1:${port}?tls=${options.tls !== undefined}`,
    port,
    log,
    weather: serving.weather,
    calls,
    breakCalls() {
      for (const giveUp of serving.open) giveUp(failure(grpc.status.UNAVAILABLE, 'Server is shutting down'));
    },
    async stop() {
      server.forceShutdown();
      if (!options.log) log.close();
    },
  };
}

function bound(server: grpc.Server, port: number, tls: TestServerOptions['tls']): Promise<number> {
  const credentials = tls
    ? grpc.ServerCredentials.createSsl(null, [{ private_key: tls.key, cert_chain: tls.certificate }])
    : grpc.ServerCredentials.createInsecure();
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, actual) => (error ? reject(error) : resolve(actual)));
  });
}

const countingInto = (calls: Map<string, number>): grpc.ServerInterceptor => {
  return (method, call) => {
    const name = method.path.slice(method.path.lastIndexOf('/') + 1);
    calls.set(name, (calls.get(name) ?? 0) + 1);
    return new grpc.ServerInterceptingCall(call);
  };
};

function supportedMethods(_call: unknown, answer: grpc.sendUnaryData<InstanceType<typeof features.SupportedMethods>>) {
  const methods = Object.values(streamsService.StreamsService).map(({ path }: { path: string }) => {
    const [, service, method] = path.toLowerCase().split('/');
    return new features.SupportedMethod().setServiceName(service!).setMethodName(method!);
  });
  answer(null, new features.SupportedMethods().setEventStoreServerVersion('23.10.1').setMethodsList(methods));
}

function gossipOf({ weather }: Serving, port: () => number) {
  return (_call: unknown, answer: grpc.sendUnaryData<InstanceType<typeof gossip.ClusterInfo>>) => {
    const member = (host: string, at: number, state: number) =>
      new gossip.MemberInfo()
        .setIsAlive(true)
        .setState(state)
        .setTimeStamp('0')
        .setInstanceId(new shared.UUID().setString('00000000-0000-4000-8000-000000000000'))
        .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(at));
    const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
    const { leaderAt } = weather;
    const members = [member('127.0.0.1', port(), leaderAt ? FOLLOWER : LEADER)];
    if (leaderAt) members.push(member(leaderAt.host, leaderAt.port, LEADER));
    answer(null, new gossip.ClusterInfo().setMembersList(members));
  };
}
