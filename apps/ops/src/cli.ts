import { Command, CommanderError } from 'commander';
import { Rejection } from '../../../libs/kernel/errors.ts';
import { loadConfig } from '../../../libs/runtime/config.ts';
import { FINE, MISUSED, Misused, type Perform, type Surroundings, WRONG } from './command.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addDeadLetterCommands } from './commands/dead-letters.ts';
import { addDeliveryCommands } from './commands/deliveries.ts';
import { addDeploymentCommands } from './commands/deployment.ts';
import { addErase } from './commands/erase.ts';
import { addExportCommands } from './commands/export.ts';
import { addInspect } from './commands/inspect.ts';
import { addListen } from './commands/listen.ts';
import { addPlatformCommands } from './commands/platform.ts';
import { addRebuild } from './commands/rebuild.ts';
import { addSpec } from './commands/spec.ts';
import { addStatus } from './commands/status.ts';
import { addTrigger } from './commands/trigger.ts';
import { addVerify } from './commands/verify.ts';
import { withEngine } from './connection.ts';
import { INTERRUPTED, Interrupted, interruptible } from './interruption.ts';
import { createOutput, ReaderGone } from './output.ts';

/** Every family of commands, in the order of `--help`. */
const families = [
  addDeploymentCommands,
  addPlatformCommands,
  addStatus,
  addRebuild,
  addVerify,
  addInspect,
  addAuditCommands,
  addExportCommands,
  addDeliveryCommands,
  addListen,
  addTrigger,
  addDeadLetterCommands,
  addErase,
  addSpec,
];

/** Runs one command line, without the program's name. Answers its exit code. */
export async function run(args: readonly string[], options: Partial<Surroundings> = {}): Promise<number> {
  const config = options.config ?? (() => loadConfig());
  const surroundings: Surroundings = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    connect: (work, out, on) => withEngine(config(), out, work, on),
    ...options,
    config,
  };
  const { stdout, stderr } = surroundings;
  let unwritten: Error | undefined;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') unwritten = error; // a reader that has gone is told to whoever writes next
  });
  const exitCode = await performed(args, surroundings);
  await new Promise((resolve) => setImmediate(resolve)); // the last write may just have failed
  if (!unwritten) return exitCode;
  stderr.write(`The output could not be written: ${unwritten.message}\n`);
  return WRONG;
}

async function performed(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await interruptible(async (signal) => {
      let exitCode = FINE;
      const program = commandLine(performing(surroundings, signal, (code) => (exitCode = code)));
      configure(program, surroundings);
      await program.parseAsync(args, { from: 'user' });
      return exitCode;
    });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? FINE : MISUSED;
    if (!(error instanceof ReaderGone)) surroundings.stderr.write(`${explained(error)}\n`);
    if (error instanceof Misused) return MISUSED;
    return error instanceof Interrupted ? INTERRUPTED : WRONG;
  }
}

function performing(surroundings: Surroundings, signal: AbortSignal, done: (exitCode: number) => void): Perform {
  const output = (isJson: boolean) => createOutput(isJson, surroundings, signal);
  return {
    async onEngine(options, work, on) {
      const out = output(options.json === true);
      const exitCode = surroundings.connect((engine) => work(engine, out), out, on);
      done(await exitCode.finally(() => out.progressDone()));
    },
    async alone(options, work) {
      const out = output(options.json === true);
      done(await work(out, surroundings).finally(() => out.progressDone()));
    },
  };
}

function commandLine(perform: Perform): Command {
  const program = new Command('ops').description('Operates and audits a Ledgerline deployment.');
  program.addHelpText(
    'after',
    '\nExit codes: 0 fine; 1 something is wrong; 2 the command line cannot be understood; 130 interrupted.',
  );
  for (const add of families) add(program, perform);
  return program;
}

/** Every command prints where it is told to and has `--json`. */
function configure(command: Command, { stdout, stderr }: Surroundings): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
  });
  if (command.commands.length === 0) command.option('--json', 'print JSON');
  for (const inner of command.commands) configure(inner, { stdout, stderr } as Surroundings);
}

function explained(error: unknown): string {
  if (!(error instanceof Rejection))
    return error instanceof Error ? error.message || String(error.stack) : String(error);
  const { code, message, details } = error;
  return `${code}: ${message}${details ? ` ${JSON.stringify(details)}` : ''}`;
}
