import { type Command, InvalidArgumentError, Option } from 'commander';
import { webhookEventTypes } from '../../../../libs/domain/webhooks/event-types.ts';
import { type CommonOptions, FINE, nonEmpty, type Perform, platformId, wholeNumber } from '../command.ts';
import { deliveryStatuses, type ListedDelivery, listDeliveries, recover, redeliver, webhookId } from '../deliveries.ts';
import { timeMs } from '../moment.ts';
import { counted, type Output } from '../output.ts';

interface Options extends CommonOptions {
  status?: string;
  platform?: string;
  environment?: string;
  type?: string;
  resource?: string;
  since?: number;
  limit: number;
}

const PLATFORM = 'only of this platform';

/** `deliveries`, `redeliver <id>`, `recover --since <time>`. */
export function addDeliveryCommands(program: Command, perform: Perform): void {
  program
    .command('deliveries')
    .description('Webhooks, newest first, with every attempt to deliver them.')
    .addOption(new Option('--status <status>', 'only those').choices(deliveryStatuses))
    .option('--platform <id>', PLATFORM, platformId)
    .addOption(new Option('--environment <name>').choices(['sandbox', 'production']))
    .option('--type <type>', 'only of this type, such as OUTGOING_PAYMENT.COMPLETED', webhookType)
    .option('--resource <id>', 'only about this resource, such as Transaction:<uuid>', nonEmpty)
    .option('--since <time>', 'only of what happened since a date or a time', timeMs)
    .option('--limit <number>', 'at most so many', wholeNumber(1), 50)
    .action((options: Options) =>
      perform.onEngine(options, async (engine, out) => {
        const { limit, since, resource, json: _, ...rest } = options;
        const filter = { ...rest, ...(since && { sinceMs: since }), ...(resource && { resources: [resource] }) };
        const listed = await listDeliveries(engine, filter, limit);
        out.result(listed);
        tell(listed, out);
        return FINE;
      }),
    );
  program
    .command('redeliver')
    .description('Sends a webhook again, with a fresh retry schedule, whatever became of it before.')
    .argument('<id>', 'Webhook:<uuid>')
    .action((id: string, options: CommonOptions) =>
      perform.onEngine(options, async (engine, out) => {
        const delivery = await redeliver(engine, webhookId(id));
        out.result(delivery);
        out.line(`${delivery.id} (${delivery.type} of ${delivery.resource}) is due now.`);
        return FINE;
      }),
    );
  program
    .command('recover')
    .description('Sends all webhooks again whose delivery failed.')
    .requiredOption('--since <time>', 'of what happened since a date or a time', timeMs)
    .option('--platform <id>', PLATFORM, platformId)
    .action((options: CommonOptions & { since: number; platform?: string }) =>
      perform.onEngine(options, async (engine, out) => {
        const { since: sinceMs, platform } = options;
        const recovered = await recover(engine, { sinceMs, ...(platform && { platform }) }, out);
        out.progressDone();
        out.result({ recovered });
        out.line(`${counted(recovered, 'delivery', 'deliveries')} due now.`);
        return FINE;
      }),
    );
}

function webhookType(text: string): string {
  if (webhookEventTypes.some(({ type }) => type === text)) return text;
  throw new InvalidArgumentError(`There are no webhooks of type ${text}.`);
}

function tell(listed: readonly ListedDelivery[], out: Output): void {
  if (listed.length === 0) out.line('No deliveries.');
  for (const one of listed) {
    const next = one.nextAttemptAt ? `, next attempt ${one.nextAttemptAt}` : '';
    const givenUp = one.givenUp ? `, given up by ${one.givenUp.by}: ${one.givenUp.reason}` : '';
    out.line(`${one.id}  ${one.createdAt}  ${one.status}${next}${givenUp}`);
    out.line(`    ${one.type} of ${one.resource}, sequence ${one.sequence}, ${one.platform} ${one.environment}`);
    for (const { number, attemptedAt, responseStatus, error, durationMs } of one.attempts) {
      const came = responseStatus === undefined ? error : `HTTP ${responseStatus}`;
      out.line(`    attempt ${number}  ${attemptedAt}  ${durationMs} ms  ${came}`);
    }
  }
}
