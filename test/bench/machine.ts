import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

const TICKS_PER_SECOND = 100;

/** The machine as a figure has to name it. */
export function machine(): string {
  const all = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${all.length} cores ${all[0]?.model.trim() ?? ''}, ${memory} GiB, Linux ${release()}, Node ${process.versions.node}`;
}

/** Processor time used so far by everything on the machine, in ticks. */
export interface Ticks {
  busy: number;
  steal: number;
  total: number;
}

export function ticks(): Ticks {
  const line = readText('/proc/stat').split('\n', 1)[0] ?? '';
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + soft;
  return { busy, steal, total: busy + idle + wait + steal };
}

/** How busy the machine was between two readings. Shares of all cores. */
export interface Busy {
  busy: number;
  steal: number;
  load1: number;
}

export function busySince(before: Ticks): Busy {
  const now = ticks();
  const total = Math.max(1, now.total - before.total);
  return { busy: (now.busy - before.busy) / total, steal: (now.steal - before.steal) / total, load1: loadavg()[0]! };
}

/** Processor seconds that a process has used, all its threads; with `children` those of its live and ended children too. */
export function cpuSeconds(pid: number, children = false): number {
  const own = statOf(pid);
  if (!own) return 0;
  const family = children ? processes().filter((one) => one.parent === pid) : [];
  const used = own.ticks + (children ? own.endedChildren : 0) + family.reduce((sum, one) => sum + one.ticks, 0);
  return used / TICKS_PER_SECOND;
}

/** Resident memory of a process in MB; 0 where there is no /proc. */
export function residentMb(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readText(`/proc/${pid}/status`))?.[1];
  return kilobytes ? Number(kilobytes) / 1_024 : residentByPs(pid);
}

function residentByPs(pid: number): number {
  try {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1_024;
  } catch {
    return 0;
  }
}

interface Stat {
  parent: number;
  ticks: number;
  endedChildren: number;
}

function statOf(pid: number): Stat | undefined {
  const fields = readText(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ');
  if (!fields || fields.length < 15) return undefined;
  const at = (index: number) => Number(fields[index]);
  return { parent: at(1), ticks: at(11) + at(12), endedChildren: at(13) + at(14) };
}

function processes(): Stat[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => statOf(Number(pid)) ?? []);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
