import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import { SANDBOX_UMA_DOMAIN } from '../../libs/providers/uma.sandbox.table.ts';
import type { Random } from '../faults/random.ts';
import type { Ask, Call } from './asking.ts';
import type { Thing } from './known.ts';
import {
  configured,
  currencyOf,
  customer,
  external,
  FIAT,
  internal,
  map,
  newCustomer,
  patch,
  pathOf,
  post,
  quoted,
  received,
  remove,
  rightRequest,
  type Scene,
  SENDERS,
  SUFFIXES,
  sometimes,
  token,
  waits,
  withdrawn,
} from './requests.ts';

/** Requests about the same, to be made at once. Something may have to be asked for before; undefined while what it needs is not there. */
type Collide = (scene: Scene, ask: Ask) => Promise<Call[] | undefined> | Call[] | undefined;

const times = (count: number, call: Call): Call[] => Array.from({ length: count }, () => call);
const later = ({ random }: Scene): Call => post('/sandbox/clock/advance', { seconds: random.pick([1, 30, 361]) });
const paid = (source: object, to: object, amount: number, immediatelyExecute: boolean): Call =>
  post('/quotes', {
    source,
    destination: to,
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: amount,
    immediatelyExecute,
  });
const from = ({ id }: Thing) => ({ sourceType: 'ACCOUNT', accountId: id });
const onto = ({ id }: Thing) => ({ destinationType: 'ACCOUNT', accountId: id });
const fund = ({ id }: Thing, amount: number): Call => post(`/sandbox/internal-accounts/${id}/fund`, { amount });
/** Each with so great a chance, in any order. */
function some(random: Random, share: number, calls: readonly Call[]): Call[] {
  const left = calls.filter(() => random.next() < share);
  const mixed: Call[] = [];
  while (left.length > 0) mixed.push(left.splice(random.between(0, left.length - 1), 1)[0]!);
  return mixed;
}

/** A quote is executed, or paid, more than once, while it expires and those whom it is about leave. */
const executedAgain: Collide = async (scene, ask) => {
  const { random } = scene;
  const { immediatelyExecute: _, ...body } = (quoted(scene)?.body ?? {}) as Record<string, unknown>;
  const { body: quote } = await ask(post('/quotes', body));
  if (quote?.status !== 'PENDING') return undefined;
  if (waits(quote) && !FIAT.includes(quote.sendingCurrency.code)) return undefined; // what comes back goes to an account
  const payment = { quoteId: quote.id, currencyCode: quote.sendingCurrency.code };
  const other = { ...payment, currencyAmount: quote.totalSendingAmount + 500 };
  const act = waits(quote) ? post('/sandbox/send', payment) : post(`/quotes/${quote.id}/execute`, {});
  const wrongly = waits(quote) ? post('/sandbox/send', other) : act;
  const owner = ownerOf(scene, quote);
  const more = [wrongly, act, post(`/transactions/${quote.transactionId}/cancel`, {})];
  return [act, act, ...some(random, 0.4, more), ...some(random, 0.1, [later(scene), ...(owner ? leaving(owner) : [])])];
};

const leaving = ({ id }: Thing): Call[] => times(2, remove(`/customers/${id}`));

/** The customer whose account a quote takes money from, or a transaction. */
const ownerOf = ({ known, random }: Scene, { source, customerId }: Thing): Thing | undefined => {
  const account = known.one(random, 'InternalAccount', ({ id }) => id === source?.accountId);
  const owner = customerId ?? source?.customerId ?? account?.customerId;
  return known.one(random, 'Customer', ({ id }) => id === owner);
};

