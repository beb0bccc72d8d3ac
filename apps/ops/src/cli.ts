import { Command, CommanderError, Option } from 'commander';
import { Rejection } from '../../../libs/kernel/errors.ts';
import type { Environment } from '../../../libs/kernel/messages.ts';
import { projections } from '../../../projections/index.ts';
import { type Rebuilt, rebuild } from '../../projector/src/rebuild.ts';
import type { Engine } from '../../shared/engine.ts';
import { whileProjecting, withEngine } from './connection.ts';
import { erase } from './erase.ts';
import { inspect, told } from './inspect.ts';
import { amount, columns, count, createOutput, howFar, type Output, type Streams, shownValue } from './output.ts';
import { listPlatforms, makePlatform, type NewPlatform } from './platforms.ts';
import { trialBalance } from './trial-balance.ts';
import { checks, type Verification, verify } from './verify.ts';

/** Exit codes: 0 fine; 1 something is wrong, in the data or with the command; 2 the command line cannot be understood. */
const FINE = 0;
const WRONG = 1;
const MISUSED = 2;

export interface RunOptions extends Streams {
  /** Gives a command the engine it works on. */
  connect: <T>(work: (engine: Engine) => Promise<T>) => Promise<T>;
}

/** Runs one command line, without the program's name. Answers its exit code. */
export async function run(args: readonly string[], options: Partial<RunOptions> = {}): Promise<number> {
  const { stdout = process.stdout, stderr = process.stderr, connect = withEngine } = options;
  let exitCode = FINE;
  const program = commandLine(async (isJson, work) => {
    const out = createOutput(isJson, { stdout, stderr });
    exitCode = await connect((engine) => work(engine, out)).finally(() => out.progressDone());
  });
  configure(program, { stdout, stderr });
  const interrupted = () => process.exit(130); // an embedded PostgreSQL that this command started ends with it
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? FINE : MISUSED;
    stderr.write(`${explained(error)}\n`);
    return WRONG;
  } finally {
    process.removeListener('SIGINT', interrupted).removeListener('SIGTERM', interrupted);
  }
}

function explained(error: unknown): string {
  if (!(error instanceof Rejection))
    return error instanceof Error ? error.message || String(error.stack) : String(error);
  const { code, message, details } = error;
  return `${code}: ${message}${details ? ` ${JSON.stringify(details)}` : ''}`;
}

/** Does a command's work on an engine; it answers the exit code. */
type Perform = (isJson: boolean, work: (engine: Engine, out: Output) => Promise<number>) => Promise<void>;

function configure(command: Command, { stdout, stderr }: Streams): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
  });
  for (const inner of command.commands) configure(inner, { stdout, stderr });
}

function commandLine(perform: Perform): Command {
  const program = new Command('ops').description('Operates and audits a Ledgerline deployment.');
  addPlatformCommands(program.command('platform').description('The platforms of the deployment.'), perform);
  addAuditCommands(program, perform);
  addErase(program, perform);
  program
    .command('rebuild')
    .description('Builds read models anew from the log and exchanges them for the live ones.')
    .argument('[projections...]', `of ${projections.map(({ name }) => name).join(', ')}`)
    .option('--all', 'every read model')
    .option('--json', 'print JSON')
    .action((names: string[], options: { all?: true; json?: true }, command: Command) => {
      const unknown = names.find((name) => !projections.some((projection) => projection.name === name));
      if (unknown !== undefined) command.error(`error: there is no read model ${unknown}`);
      if (names.length > 0 === (options.all === true)) command.error('error: name read models, or give --all');
      const chosen = projections.filter(({ name }) => options.all || names.includes(name));
      return perform(options.json === true, async (engine, out) => {
        const done = await rebuild(engine, chosen, { progress: (at) => out.progress(howFar(at)) });
        tellRebuilt(done, out);
        return FINE;
      });
    });
  return program;
}

function addPlatformCommands(group: Command, perform: Perform): void {
  group
    .command('create')
    .description('Makes a platform with its first token. Its secrets are shown once.')
    .requiredOption('--name <name>', 'name of the platform')
    .addOption(new Option('--environment <name>').choices(['sandbox', 'production']).default('sandbox'))
    .option('--regulated', 'a regulated institution: sandbox suffixes decide about its customers at creation')
    .option('--strict', 'money moves for APPROVED customers only')
    .option('--require-terms', 'accounts open and money moves only with consent to the end-user terms')
    .option('--json', 'print JSON')
    .action((options: CreateOptions) =>
      perform(options.json === true, (engine, out) => {
        const settings = {
          isRegulatedFinancialInstitution: options.regulated === true,
          requireApprovedCustomers: options.strict === true,
          requireEndUserTerms: options.requireTerms === true,
        };
        return whileProjecting(engine, async () => {
          const { name, environment } = options;
          tellMade(await makePlatform(engine, { name, environment, settings }), out);
          return FINE;
        });
      }),
    );
  group
    .command('list')
    .description('Lists the platforms, oldest first.')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) =>
      perform(options.json === true, async (engine, out) => {
        const listed = await listPlatforms(engine);
        out.result(listed);
        const rows = listed.map((one) => [
          one.platform,
          one.environment,
          one.createdAt,
          one.webhookEndpoint ?? '-',
          one.name,
        ]);
        for (const line of columns([['PLATFORM', 'ENVIRONMENT', 'CREATED', 'WEBHOOKS', 'NAME'], ...rows]))
          out.line(line);
        return FINE;
      }),
    );
}

