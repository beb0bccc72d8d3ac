import { withSuffix } from '../../libs/domain/external-accounts/account.examples.ts';
import type { AccountType } from '../../libs/domain/external-accounts/account-types.ts';
import { SANDBOX_UMA_DOMAIN } from '../../libs/providers/uma.sandbox.table.ts';
import { basic } from '../bench/program.ts';
import type { Random } from '../faults/random.ts';
import type { Call } from './asking.ts';
import type { Known, Thing } from './known.ts';

/** What a request is made from. */
export interface Scene {
  random: Random;
  known: Known;
  /** What a client of another platform knows. */
  elsewhere: Known;
  /** Where webhooks are received. */
  hooks: string;
}

export type Make = (scene: Scene) => Call | undefined;

export const post = (path: string, body: unknown): Call => ({ method: 'POST', path, body });
export const patch = (path: string, body: unknown): Call => ({ method: 'PATCH', path, body });
export const remove = (path: string): Call => ({ method: 'DELETE', path });

/** Kinds of external accounts with their currency, those that money is sent to most. */
const KINDS: readonly (readonly [AccountType, string])[] = [
  ['USD_ACCOUNT', 'USD'],
  ['USD_ACCOUNT', 'USD'],
  ['EUR_ACCOUNT', 'EUR'],
  ['GBP_ACCOUNT', 'GBP'],
  ['MXN_ACCOUNT', 'MXN'],
  ['BRL_ACCOUNT', 'BRL'],
  ['ETHEREUM_WALLET', 'USDC'],
  ['SOLANA_WALLET', 'USDC'],
  ['SPARK_WALLET', 'BTC'],
];
/** Every outcome that the sandbox knows of an account's last digits. */
export const SUFFIXES = ['999', '888', '777', '002', '003', '004', '005', '006', '007', '102', '105'];
export const FIAT = ['USD', 'EUR', 'GBP', 'MXN'];
export const SENDERS = [
  '$bob',
  '$success.eur',
  '$pending.long.usd',
  '$fail.compliance.usd',
  '$fail.collection',
  '$nobody',
];

/** What is made of a thing, where there is one. */
export const map = <T>(thing: Thing | undefined, make: (thing: Thing) => T): T | undefined => thing && make(thing);
const amount = (random: Random) => (random.next() < 0.1 ? random.between(1, 30) : random.between(100, 300_000));
export const sometimes = (random: Random, share: number, more: object) => (random.next() < share ? more : {});
export const currencyOf = (account: Thing): string => account.currency ?? account.balance?.currency.code;
export const internal = ({ known, random }: Scene, fits?: (one: Thing) => boolean) =>
  known.one(random, 'InternalAccount', (one) => one.balance !== undefined && (fits?.(one) ?? true));
export const external = ({ known, random }: Scene, fits?: (one: Thing) => boolean) =>
  known.one(random, 'ExternalAccount', (one) => one.accountInfo !== undefined && (fits?.(one) ?? true));
export const customer = ({ known, random }: Scene) =>
  known.one(random, 'Customer', ({ umaAddress }) => umaAddress !== undefined);
/** A token to ask with. */
export const token = ({ known, random }: Pick<Scene, 'known' | 'random'>): Call['token'] =>
  map(
    known.one(random, 'Token', ({ clientSecret }) => clientSecret !== undefined),
    (one) => ({ id: one.id, authorization: basic(one as never) }),
  );
export const pathOf = ({ id, customerId }: Thing) =>
  `/${typeof customerId === 'string' && customerId.startsWith('Customer:') ? 'customers' : 'platform'}/external-accounts/${id}`;

export const newCustomer: Make = ({ random }) => {
  const person = {
    customerType: 'INDIVIDUAL',
    fullName: `Amina ${random.pick(['Diallo', '001', '002'])}`,
    region: 'US',
  };
  const business = {
    customerType: 'BUSINESS',
    businessInfo: { legalName: 'Harbour Lights', country: 'US', incorporatedOn: '2015-03-01', taxId: '12-3456789' },
  };
  return post('/customers', {
    ...(random.next() < 0.8 ? person : business),
    ...sometimes(random, 0.3, { platformCustomerId: `user-${random.between(1, 20)}` }),
    ...sometimes(random, 0.3, { email: 'amina@example.com', birthDate: '1990-01-15' }),
    ...sometimes(random, 0.2, { currencies: ['USD', random.pick(FIAT)] }),
  });
};

