import { type Command, InvalidArgumentError, Option } from 'commander';
import { webhookEventTypes } from '../../../../libs/domain/webhooks/event-types.ts';
import type { Environment } from '../../../../libs/kernel/messages.ts';
import { createSender } from '../../../../libs/runtime/webhooks/sender.ts';
import { checkTarget } from '../../../../libs/runtime/webhooks/target.ts';
import type { Engine } from '../../../shared/engine.ts';
import { type CommonOptions, FINE, type Perform, platformId, several, WRONG, wholeNumber } from '../command.ts';
import { WebhookFeed } from '../listen/feed.ts';
import { type Forwarded, forwarder } from '../listen/forward.ts';
import { jsonLine, type Output } from '../output.ts';
import { chosenPlatform } from '../sandbox.ts';

interface Options extends CommonOptions {
  forwardTo: string;
  types?: string[];
  platform?: string;
  environment: Environment;
  count?: number;
}

/** `listen --forward-to <url>`. */
export function addListen(program: Command, perform: Perform): void {
  program
    .command('listen')
    .description("Forwards a platform's webhooks to an address as they come, beside their normal deliveries.")
    .requiredOption('--forward-to <url>', 'such as http://localhost:4000/webhooks', target)
    .option('--types <types>', 'only of these types: OUTGOING_PAYMENT.COMPLETED, OUTGOING_PAYMENT.*', types)
    .option('--platform <id>', 'of this platform; the only one when absent', platformId)
    .addOption(new Option('--environment <name>').choices(['sandbox', 'production']).default('sandbox'))
    .option('--count <number>', 'end after so many', wholeNumber(1))
    .action((options: Options) => perform.onEngine(options, (engine, out) => listening(engine, out, options)));
}

async function listening(engine: Engine, out: Output, options: Options): Promise<number> {
  const { forwardTo, types: wanted, count = Number.POSITIVE_INFINITY } = options;
  const { tenant, state } = await chosenPlatform(engine, options);
  if (state.webhookEndpoint === undefined) {
    out.note(
      'The platform has no webhook endpoint, so nothing is announced. Set one with PATCH /config, this address for example.',
    );
  }
  const sender = createSender({ allowPrivateTargets: true });
  const forward = forwarder(engine, tenant, sender);
  const feed = new WebhookFeed(engine, tenant);
  let forwarded = 0;
  let isFine = true;
  try {
    await feed.start();
    out.note(`Forwarding the webhooks of ${state.name} (${tenant.environment}) to ${forwardTo}. Ctrl-C ends it.`);
    while (!out.signal.aborted && forwarded < count) {
      for (const webhook of await feed.next(out.signal)) {
        if (out.signal.aborted || forwarded >= count) break;
        if (wanted && !wanted.includes(webhook.type)) continue;
        const done = await forward(forwardTo, webhook);
        forwarded += 1;
        isFine &&= done.webhookSignature && done.serviceSignature;
        await out.stream(out.isJson ? jsonLine(done) : lineOf(done, new Date(engine.clock.nowMs())));
      }
    }
  } finally {
    await feed.stop();
    await sender.close();
  }
  return isFine ? FINE : WRONG;
}

/** `12:00:01  OUTGOING_PAYMENT.COMPLETED  Transaction:…  → 204 in 12 ms  webhook-signature ok, X-Service-Signature ok` */
function lineOf(done: Forwarded, at: Date): string {
  const { type, resource, status, error, durationMs, isResent } = done;
  const came = status === undefined ? `failed: ${error}` : `${status} in ${durationMs} ms`;
  const checked = `webhook-signature ${told(done.webhookSignature)}, X-Service-Signature ${told(done.serviceSignature)}`;
  return `${at.toISOString().slice(11, 19)}  ${type}  ${resource}  → ${came}  ${checked}${isResent ? '  (sent again)' : ''}`;
}

const told = (isGood: boolean): string => (isGood ? 'ok' : 'WRONG');

function target(text: string): string {
  const problem = checkTarget(text, { allowPrivateTargets: true });
  if (problem) throw new InvalidArgumentError(problem.message);
  return text;
}

/** Types, and families of them like `CARD.*`, by name; refuses what there is not. */
function types(text: string, before: readonly string[] = []): string[] {
  const known = webhookEventTypes.map(({ type }) => type);
  const named = several(text).flatMap((one) => {
    const found = one.endsWith('*') ? known.filter((type) => type.startsWith(one.slice(0, -1))) : [one];
    if (found.length > 0 && found.every((type) => known.includes(type))) return found;
    throw new InvalidArgumentError(`There are no webhooks of type ${one}.`);
  });
  return [...before, ...named];
}