/** A transaction that is under way is decided about in every way at once. */
const decided: Collide = async (scene, ask) => {
  const { random, known } = scene;
  const isOpen = ({ status }: Thing) => status === 'PROCESSING' || status === 'PENDING';
  const first = random.next() < 0.5 ? (withdrawn(scene) ?? quoted(scene) ?? received(scene)) : undefined;
  const made = first && (await ask(first)).body;
  const id =
    made?.transactionId ??
    (String(made?.id).startsWith('Transaction:') ? made.id : known.one(random, 'Transaction', isOpen)?.id);
  if (!id) return undefined;
  const acts = ['cancel', 'cancel', 'cancel', 'confirm', 'approve', 'approve', 'reject', 'reject'];
  const calls = some(
    random,
    0.5,
    acts.map((act) => post(`/transactions/${id}/${act}`, {})),
  );
  return [...calls, ...some(random, 0.2, [later(scene)])];
};

/** An account is asked for more than it has, by several at once. */
const drained: Collide = async (scene, ask) => {
  const { random } = scene;
  const found = internal(scene, (one) => one.type !== 'RULE_BASED' && one.balance.amount > 3);
  if (!found) return undefined;
  const { body: list } = await ask({ method: 'GET', path: listOf(found) });
  const now = list?.data?.find(({ id }: Thing) => id === found.id) as Thing | undefined;
  const currency = currencyOf(found);
  const to = external(scene, (one) => one.currency === currency);
  const inner = internal(scene, ({ id }) => id !== found.id);
  if (!now || (!to && !inner)) return undefined;
  const most = now.balance.amount;
  return Array.from({ length: random.between(2, 5) }, () => {
    const amount = random.pick([most, Math.ceil(most / 2), Math.ceil(most / 2) + 1, Math.ceil(most / 3)]) || 1;
    const accountId = (random.next() < 0.5 ? to : inner)?.id ?? inner?.id ?? to?.id;
    if (to && accountId === to.id && random.next() < 0.4)
      return post('/transfer-out', { source: { accountId: found.id }, destination: { accountId }, amount });
    return paid(from(found), { destinationType: 'ACCOUNT', accountId }, amount, true);
  });
};

const listOf = ({ customerId }: Thing): string =>
  String(customerId).startsWith('Customer:')
    ? `/customers/internal-accounts?customerId=${customerId}`
    : '/platform/internal-accounts';

/** A customer who has just come, with what is needed to move money for it. */
interface Newcomer {
  owner: Thing;
  account: Thing;
  amount: number;
  /** Its rule-based account. */
  swept?: Thing;
  /** An external account, its own or the platform's. */
  to: Thing;
  /** A payment that it makes, and payments that wait for money: to it, and through it. */
  made?: Thing;
  awaited: Thing;
  through: Thing;
}

const sweeping = (owner: Thing, to: Thing): Call =>
  post('/internal-accounts', {
    customerId: owner.id,
    type: 'RULE_BASED',
    currency: 'USD',
    sweepRule: { destination: { accountId: to.id } },
  });

async function newcomer(scene: Scene, ask: Ask): Promise<Newcomer | undefined> {
  const { random } = scene;
  const done = async (call: Call): Promise<Thing | undefined> => {
    const { status, body } = await ask(call);
    return status < 300 ? body : undefined;
  };
  const owner = await done(post('/customers', { ...(newCustomer(scene)!.body as object), currencies: ['USD'] }));
  const list = owner && (await done({ method: 'GET', path: `/customers/internal-accounts?customerId=${owner.id}` }));
  const account: Thing | undefined = list?.data[0];
  if (!owner || !account) return undefined;
  const isOwn = random.next() < 0.7;
  const to = await done(
    post(isOwn ? '/customers/external-accounts' : '/platform/external-accounts', {
      currency: 'USD',
      accountInfo: withSuffix('USD_ACCOUNT', random.pick(SUFFIXES)),
      ...(isOwn && { customerId: owner.id, ...sometimes(random, 0.3, { defaultUmaDepositAccount: true }) }),
    }),
  );
  const bank = to ?? external(scene, ({ currency }) => currency === 'USD');
  if (!bank) return undefined;
  const amount = random.between(100, 5_000);
  const swept = random.next() < 0.5 ? await done(sweeping(owner, bank)) : undefined;
  const isRich = random.next() < 0.5 && (await done(fund(account, amount))) !== undefined;
  const made = isRich ? await done(paid(from(account), onto(bank), amount, random.next() < 0.5)) : undefined;
  const paidIn = { sourceType: 'REALTIME_FUNDING', currency: 'USD' };
  const awaited = await done(paid(paidIn, onto(account), amount, false));
  const through = await done(paid({ ...paidIn, customerId: owner.id }, onto(bank), amount, false));
  if (!awaited || !through) return undefined;
  return { owner, account, amount, to: bank, awaited, through, ...(swept && { swept }), ...(made && { made }) };
}

