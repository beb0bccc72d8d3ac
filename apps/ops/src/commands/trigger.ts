import { type Command, InvalidArgumentError } from 'commander';
import { type WebhookEventType, webhookEventTypes } from '../../../../libs/domain/webhooks/event-types.ts';
import type { Engine } from '../../../shared/engine.ts';
import { type CommonOptions, FINE, type Perform, platformId } from '../command.ts';
import type { Output } from '../output.ts';
import { chosenPlatform, isOnlyPlatform } from '../sandbox.ts';
import { flows } from '../trigger/flows.ts';
import { hindrance, trigger } from '../trigger/trigger.ts';

type Options = CommonOptions & { platform?: string };

/** `trigger [type]`. */
export function addTrigger(program: Command, perform: Perform): void {
  program
    .command('trigger')
    .description(
      'Brings an event of a sandbox platform about, for real: runs the flow that leads to it. Lists them without a type.',
    )
    .argument('[type]', 'of the webhook, such as OUTGOING_PAYMENT.COMPLETED', eventType)
    .option('--platform <id>', 'on this platform; the only one when absent', platformId)
    .action((type: WebhookEventType | undefined, options: Options) =>
      perform.onEngine(options, (engine, out) =>
        type ? triggering(engine, out, type, options) : listing(engine, out, options),
      ),
    );
}

async function triggering(engine: Engine, out: Output, type: WebhookEventType, options: Options): Promise<number> {
  const hindered = hindrance(type);
  if (hindered) throw new Error(`${type.type} cannot be triggered: ${hindered}.`);
  const chosen = await chosenPlatform(engine, { ...options, environment: 'sandbox' });
  const done = await trigger(engine, chosen, type);
  out.result(done);
  out.line(`${done.type}${done.resource ? ` of ${done.resource}: ${done.id}` : ' was sent.'}`);
  return FINE;
}

async function listing(engine: Engine, out: Output, options: Options): Promise<number> {
  const isClear = options.platform !== undefined || (await isOnlyPlatform(engine, 'sandbox'));
  const on = isClear ? (await chosenPlatform(engine, { ...options, environment: 'sandbox' })).state : undefined;
  const listed = webhookEventTypes.map((type): { type: string; does?: string; hindered?: string } => {
    const hindered = hindrance(type, on);
    return { type: type.type, ...(hindered === undefined ? { does: flows[type.event]!.does } : { hindered }) };
  });
  out.result(listed);
  out.table([['TYPE', 'BY'], ...listed.map(({ type, does, hindered }) => [type, does ?? `- (${hindered})`])]);
  return FINE;
}

function eventType(text: string): WebhookEventType {
  const found = webhookEventTypes.find(({ type, event }) => type === text || event === text);
  if (found) return found;
  throw new InvalidArgumentError('There is no such type: `ops trigger` lists them.');
}