interface CreateOptions {
  name: string;
  environment: Environment;
  regulated?: true;
  strict?: true;
  requireTerms?: true;
  json?: true;
}

function addAuditCommands(program: Command, perform: Perform): void {
  program
    .command('verify')
    .description('Replays the whole log and holds it against the ledger and every read model.')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) =>
      perform(options.json === true, async (engine, out) => {
        const found = await verify(engine, projections, { progress: (at) => out.progress(howFar(at)) });
        out.progressDone();
        out.result(found);
        tellVerified(found, out);
        return found.findings.length === 0 ? FINE : WRONG;
      }),
    );
  program
    .command('trial-balance')
    .description('What every account received and gave, per currency. It sums up to zero.')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) =>
      perform(options.json === true, async (engine, out) => {
        const found = await trialBalance(engine);
        const isBalanced = Object.values(found.totals).every((total) => total === 0n);
        out.result({ ...found, isBalanced });
        const rows = found.lines.map(({ account, currency, inMinor, outMinor, balanceMinor }) => [
          account,
          amount(inMinor, currency),
          amount(outMinor, currency),
          amount(balanceMinor, currency),
        ]);
        const totals = Object.entries(found.totals).map(([currency, total]) => [
          'total',
          '',
          '',
          amount(total, currency),
        ]);
        const table = [['ACCOUNT', 'IN', 'OUT', 'BALANCE'], ...rows, ...totals];
        for (const line of columns(table, [1, 2, 3])) out.line(line);
        out.line(isBalanced ? `Balanced, up to event ${found.position}.` : 'NOT BALANCED.');
        return isBalanced ? FINE : WRONG;
      }),
    );
  program
    .command('inspect')
    .description('Shows the events of a resource, with the state before and after each.')
    .argument('<id>', 'a public id (Customer:…), a bare uuid, or the name of a stream')
    .option('--reveal', 'show personal data and secrets')
    .option('--json', 'print JSON')
    .action((id: string, options: { reveal?: true; json?: true }) =>
      perform(options.json === true, async (engine, out) => {
        const streams = await inspect(engine, id, { reveal: options.reveal === true });
        if (streams.length === 0) throw new Error(`Nothing is recorded about ${id}.`);
        out.result(streams);
        for (const stream of streams) for (const line of [...told(stream), '']) out.line(line);
        return FINE;
      }),
    );
}

function addErase(program: Command, perform: Perform): void {
  program
    .command('erase')
    .description('Erases the personal data of a deleted customer for good, by destroying its key.')
    .argument('<customer>', 'Customer:<uuid>')
    .option('--json', 'print JSON')
    .action((id: string, options: { json?: true }) =>
      perform(options.json === true, (engine, out) =>
        whileProjecting(engine, async () => {
          const erased = await erase(engine, id);
          out.result(erased);
          const parts = Object.entries(erased).map(([what, number]) => `${what}: ${number}`);
          out.line(`The personal data of ${id} is erased (${parts.join(', ')}).`);
          return FINE;
        }),
      ),
    );
}

function tellMade(made: NewPlatform, out: Output): void {
  out.result(made);
  const rows = [
    ['Platform', made.platform],
    ['Environment', made.environment],
    ['Client id', made.clientId],
    ['Client secret', made.clientSecret],
    ['Webhook secret', made.webhookSecret ?? ''],
  ];
  for (const line of columns(rows)) out.line(line);
}

function tellVerified(found: Verification, out: Output): void {
  const unprojected = found.events - found.projected;
  out.line(`${count(found.events)} events, ${count(found.accounts)} accounts, ${found.seconds.toFixed(1)} s`);
  if (unprojected > 0)
    out.line(`${count(unprojected)} events were not projected yet: read models are checked without them`);
  for (const check of checks) {
    const failures = found.failures[check];
    out.line(`${failures === 0 ? 'ok    ' : 'FAILED'}  ${check}${failures > 0 ? `: ${count(failures)}` : ''}`);
    for (const { subject, message } of found.findings.filter((finding) => finding.check === check)) {
      out.line(`        ${subject}: ${message}`);
    }
  }
}

function tellRebuilt(done: Rebuilt, out: Output): void {
  out.progressDone();
  out.result(done);
  const rate = done.seconds > 0 ? count(done.events / done.seconds) : '0';
  out.line(`${count(done.events)} events in ${done.seconds.toFixed(1)} s (${rate}/s)`);
  for (const { name, rows, compared } of done.tables) {
    const said =
      compared === undefined
        ? 'new shape'
        : compared.differing === 0
          ? 'as before'
          : `${count(compared.differing)} differed`;
    out.line(`  ${name}: ${count(rows)} rows, ${said}`);
    for (const { id, field, live, rebuilt } of compared?.differences ?? []) {
      out.line(`    ${id}: ${field} was ${shownValue(live)}, is ${shownValue(rebuilt)}`);
    }
  }
}