/** A new customer leaves while its money is on its way: what arrives, is paid, swept, comes back. */
const left: Collide = async (scene, ask) => {
  const { random } = scene;
  const one = await newcomer(scene, ask);
  if (!one) return undefined;
  const { owner, account, amount, swept, to, made, awaited, through } = one;
  const umaAddress: string = owner.umaAddress;
  const domain = umaAddress.split('@')[1];
  const received = { receiverUmaAddress: umaAddress, receivingCurrencyCode: 'USD', receivingCurrencyAmount: amount };
  const payer = internal(scene, ({ id, balance }) => id !== account.id && balance.amount > amount);
  const more: Call[] = [
    fund(account, amount),
    ...(swept ? times(2, fund(swept, amount)) : []),
    paid(from(account), onto(to), amount, true),
    ...[awaited, through].map(({ id: quoteId }) => post('/sandbox/send', { quoteId, currencyCode: 'USD' })),
    ...(made ? [post(`/quotes/${made.id}/execute`, {}), post(`/transactions/${made.transactionId}/cancel`, {})] : []),
    post('/sandbox/uma/receive', { ...received, senderUmaAddress: `${random.pick(SENDERS)}@${SANDBOX_UMA_DOMAIN}` }),
    ...(payer
      ? [onto(account), { destinationType: 'UMA_ADDRESS', umaAddress }].map((end) =>
          paid(from(payer), end, amount, true),
        )
      : []),
    remove(pathOf(to)),
    sweeping(owner, to),
    patch(`/customers/${owner.id}`, { fullName: 'Amina 7' }),
    patch(`/customers/${owner.id}`, { currencies: ['USD', random.pick(FIAT)] }),
    patch(`/customers/${owner.id}`, { umaAddress: `$amina${random.between(1, 9)}@${domain}` }),
    post('/invitations', { inviterUma: umaAddress, firstName: 'Luis' }),
    ...some(random, 0.2, [later(scene)]),
  ];
  const calls = some(random, 0.35, [...more, remove(`/customers/${owner.id}`)]);
  calls.splice(random.between(0, calls.length), 0, remove(`/customers/${owner.id}`));
  return calls;
};

/** What only one may have is wanted by several. */
const wantedByTwo: Collide = (scene) => {
  const { random } = scene;
  const platformCustomerId = `both-${random.between(1, 1_000_000)}`;
  const [one, other] = [customer(scene), customer(scene)];
  if (!one || !other) return undefined;
  const umaAddress = `$both${random.between(1, 1_000_000)}@${String(one.umaAddress).split('@')[1]}`;
  const body = { ...(newCustomer(scene)!.body as object), platformCustomerId };
  const info = withSuffix('USD_ACCOUNT', String(random.between(100, 999)));
  const bank = post('/customers/external-accounts', { customerId: one.id, currency: 'USD', accountInfo: info });
  return some(random, 0.6, [
    post('/customers', body),
    post('/customers', { ...body, umaAddress }),
    post('/customers', { ...body, umaAddress }),
    patch(`/customers/${one.id}`, { umaAddress }),
    patch(`/customers/${other.id}`, { umaAddress }),
    patch(`/customers/${one.id}`, { umaAddress: one.umaAddress }),
    bank,
    bank,
    { ...bank, body: { ...(bank.body as object), defaultUmaDepositAccount: true } },
    remove(`/customers/${other.id}`),
  ]);
};