const changedCustomer: Make = (scene) => {
  const { random } = scene;
  const changes = { fullName: `Amina ${random.between(1, 99)}`, region: random.pick(['US', 'DE']) };
  const more = random.pick([{ email: 'a@example.com' }, { currencies: FIAT }, { platformCustomerId: 'user-1' }, {}]);
  const one = customer(scene);
  return one && patch(`/customers/${one.id}`, { customerType: one.customerType, ...changes, ...more });
};

const newExternal: Make = (scene) => {
  const { random } = scene;
  const [accountType, currency] = random.pick(KINDS);
  const owner = random.next() < 0.6 ? customer(scene) : undefined;
  return post(owner ? '/customers/external-accounts' : '/platform/external-accounts', {
    currency,
    accountInfo: withSuffix(accountType, random.pick(SUFFIXES)),
    ...(owner && { customerId: owner.id, ...sometimes(random, 0.2, { defaultUmaDepositAccount: true }) }),
    ...sometimes(random, 0.3, { ownershipType: random.pick(['FIRST_PARTY', 'THIRD_PARTY']) }),
  });
};

const funded: Make = (scene) => {
  const one = internal(scene);
  return one && post(`/sandbox/internal-accounts/${one.id}/fund`, { amount: scene.random.between(1, 2_000_000) });
};

/** Whom a quote takes money from; undefined when there is nobody yet. */
const source = (scene: Scene): object | undefined => {
  const { random } = scene;
  const dice = random.next();
  const owner = customer(scene);
  if (dice < 0.2) {
    const paidIn = { sourceType: 'REALTIME_FUNDING', currency: random.pick(FIAT) };
    return { ...paidIn, ...(owner && sometimes(random, 0.7, { customerId: owner.id })) };
  }
  if (dice < 0.25) return owner && { sourceType: 'UMA_ADDRESS', umaAddress: owner.umaAddress };
  const account = dice < 0.35 ? external(scene) : internal(scene);
  return account && { sourceType: 'ACCOUNT', accountId: account.id };
};

const destination = (scene: Scene): object | undefined => {
  const { random, elsewhere } = scene;
  const dice = random.next();
  if (dice < 0.1) return { destinationType: 'UMA_ADDRESS', umaAddress: `$success.usd@${SANDBOX_UMA_DOMAIN}` };
  if (dice < 0.3) {
    const payee = customer(random.next() < 0.7 ? { ...scene, known: elsewhere } : scene);
    const inEuro = sometimes(random, 0.5, { currency: 'EUR' });
    return payee && { destinationType: 'UMA_ADDRESS', umaAddress: payee.umaAddress, ...inEuro };
  }
  const account = dice < 0.6 ? external(scene) : internal(scene);
  return account && { destinationType: 'ACCOUNT', accountId: account.id, ...slowly(random, account) };
};

/** By a rail whose transfers can be cancelled. */
const slowly = (random: Random, { accountInfo }: Thing) =>
  accountInfo?.accountType === 'USD_ACCOUNT' ? sometimes(random, 0.5, { paymentRail: 'ACH' }) : {};

export const quoted: Make = (scene) => {
  const { random } = scene;
  const [from, to] = [source(scene), destination(scene)];
  if (!from || !to) return undefined;
  const isWaiting = 'currency' in from;
  const fee = { platformFixedFee: { amount: random.between(0, 60), currency: 'USD' }, platformVariableFeeBps: 20 };
  return post('/quotes', {
    source: from,
    destination: to,
    lockedCurrencySide: random.pick(['SENDING', 'SENDING', 'RECEIVING']),
    lockedCurrencyAmount: amount(random),
    ...sometimes(random, isWaiting ? 0.05 : 0.6, { immediatelyExecute: true }),
    ...sometimes(random, 0.15, { platformFeeOverride: fee }),
    ...sometimes(random, 0.2, { description: 'rent', remittanceInformation: 'invoice 7' }),
    ...sometimes(random, 0.1, { senderCustomerInfo: { FULL_NAME: 'Amina Diallo', BIRTH_DATE: '1990-01-15' } }),
  });
};

