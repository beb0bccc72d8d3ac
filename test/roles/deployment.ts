import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Role } from '../../libs/runtime/config.ts';
import { basic, freePort } from '../bench/program.ts';

/** A part of the platform that runs apart from the others. */
export type ApartRole = Exclude<Role, 'standalone'>;

export interface RoleDeploymentOptions {
  databaseUrl: string;
  /** Variables of every process: engine settings, time scale. */
  env?: Record<string, string>;
  /** 32 bytes; a new one when absent. */
  masterKey?: Buffer;
}

export interface StartOptions {
  /** `projector-2`; by default the role and a number. */
  name?: string;
  /** Of this process only. */
  env?: Record<string, string>;
  port?: number;
}

/** What `/readyz` says: 0 as the status when nobody answers. */
export interface Readiness {
  status: number;
  checks: Record<string, string>;
}

const PATIENCE_MS = 300_000;
const STOP_PATIENCE_MS = 20_000;
const ASK_EVERY_MS = 50;
const isSource = import.meta.url.endsWith('.ts');
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), ...(isSource ? ['../..'] : ['../../..']));

/** One role as a process of its own. */
export class RoleProcess {
  readonly name: string;
  readonly role: ApartRole;
  readonly port: number;
  readonly url: string;
  /** The exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  private readonly child: ChildProcess;
  /** Whether it has ended. */
  isOver = false;
  private text = '';

  constructor(name: string, role: ApartRole, port: number, env: Record<string, string>) {
    this.name = name;
    this.role = role;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.child = spawn(process.execPath, entry(), {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env, ROLE: role, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.on('data', (chunk) => {
        this.text += chunk;
      });
    }
    // with everything that it has written
    this.ended = once(this.child, 'close').then(([code]) => {
      this.isOver = true;
      return code as number | null;
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Everything it has written. */
  get output(): string {
    return this.text;
  }

  /** Its log lines from a level on, as they are. */
  logged(...levels: string[]): string[] {
    return this.text.split('\n').filter((line) => levels.some((level) => line.startsWith(`{"level":"${level}"`)));
  }

  async readiness(): Promise<Readiness> {
    try {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) });
      const body = (await answer.json()) as { checks?: Readiness['checks']; details?: { checks: Readiness['checks'] } };
      return { status: answer.status, checks: body.checks ?? body.details?.checks ?? {} };
    } catch {
      return { status: 0, checks: {} };
    }
  }

  /** Waits until `/readyz` says 200. Throws when the process ends before. */
  async untilReady(): Promise<this> {
    for (const giveUpMs = performance.now() + PATIENCE_MS; ; await sleep(ASK_EVERY_MS)) {
      const { status, checks } = await this.readiness();
      if (status === 200) return this;
      if (this.isOver) throw new Error(`${this.name} ended while starting:\n${this.text}`);
      if (performance.now() > giveUpMs)
        throw new Error(`${this.name} is not ready: ${JSON.stringify(checks)}\n${this.text}`);
    }
  }

  /** The text of `/metrics`. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.url}/metrics`)).text();
  }

  /** Ends it as an orchestrator does; answers its exit code. */
  terminate(): Promise<number | null> {
    return this.signal('SIGTERM');
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL');
  }

  /** Stops it where it stands, as a machine does that swaps or migrates. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  continue(): void {
    this.child.kill('SIGCONT');
  }

  private signal(signal: NodeJS.Signals): Promise<number | null> {
    if (!this.isOver) this.child.kill(signal);
    return this.ended;
  }
}

function entry(): string[] {
  if (!isSource) return [path.join(root, 'dist/apps/main.js')];
  return ['--import', path.join(root, 'test/ts-loader.mjs'), path.join(root, 'apps/main.ts')];
}

/** A deployment of separate roles on one database: any role, any number of times. Nothing is started by itself. */
export class RoleDeployment {
  readonly processes = new Map<string, RoleProcess>();
  /** HTTP Basic credentials of the platform that the first API makes. */
  readonly authorization: string;
  /** 32 bytes. */
  readonly masterKey: Buffer;
  /** Variables of every process that is started from now on. */
  readonly env: Record<string, string>;

  constructor({ databaseUrl, env, masterKey = randomBytes(32) }: RoleDeploymentOptions) {
    this.masterKey = masterKey;
    const credentials = { clientId: randomBytes(16).toString('hex'), clientSecret: randomBytes(32).toString('hex') };
    this.authorization = basic(credentials);
    this.env = {
      DATABASE_URL: databaseUrl,
      MASTER_KEY: masterKey.toString('hex'),
      BOOTSTRAP_CLIENT_ID: credentials.clientId,
      BOOTSTRAP_CLIENT_SECRET: credentials.clientSecret,
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      LOG_LEVEL: 'info',
      ...env,
    };
  }

  /** Starts a role; it is not ready yet. */
  async start(role: ApartRole, options: StartOptions = {}): Promise<RoleProcess> {
    const name = options.name ?? this.freeName(role);
    const port = options.port ?? (await freePort());
    const started = new RoleProcess(name, role, port, { ...this.env, ...options.env });
    this.processes.set(name, started);
    return started;
  }

  /** Starts several roles and waits until all are ready. */
  async startAll(...roles: readonly ApartRole[]): Promise<RoleProcess[]> {
    const started: RoleProcess[] = [];
    for (const role of roles) started.push(await this.start(role));
    return Promise.all(started.map((one) => one.untilReady()));
  }

  /** The process of that name, running or not. */
  get(name: string): RoleProcess {
    const found = this.processes.get(name);
    if (!found) throw new Error(`there is no ${name}; there are: ${[...this.processes.keys()].join(', ')}`);
    return found;
  }

  /** Starts a process that has ended again, under its name and on its port. */
  restart(name: string, env?: Record<string, string>): Promise<RoleProcess> {
    const { role, port } = this.get(name);
    return this.start(role, { name, port, ...(env && { env }) });
  }

  /** Ends everything: politely, and by force whatever does not end. */
  async stop(): Promise<void> {
    await Promise.all(
      [...this.processes.values()].map(async (one) => {
        one.continue();
        const overdue = setTimeout(() => void one.kill(), STOP_PATIENCE_MS);
        await one.terminate();
        clearTimeout(overdue);
      }),
    );
  }

  private freeName(role: ApartRole): string {
    for (let number = 1; ; number += 1) if (!this.processes.has(`${role}-${number}`)) return `${role}-${number}`;
  }
}
