import type { Command } from 'commander';
import { type CommonOptions, FINE, type Perform } from '../command.ts';
import { whileProjecting } from '../connection.ts';
import { erase } from '../erase.ts';

/** `erase <customer>`. */
export function addErase(program: Command, perform: Perform): void {
  program
    .command('erase')
    .description('Erases the personal data of a deleted customer for good, by destroying its key.')
    .argument('<customer>', 'Customer:<uuid>')
    .action((id: string, options: CommonOptions) =>
      perform.onEngine(options, (engine, out) =>
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