export const waits = ({ paymentInstructions }: Thing) => paymentInstructions?.length > 0;
export const executed: Make = ({ known, random }) => {
  const quote = known.one(random, 'Quote', (one) => one.status === 'PENDING' && !waits(one));
  return quote && post(`/quotes/${quote.id}/execute`, {});
};
const sent: Make = ({ known, random }) => {
  const quote = known.one(random, 'Quote', (one) => waits(one) && FIAT.includes(one.sendingCurrency.code));
  const other = { currencyAmount: (quote?.totalSendingAmount ?? 0) + random.pick([0, 1, 500]) };
  const body = { quoteId: quote?.id, currencyCode: quote?.sendingCurrency.code, ...sometimes(random, 0.3, other) };
  return quote && post('/sandbox/send', body);
};

export const withdrawn: Make = (scene) => {
  const { random } = scene;
  const to = external(scene);
  const from = to && internal(scene, (one) => currencyOf(one) === currencyOf(to));
  if (!to || !from) return undefined;
  const [inner, outer] = [{ accountId: from.id }, { accountId: to.id }];
  if (random.next() < 0.3) return post('/transfer-in', { source: outer, destination: inner, amount: amount(random) });
  return post('/transfer-out', {
    source: inner,
    destination: { ...outer, ...slowly(random, to) },
    ...sometimes(random, 0.9, { amount: amount(random) }),
  });
};

export const received: Make = (scene) => {
  const { random } = scene;
  const payee = customer(scene);
  const to = random.next() < 0.5 ? { customerId: payee?.id } : { receiverUmaAddress: payee?.umaAddress };
  return (
    payee &&
    post('/sandbox/uma/receive', {
      senderUmaAddress: `${random.pick(SENDERS)}@${SANDBOX_UMA_DOMAIN}`,
      ...to,
      receivingCurrencyCode: random.pick(FIAT),
      receivingCurrencyAmount: amount(random),
    })
  );
};

const transactionAct: Make = ({ known, random }) => {
  const act = random.pick(['cancel', 'cancel', 'confirm', 'approve', 'approve', 'reject']);
  const [type, status] = /cancel|confirm/.test(act) ? ['OUTGOING', 'PROCESSING'] : ['INCOMING', 'PENDING'];
  const fitting = known.one(random, 'Transaction', (one) => one.type === type && one.status === status);
  const one = (random.next() < 0.7 && fitting) || known.one(random, 'Transaction');
  return one && post(`/transactions/${one.id}/${act}`, sometimes(random, 0.3, { reason: 'as agreed' }));
};

const sweptAccount: Make = (scene) => {
  const owner = customer(scene);
  const to = scene.random.next() < 0.6 ? external(scene) : internal(scene);
  const sweepRule = { destination: { accountId: to?.id }, description: 'rent' };
  return (
    owner && to && post('/internal-accounts', { customerId: owner.id, type: 'RULE_BASED', currency: 'USD', sweepRule })
  );
};

export const configured: Make = ({ random, hooks }) => {
  const fixedFee = { amount: random.between(0, 50), currency: 'USD' };
  const fee = {
    feeType: 'CROSS_CURRENCY_TRANSACTION',
    sourceCurrency: 'USD',
    variableFeeBps: random.between(0, 90),
    fixedFee,
  };
  const currency = (currencyCode: string) => ({
    currencyCode,
    minAmount: random.pick([1, 1, 50]),
    maxAmount: 1_000_000_000_000,
    requiredCounterpartyFields: random.next() < 0.1 ? [{ name: 'FULL_NAME', mandatory: false }] : [],
    enabledTransactionTypes: ['INCOMING', 'OUTGOING'],
  });
  const change = random.pick([
    { feeConfigs: [fee] },
    { webhookEndpoint: `${hooks}/${random.pick(['yes', 'seen'])}` },
    {
      supportedCurrencies: ['USD', 'EUR', 'GBP', 'MXN', 'BTC', 'USDC', 'USDB', 'BRL']
        .slice(0, random.between(4, 8))
        .map(currency),
    },
    { cardConfigs: { maxSpendPerDay: random.between(1, 9_000) }, embeddedWalletConfig: { otpLength: 6 } },
  ]);
  return patch('/config', change);
};

