import { Readable, Writable } from 'node:stream';
import { expect } from '@jest/globals';
import { loadConfig } from '../../../libs/runtime/config.ts';
import type { TestPlatform } from '../../../test/platform.ts';
import { run } from './cli.ts';
import type { Surroundings } from './command.ts';
import type { Diagnosis } from './diagnosis.ts';

class Text extends Writable {
  text = '';
  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

export interface Answer {
  code: number;
  out: string;
  err: string;
}

/** A command line in this process, with what it reads from its standard input. */
export async function runOps(
  args: readonly string[],
  surroundings: Partial<Surroundings>,
  input?: string,
): Promise<Answer> {
  const stdout = new Text();
  const stderr = new Text();
  const stdin = input === undefined ? {} : { stdin: Readable.from([input]) };
  const code = await run(args, { stdout, stderr, ...stdin, ...surroundings });
  return { code, out: stdout.text, err: stderr.text };
}

/** What `doctor` answers in an environment: its exit code, its findings and all that it printed. */
export async function doctorIn(env: NodeJS.ProcessEnv) {
  const { code, out, err } = await runOps(['doctor', '--json'], { config: () => loadConfig(env) });
  const found: Diagnosis[] = JSON.parse(out);
  return {
    code,
    found,
    printed: out + err,
    /** The message, the outcome before it. */
    of: (check: string) =>
      found.filter((one) => one.check === check).map(({ outcome, message }) => `${outcome} ${message}`),
  };
}

/** The command line on the engine of a test platform. */
export function opsOn(platform: () => Pick<TestPlatform, 'engine'>) {
  const ops = (...args: string[]): Promise<Answer> => runOps(args, { connect: (work) => work(platform().engine) });
  return {
    ops,
    /** The result of a command that ends well. */
    async json(...args: string[]) {
      const { code, out, err } = await ops(...args, '--json');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return JSON.parse(out);
    },
  };
}