/** An external account is paid while it is deleted, and made again. */
const bankGone: Collide = (scene) => {
  const { random } = scene;
  const bank = external(scene);
  const payer = bank && internal(scene, (one) => currencyOf(one) === currencyOf(bank) && one.balance.amount > 100);
  if (!bank || !payer) return undefined;
  const pays = paid(from(payer), onto(bank), random.between(10, 100), true);
  const { customerId, currency, accountInfo } = bank;
  const again = post(customerId ? '/customers/external-accounts' : '/platform/external-accounts', {
    ...(customerId && { customerId }),
    currency,
    accountInfo: withSuffix(accountInfo.accountType, random.pick(SUFFIXES)),
  });
  const transfer = {
    source: { accountId: payer.id },
    destination: { accountId: bank.id },
    amount: random.between(10, 90),
  };
  const isLive = post(`/sandbox/external-accounts/${bank.id}/liveness`, { outcome: 'COMPLETED' });
  const more = [pays, pays, post('/transfer-out', transfer), again, again, isLive, remove(pathOf(bank))];
  return [remove(pathOf(bank)), ...some(random, 0.5, more)];
};

const invited: Collide = (scene) => {
  const { random, known } = scene;
  const [one, other] = [customer(scene), customer({ ...scene, known: scene.elsewhere })];
  return map(known.one(random, 'Invitation'), ({ id }) => {
    const claims = [one, one, other].flatMap((by) =>
      by ? [post(`/invitations/${id}/claim`, { inviteeUma: by.umaAddress })] : [],
    );
    return some(random, 0.7, [
      ...claims,
      ...times(2, post(`/invitations/${id}/cancel`, {})),
      ...some(random, 0.1, [later(scene)]),
    ]);
  });
};

/** A token ends while it is used. */
const revoked: Collide = (scene) => {
  const ending = token(scene);
  if (!ending) return undefined;
  const use = Array.from({ length: scene.random.between(2, 5) }, () => ({ ...rightRequest(scene), token: ending }));
  return [...use, ...times(2, remove(`/tokens/${ending.id}`)), ...use];
};

const reconfigured: Collide = (scene) => {
  const change = () => configured(scene)!;
  const pay = () => quoted(scene) ?? change();
  return [change(), pay(), change(), pay(), pay()];
};

/** Whatever may be asked about one customer. */
const aboutOne: Collide = (scene) => map(customer(scene), (one) => requestsAbout(one, scene));

/** Requests about one customer, also by those who pay it. */
export function requestsAbout({ id, umaAddress }: Thing, scene: Scene): Call[] {
  const { random, known } = scene;
  const around = { ...scene, known: known.around(id) };
  const payer = internal(scene, ({ balance }) => balance.amount > 100);
  const calls = Array.from({ length: random.between(3, 7) }, () => rightRequest(around));
  const receive = { customerId: id, receivingCurrencyCode: 'USD', receivingCurrencyAmount: random.between(1, 99) };
  const pays = payer && paid(from(payer), { destinationType: 'UMA_ADDRESS', umaAddress }, 100, random.next() < 0.5);
  return [
    ...calls,
    ...some(random, 0.5, [
      ...(pays ? [pays] : []),
      post('/sandbox/uma/receive', { ...receive, senderUmaAddress: `$bob@${SANDBOX_UMA_DOMAIN}` }),
      post('/invitations', { inviterUma: umaAddress, firstName: 'Luis' }),
      patch(`/customers/${id}`, { fullName: 'Amina 8' }),
    ]),
  ];
}

const collisions: readonly (readonly [weight: number, collide: Collide])[] = [
  [5, executedAgain],
  [4, decided],
  [4, drained],
  [8, left],
  [3, wantedByTwo],
  [3, bankGone],
  [2, invited],
  [2, revoked],
  [2, reconfigured],
  [6, aboutOne],
];
const bag = collisions.flatMap(([weight, collide]) => Array.from({ length: weight }, () => collide));

/** Requests that are about the same, for which `ask` asks what has to be there. */
export async function collision(scene: Scene, ask: Ask): Promise<Call[]> {
  for (;;) {
    const calls = await scene.random.pick(bag)(scene, ask);
    if (calls) return calls;
  }
}
