import type { Command } from 'commander';
import { migrate } from '../../../../migrations/index.ts';
import { openDatabase } from '../../../shared/database.ts';
import { type CommonOptions, FINE, type Perform, WRONG } from '../command.ts';
import { loggerOf } from '../connection.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { diagnose } from '../doctor.ts';

/** `doctor`, `migrate`. */
export function addDeploymentCommands(program: Command, perform: Perform): void {
  program
    .command('doctor')
    .description('Checks configuration, servers, topic, migrations, clocks, disk, relay and lag, and says what to do.')
    .action((options: CommonOptions) =>
      perform.alone(options, async (out, { config }) => {
        const found: Diagnosis[] = [];
        for await (const one of diagnose(config, out)) {
          found.push(one);
          out.line(`${one.outcome.padEnd(4)}  ${one.check}: ${one.message}`);
          if (one.advice) out.line(`      → ${one.advice}`);
        }
        out.result(found);
        return found.some(({ outcome }) => outcome === 'fail') ? WRONG : FINE;
      }),
    );
  program
    .command('migrate')
    .description('Brings the schema of the database to the newest version.')
    .action((options: CommonOptions) =>
      perform.alone(options, async (out, { config }) => {
        const database = await openDatabase(config(), { logger: loggerOf(out), join: true });
        try {
          const done = await migrate(database.url);
          out.result({ migrations: done });
          for (const name of done) out.line(name);
          if (done.length === 0) out.line('The schema is the newest.');
          return FINE;
        } finally {
          await database.stop();
        }
      }),
    );
}
