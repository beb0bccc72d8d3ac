import { parseArgs } from 'node:util';
import { DemoFailure } from './client.ts';
import { play } from './story.ts';
import { ownPlatform, type Target } from './target.ts';
import { Teller } from './teller.ts';

const USAGE =
  'npm run demo [-- --url http://127.0.0.1:3000 --client-id … --client-secret … [--webhook-secret whsec_…]]: what npm start has printed.';

/** `npm run demo`: the product told by using it. Exit code 1 when anything is not as it must be. */
export async function runDemo(
  args: readonly string[],
  out: { write(text: string): unknown; isTTY?: boolean },
): Promise<number> {
  const teller = new Teller(out);
  let target: Target | undefined;
  try {
    const given = targetOf(args);
    if (given) teller.say(`The platform at ${given.url} is used.`);
    else teller.say('A platform is started on an empty folder: PostgreSQL, API, projections, processes, webhooks …');
    target = given ?? (await ownPlatform());
    const { stop } = target;
    process.once('SIGINT', () => void stop().finally(() => process.exit(130)));
    await play(target, teller);
    return 0;
  } catch (error) {
    teller.wrong(error instanceof DemoFailure ? error.message : ((error as Error).stack ?? String(error)));
    return 1;
  } finally {
    await target?.stop();
  }
}

function targetOf(args: readonly string[]): Target | undefined {
  const text = { type: 'string' } as const;
  const options = { url: text, 'client-id': text, 'client-secret': text, 'webhook-secret': text };
  let values: Partial<Record<keyof typeof options, string>>;
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    throw new DemoFailure(`${(error as Error).message}\n   ${USAGE}`);
  }
  const { url, 'client-id': clientId, 'client-secret': clientSecret, 'webhook-secret': webhookSecret } = values;
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !clientId || !clientSecret) {
    throw new DemoFailure(`--url needs --client-id and --client-secret.\n   ${USAGE}`);
  }
  return { url: url.replace(/\/$/, ''), credentials: { clientId, clientSecret }, webhookSecret, stop: async () => {} };
}
