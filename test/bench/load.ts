import { randomBytes } from 'node:crypto';
import { Wire, type WireRequest } from './wire.ts';

/** What the load generator is asked to do, in a process of its own. */
export interface LoadSpec {
  port: number;
  authorization: string;
  connections: number;
  warmUpMs: number;
  measureMs: number;
  /** Requests per second, sent at their time whatever has been answered by then; absent: each connection sends when it was answered. */
  rate?: number;
  shape: keyof typeof shapes;
  /** Public ids of accounts or transactions to choose from. */
  targets: readonly string[];
  /** One target after the other instead of any: so that each has been used once. */
  inOrder?: true;
}

export interface LoadResult {
  /** Answered within the measured time. */
  answered: number;
  perSecond: number;
  /** From the time that the request was due to its answer. */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** How many answers had another status than 200 or 201, by status; 0 is a lost connection. */
  failed: Record<string, number>;
  /** Of the load generator. */
  cpuSeconds: number;
}

type Chooser = () => string;

/** The requests, by name. */
const shapes = {
  fund: (any: Chooser) => post(`/2025-10-13/sandbox/internal-accounts/${any()}/fund`, { amount: 100 }),
  pay(any: Chooser) {
    const accountId = any();
    let other = any();
    while (other === accountId) other = any();
    return post('/2025-10-13/quotes', {
      source: { sourceType: 'ACCOUNT', accountId },
      destination: { destinationType: 'ACCOUNT', accountId: other },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 100,
      immediatelyExecute: true,
    });
  },
  append: (any: Chooser) => post('/append', { stream: any(), amount: 100 }),
  transfer: (any: Chooser) => post('/transfers', { from: any(), to: any(), amount: 100 }),
  transferToOne: (any: Chooser, targets: readonly string[]) =>
    post('/transfers', { from: any(), to: targets[0]!, amount: 100 }),
  transaction: (any: Chooser) => get(`/2025-10-13/transactions/${any()}`),
  list: () => get('/2025-10-13/transactions?limit=20'),
  row: (any: Chooser) => get(`/rows/${any()}`),
};

const run = randomBytes(6).toString('hex');
let requests = 0;

function post(path: string, body: object): WireRequest {
  requests += 1;
  return { method: 'POST', path, body: JSON.stringify(body), idempotencyKey: `${run}-${requests}` };
}

const get = (path: string): WireRequest => ({ method: 'GET', path });

/** Latencies of what was due within the measured time, and counts of what was answered in it. */
class Tally {
  private readonly latencies: number[] = [];
  private readonly failed: Record<string, number> = {};
  private readonly fromMs: number;
  private readonly toMs: number;
  private answered = 0;

  constructor(fromMs: number, toMs: number) {
    this.fromMs = fromMs;
    this.toMs = toMs;
  }

  note(dueMs: number, status: number): void {
    const nowMs = performance.now();
    if (dueMs >= this.fromMs && dueMs < this.toMs) this.latencies.push(nowMs - dueMs);
    if (nowMs < this.fromMs || nowMs >= this.toMs) return;
    if (status === 200 || status === 201) this.answered += 1;
    else this.failed[status] = (this.failed[status] ?? 0) + 1;
  }

  result(cpu: NodeJS.CpuUsage): LoadResult {
    const sorted = this.latencies.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
    return {
      answered: this.answered,
      perSecond: (this.answered * 1_000) / (this.toMs - this.fromMs),
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      maxMs: at(1),
      failed: this.failed,
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
    };
  }
}

async function measure(spec: LoadSpec): Promise<LoadResult> {
  const { port, authorization, connections, warmUpMs, measureMs, rate, targets } = spec;
  const shape = shapes[spec.shape] as (any: Chooser, targets: readonly string[]) => WireRequest;
  let turn = 0;
  const any = () => targets[spec.inOrder ? turn++ % targets.length : Math.floor(Math.random() * targets.length)]!;
  const next = () => shape(any, targets);
  const wires = Array.from({ length: connections }, () => new Wire(port, authorization));
  const fromMs = performance.now() + warmUpMs;
  const toMs = fromMs + measureMs;
  const tally = new Tally(fromMs, toMs);
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (rate === undefined) for (const wire of wires) keepBusy(wire, next, tally, toMs);
  else openLoop(wires, rate, next, tally, toMs);
  await until(fromMs);
  const before = process.cpuUsage();
  await until(toMs);
  const cpu = process.cpuUsage(before);
  const patienceMs = toMs + 15_000;
  while (wires.some((wire) => wire.isBusy) && performance.now() < patienceMs) await until(performance.now() + 20);
  for (const wire of wires) wire.close();
  return tally.result(cpu);
}

function keepBusy(wire: Wire, next: () => WireRequest, tally: Tally, toMs: number): void {
  const dueMs = performance.now();
  wire.send(next(), (status) => {
    tally.note(dueMs, status);
    if (performance.now() < toMs) keepBusy(wire, next, tally, toMs);
  });
}

/** A request that finds no free connection waits for one, and its time counts from when it was due: nothing is omitted. */
function openLoop(wires: readonly Wire[], rate: number, next: () => WireRequest, tally: Tally, toMs: number): void {
  const startMs = performance.now();
  const free = [...wires];
  const due: number[] = [];
  let sent = 0;
  const send = (wire: Wire) => {
    const dueMs = due.shift();
    if (dueMs === undefined) {
      free.push(wire);
      return;
    }
    wire.send(next(), (status) => {
      tally.note(dueMs, status);
      send(wire);
    });
  };
  const tick = () => {
    const nowMs = performance.now();
    for (; startMs + (sent * 1_000) / rate <= nowMs; sent += 1) due.push(startMs + (sent * 1_000) / rate);
    while (due.length > 0 && free.length > 0) send(free.pop()!);
    if (nowMs < toMs) setTimeout(tick, 1);
  };
  tick();
}

const until = (atMs: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())));

process.on('message', async (spec: LoadSpec) => process.send!(await measure(spec)));
process.on('disconnect', () => process.exit(0));
