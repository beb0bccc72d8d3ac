import { type Command, Option } from 'commander';
import { type CommonOptions, FINE, nonEmpty, type Perform, platformId, WRONG, wholeNumber } from '../command.ts';
import { giveUp, listDeadLetters, retryDeadLetter } from '../dead-letters.ts';
import { counted } from '../output.ts';
import { whoami } from '../reveal.ts';

interface ListOptions extends CommonOptions {
  kind?: 'process' | 'delivery';
  platform?: string;
  all?: true;
  limit: number;
}

const ID = 'as `dead-letters list` shows it';

/** `dead-letters list`, `dead-letters retry <id>`, `dead-letters give-up <id> --reason <text>`. */
export function addDeadLetterCommands(program: Command, perform: Perform): void {
  const group = program.command('dead-letters').description('What a process or a delivery parked after its last try.');
  group
    .command('list', { isDefault: true })
    .description('Lists what waits for an operator. Exit code 1 when there is something.')
    .addOption(new Option('--kind <kind>', 'only these').choices(['process', 'delivery']))
    .option('--platform <id>', 'only of this platform', platformId)
    .option('--all', 'also what was given up')
    .option('--limit <number>', 'at most so many of each kind', wholeNumber(1), 100)
    .action((options: ListOptions) =>
      perform.onEngine(options, async (engine, out) => {
        const { limit, json: _, ...filter } = options;
        const letters = await listDeadLetters(engine, filter, limit);
        out.result(letters);
        if (letters.length === 0) out.line('Nothing is parked.');
        for (const letter of letters) {
          const { id, about, attempts, parkedAt, error, status, givenUp, platform, environment } = letter;
          out.line(`${id}  ${status}  since ${parkedAt}, ${counted(attempts, 'try', 'tries')}`);
          out.line(`    ${about}, ${platform} ${environment}`);
          out.line(`    ${error}`);
          if (givenUp) out.line(`    given up ${givenUp.at} by ${givenUp.by}: ${givenUp.reason}`);
        }
        return letters.some(({ status }) => status === 'PARKED') ? WRONG : FINE;
      }),
    );
  group
    .command('retry')
    .description('Asks for one more try of parked work. Exit code 1 when it is parked again.')
    .argument('<id>', ID)
    .option('--wait <seconds>', 'how long to wait for a worker', wholeNumber(), 10)
    .action((id: string, options: CommonOptions & { wait: number }) =>
      perform.onEngine(options, async (engine, out) => {
        const retried = await retryDeadLetter(engine, id, options.wait * 1_000);
        out.result({ id, ...retried });
        if (retried.outcome === 'DONE') out.line(`${id} is done.`);
        if (retried.outcome === 'ASKED') out.line(`${id} is due; it is done as soon as its turn comes.`);
        if (retried.outcome === 'PARKED_AGAIN') out.line(`${id} is parked again: ${retried.error}`);
        return retried.outcome === 'PARKED_AGAIN' ? WRONG : FINE;
      }),
    );
  group
    .command('give-up')
    .description('Ends parked work without doing it, and keeps why.')
    .argument('<id>', ID)
    .requiredOption('--reason <text>', 'why it need not be done', nonEmpty)
    .option('--by <name>', 'who decided it; the user of this machine when absent', nonEmpty)
    .action((id: string, options: CommonOptions & { reason: string; by?: string }) =>
      perform.onEngine(options, async (engine, out) => {
        const { reason, by = whoami() } = options;
        await giveUp(engine, id, { by, reason });
        out.result({ id, by, reason });
        out.line(`${id} is given up.`);
        return FINE;
      }),
    );
}
