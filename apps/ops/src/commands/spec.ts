import type { Command } from 'commander';
import { type CommonOptions, FINE, type Perform } from '../command.ts';
import { markdown, stateMachines } from '../spec.ts';

/** `spec`. */
export function addSpec(program: Command, perform: Perform): void {
  program
    .command('spec')
    .description('Prints every transition table as Markdown.')
    .action((options: CommonOptions) =>
      perform.alone(options, async (out) => {
        out.result(stateMachines);
        out.line(markdown(stateMachines));
        return FINE;
      }),
    );
}
