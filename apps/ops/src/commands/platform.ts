import { type Command, Option } from 'commander';
import { projections } from '../../../../projections/index.ts';
import { prepareReadTables } from '../../../projector/src/prepare.ts';
import { type CommonOptions, FINE, nonEmpty, type Perform } from '../command.ts';
import { whileProjecting } from '../connection.ts';
import type { Output } from '../output.ts';
import { listPlatforms, makePlatform, type NewPlatform } from '../platforms.ts';

interface CreateOptions extends CommonOptions {
  name: string;
  environment: 'sandbox' | 'production' | 'both';
  regulated?: true;
  strict?: true;
  requireTerms?: true;
  ruleBased?: true;
  invitations: boolean;
}

/** `platform create`, `platform list`. */
export function addPlatformCommands(program: Command, perform: Perform): void {
  const group = program.command('platform').description('The platforms of the deployment.');
  group
    .command('create')
    .description('Makes a platform with its first credentials in each environment. Secrets are shown once.')
    .requiredOption('--name <name>', 'name of the platform', nonEmpty)
    .addOption(new Option('--environment <name>').choices(['both', 'sandbox', 'production']).default('both'))
    .option('--regulated', 'a regulated institution: sandbox suffixes decide about its customers at creation')
    .option('--strict', 'money moves for APPROVED customers only')
    .option('--require-terms', 'accounts open and money moves only with consent to the end-user terms')
    .option('--rule-based', 'customers may have rule-based accounts, which send on what arrives on them')
    .option('--no-invitations', 'its customers invite nobody')
    .action((options: CreateOptions) =>
      perform.onEngine(
        options,
        (engine, out) => {
          const settings = {
            isRegulatedFinancialInstitution: options.regulated === true,
            requireApprovedCustomers: options.strict === true,
            requireEndUserTerms: options.requireTerms === true,
            ...(options.ruleBased && { allowRuleBasedAccounts: true }),
            ...(!options.invitations && { hasNoInvitations: true }),
          };
          const environments =
            options.environment === 'both' ? (['sandbox', 'production'] as const) : [options.environment];
          return whileProjecting(engine, async () => {
            tellMade(await makePlatform(engine, { name: options.name, environments, settings }), out);
            return FINE;
          });
        },
        'existing or new',
      ),
    );
  group
    .command('list')
    .description('Lists the platforms, oldest first.')
    .action((options: CommonOptions) =>
      perform.onEngine(options, async (engine, out) => {
        await prepareReadTables(engine.pool, projections); // on a database that no platform has been started on
        const listed = await listPlatforms(engine);
        out.result(listed);
        out.table([
          ['PLATFORM', 'ENVIRONMENT', 'CREATED', 'WEBHOOKS', 'NAME'],
          ...listed.map((one) => [one.platform, one.environment, one.createdAt, one.webhookEndpoint ?? '-', one.name]),
        ]);
        return FINE;
      }),
    );
}

function tellMade(made: NewPlatform, out: Output): void {
  out.result(made);
  out.table([['Platform', made.platform]]);
  for (const { environment, clientId, clientSecret, webhookSecret } of made.environments) {
    out.line();
    out.line(environment);
    out.table([
      ['  Client id', clientId],
      ['  Client secret', clientSecret],
      ['  Webhook secret', webhookSecret ?? ''],
    ]);
  }
}
