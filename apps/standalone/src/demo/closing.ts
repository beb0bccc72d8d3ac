import { inspect } from '../../../ops/src/inspect.ts';
import { columns, amount as money } from '../../../ops/src/output.ts';
import { trialBalance } from '../../../ops/src/trial-balance.ts';
import { type Cast, shown, signatures } from './cast.ts';
import { must } from './client.ts';

/** What is left to look at when the payments are made: balances, webhooks, the history of one payment, the books. */
export async function closing(cast: Cast, paid: string): Promise<void> {
  await balances(cast);
  await webhooks(cast, paid);
  if (!cast.target.engine) {
    return cast.teller.end(
      'All as it must be. The trial balance is the operator’s to see: npm run ops -- trial-balance',
    );
  }
  await history(cast, paid);
  await books(cast);
  cast.teller.end('All as it must be. Try it yourself: npm start');
}

async function balances({ client, teller, amina, jonas }: Cast): Promise<void> {
  teller.chapter('Where the money is');
  const rows: string[][] = [];
  for (const [name, customerId] of [
    ['Amina', amina],
    ['Jonas', jonas],
  ] as const) {
    const { body } = await client.call('GET', `/customers/internal-accounts?customerId=${customerId}`, 200);
    for (const { balance } of body.data) if (balance.amount !== 0) rows.push([name, shown(balance)]);
  }
  teller.block(columns(rows, [1]));
  const expected = ['Amina 500.00 USD', 'Jonas 183.08 EUR'];
  must(rows.map((row) => row.join(' ')).join() === expected.join(), `the balances should be ${expected.join(', ')}`);
  teller.right('1,000.00 came in; 200.00 went to Jonas, 300.00 to the bank.');
}

async function webhooks({ target, teller, receiver }: Cast, paid: string): Promise<void> {
  teller.chapter('What the platform was told');
  const about = receiver.webhooks.filter(({ data }) => data?.id === paid).sort((a, b) => a.sequence - b.sequence);
  teller.say('Each resource numbers its webhooks, so that a late one is recognised. Of the payment to the bank:');
  teller.block(columns(about.map(({ sequence, type }) => [`sequence ${sequence}`, type])));
  teller.right(`${receiver.webhooks.length} webhooks arrived, of each ${signatures(target)}.`);
}

async function history({ target, teller }: Cast, paid: string): Promise<void> {
  teller.chapter('How it came about: the events of the payment to the bank');
  const [stream] = await inspect(target.engine!, paid);
  must(stream !== undefined && stream.events.length > 0, 'the payment has no events');
  const rows = stream.events.map(({ revision, type, at, actor, changed }) => [
    `#${revision}`,
    type,
    at.slice(11, 23),
    actor.replace(/:([0-9a-f]{8})-.*/, ':$1…'),
    changed.slice(0, 3).join(', ') + (changed.length > 3 ? ', …' : ''),
  ]);
  teller.block(columns([['', 'event', 'at', 'by', 'changed'], ...rows]));
  teller.say('Events are never changed or deleted. Everything else can be made from them again.');
}

async function books({ target, teller }: Cast): Promise<void> {
  teller.chapter('The trial balance');
  const { lines, totals } = await trialBalance(target.engine!);
  const rows = lines.map(({ account, currency, inMinor, outMinor, balanceMinor }) => [
    account,
    money(inMinor, currency),
    money(outMinor, currency),
    money(balanceMinor, currency),
  ]);
  const sums = Object.entries(totals).map(([currency, total]) => ['sum', '', '', money(total, currency)]);
  teller.block(columns([['account', 'in', 'out', 'balance'], ...rows, ...sums], [1, 2, 3]));
  must(lines.length > 0 && Object.values(totals).every((total) => total === 0n), 'the trial balance is not zero');
  teller.right('Zero in every currency: no money was lost, doubled or invented.');
}
