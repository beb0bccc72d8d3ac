import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { ask, Wire, type WireRequest } from './wire.ts';

/** What is to be sent, and where it is to be seen. */
export interface ViewerSpec {
  port: number;
  authorization: string;
  databaseUrl: string;
  /** Of the platform, in the feed. */
  partition: number;
  /** Public ids of accounts to fund, one after the other. */
  targets: readonly string[];
  /** Commands per second. */
  rate: number;
  warmUpMs: number;
  measureMs: number;
}

/** Times from when a command was due to when the projector had committed its event. */
export type ViewerResult =
  | { commands: number; p50Ms: number; p99Ms: number; maxMs: number }
  /** Such a figure would say nothing. */
  | { error: string };

interface Sent {
  dueMs: number;
  /** Where its event lies in the log. */
  position: number;
}

const CONNECTIONS = 16;
const PATIENCE_MS = 60_000;

const run = randomBytes(6).toString('hex');
let requests = 0;

function fund(target: string): WireRequest {
  requests += 1;
  return {
    method: 'POST',
    path: `/2025-10-13/sandbox/internal-accounts/${target}/fund`,
    body: JSON.stringify({ amount: 100 }),
    idempotencyKey: `${run}-${requests}`,
  };
}

/** Follows what projectors tell of their progress, as an API does. */
class Progress {
  /** How far the partition had come, and when. */
  private readonly steps: { position: number; atMs: number }[] = [];
  private readonly client: pg.Client;

  private constructor(client: pg.Client, partition: number) {
    this.client = client;
    client.on('notification', ({ payload }) => {
      const [of, position] = payload!.split(' ').map(Number);
      if (of === partition) this.steps.push({ position: position!, atMs: performance.now() });
    });
  }

  static async follow(url: string, partition: number): Promise<Progress> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const progress = new Progress(client, partition);
    await client.query('LISTEN projected');
    return progress;
  }

  /** When a position was passed; undefined: not yet. */
  passedAt(position: number): number | undefined {
    let [from, to] = [0, this.steps.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.steps[middle]!.position < position) from = middle + 1;
      else to = middle;
    }
    return this.steps[from]?.atMs;
  }

  async untilPassed(position: number): Promise<void> {
    for (const giveUpMs = performance.now() + PATIENCE_MS; this.passedAt(position) === undefined; await until(10)) {
      if (performance.now() > giveUpMs) throw new Error(`position ${position} was not projected in ${PATIENCE_MS} ms`);
    }
  }

  stop(): Promise<void> {
    return this.client.end();
  }
}

async function view(spec: ViewerSpec): Promise<ViewerResult> {
  const progress = await Progress.follow(spec.databaseUrl, spec.partition);
  const wires = Array.from({ length: CONNECTIONS }, () => new Wire(spec.port, spec.authorization));
  try {
    await progress.untilPassed(await funded(wires[0]!, spec.targets[0]!)); // a feed takes its time to begin
    const sent = await send(spec, wires);
    await progress.untilPassed(Math.max(...sent.map(({ position }) => position)));
    const latencies = sent.map(({ dueMs, position }) => progress.passedAt(position)! - dueMs).sort((a, b) => a - b);
    const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!;
    return { commands: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  } catch (error) {
    return { error: (error as Error).message };
  } finally {
    for (const wire of wires) wire.close();
    await progress.stop();
  }
}

async function funded(wire: Wire, target: string): Promise<number> {
  const { status, body, head } = await ask(wire, fund(target));
  return positionIn(status, head, body);
}

function positionIn(status: number, head: string, body: string): number {
  const position = Number(/\r\nread-position: *(\d+)/i.exec(head)?.[1]);
  if (status !== 200 || !(position > 0)) throw new Error(`a command was answered with ${status}: ${body}`);
  return position;
}

/** Sends at the rate and waits for all answers; gives those that were due in the measured time. */
async function send({ rate, targets, warmUpMs, measureMs }: ViewerSpec, wires: readonly Wire[]): Promise<Sent[]> {
  const startMs = performance.now();
  const count = Math.round(((warmUpMs + measureMs) * rate) / 1_000);
  const dueMs = (n: number) => startMs + (n * 1_000) / rate;
  let next = 0;
  const all: Sent[] = [];
  const keepOn = async (wire: Wire) => {
    for (let n = next++; n < count; n = next++) {
      await until(dueMs(n) - performance.now());
      const position = await funded(wire, targets[n % targets.length]!);
      all.push({ dueMs: dueMs(n), position });
    }
  };
  await Promise.all(wires.map(keepOn));
  return all.filter((one) => one.dueMs >= startMs + warmUpMs);
}

const until = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

process.on('message', async (spec: ViewerSpec) => process.send!(await view(spec)));
process.on('disconnect', () => process.exit(0));