const invitation: Make = (scene) => {
  const { random, known, elsewhere } = scene;
  const inviter = customer(scene);
  if (random.next() < 0.5) {
    const expires = { expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
    return (
      inviter &&
      post('/invitations', { inviterUma: inviter.umaAddress, firstName: 'Luis', ...sometimes(random, 0.3, expires) })
    );
  }
  const one = (random.next() < 0.5 ? known : elsewhere).one(random, 'Invitation');
  if (!one || !inviter) return undefined;
  if (random.next() < 0.3) return post(`/invitations/${one.id}/cancel`, {});
  return post(`/invitations/${one.id}/claim`, { inviteeUma: inviter.umaAddress });
};

const tokenChange: Make = ({ random, known }) => {
  const one = known.one(random, 'Token', ({ name }) => name.startsWith('token '));
  if (one && random.next() < 0.3) return remove(`/tokens/${one.id}`);
  return post('/tokens', {
    name: `token ${random.between(1, 5)}`,
    permissions: random.pick([['VIEW'], ['TRANSACT', 'VIEW']]),
  });
};

const webhook: Make = ({ random, known }) => {
  const one = known.one(random, 'Webhook');
  if (random.next() < 0.3) return post('/sandbox/webhooks/test', {});
  if (random.next() < 0.3) return post('/webhooks/secret/rotate', { overlapHours: 1 });
  return one && post(`/webhooks/deliveries/${one.id}/redeliver`, {});
};

const ownership: Make = (scene) => {
  const { random } = scene;
  const one = external(scene, ({ ownershipType }) => ownershipType === 'FIRST_PARTY') ?? external(scene);
  const dice = random.next();
  if (!one) return undefined;
  if (dice < 0.5) return post(`${pathOf(one)}/challenge`, { method: random.pick(['WALLET_SIGNATURE', 'LIVENESS']) });
  if (dice < 0.7) return post(`${pathOf(one)}/verify`, { signature: `0x${'0'.repeat(130)}` });
  return post(`/sandbox/external-accounts/${one.id}/liveness`, { outcome: random.pick(['COMPLETED', 'FAILED']) });
};

const estimated: Make = (scene) => {
  const one = internal(scene, (account) => currencyOf(account) === 'USDC');
  const to = { cryptoNetwork: 'BASE', destinationAddress: '0x52908400098527886e0f7030069857d2e4169ee7' };
  const body = { internalAccountId: one?.id, currency: 'USDC', amount: amount(scene.random), ...to };
  return one && post('/crypto/estimate-withdrawal-fee', body);
};

/** What a client does, each as often as its weight says. None can be made while what it needs is not there. */
const requests: readonly (readonly [weight: number, make: Make])[] = [
  [8, newCustomer],
  [5, changedCustomer],
  [1, (scene) => map(customer(scene), ({ id }) => remove(`/customers/${id}`))],
  [9, newExternal],
  [2, (scene) => map(external(scene), (one) => remove(pathOf(one)))],
  [10, funded],
  [25, quoted],
  [8, executed],
  [8, sent],
  [7, withdrawn],
  [5, received],
  [8, transactionAct],
  [3, sweptAccount],
  [4, configured],
  [3, invitation],
  [3, tokenChange],
  [2, webhook],
  [3, ownership],
  [1, estimated],
  [1, ({ random }) => post('/sandbox/clock/advance', { seconds: random.pick([1, 30, 361, 3_600]) })],
];

/** Each as often as its weight says. */
const bag = requests.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));

/** A right request, as far as a client can know. */
export function rightRequest(scene: Scene): Call {
  for (;;) {
    const call = scene.random.pick(bag)(scene);
    if (call) return call;
  }
}
