import { Inject, Injectable } from '@nestjs/common';
import { type AccountState, account, insufficientFunds } from '../../../../libs/domain/accounts/account.ts';
import { type CustomerState } from '../../../../libs/domain/customers/customer.ts';
import type {
  PaymentDestination,
  PaymentTerms,
  PaymentTexts,
} from '../../../../libs/domain/payments/payment.events.ts';
import { completePayment } from '../../../../libs/domain/payments/payment.process.ts';
import {
  ExecutePayment,
  isFunded,
  type PaymentState,
  payment,
  QuotePayment,
  ReceiveFunding,
} from '../../../../libs/domain/payments/payment.ts';
import { platformPublicId, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { Rejection, reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import type { FundingSender } from '../../../../libs/kernel/funding.ts';
import { parsePublicId, publicId } from '../../../../libs/kernel/ids.ts';
import type { RailsOf } from '../../../../libs/providers/rails.port.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Driver } from '../../../../libs/runtime/drive.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { type Quote, quoteView } from '../../../../projections/quote.view.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import { platformAccountId } from '../../../shared/provision.ts';
import {
  checkCustomers,
  checkEnds,
  checkVerified,
  type Destination,
  destinationOf,
  endOf,
  isAwaited,
  payerOf,
  paymentEnd,
  platformOf,
  type Source,
} from '../../../shared/quotes.facts.ts';
import { priceOf } from '../../../shared/quotes.pricing.ts';
import { RAILS } from '../ports.ts';
import { Receivers } from '../receivers/receivers.ts';
import { API_SETTINGS, type ApiSettings, CLOCK } from '../settings.ts';
import type { QuoteBody } from './quotes.bodies.ts';
import { fundingOf, realtimeSource } from './quotes.funding.ts';
import { umaDestination, umaEnd } from './quotes.uma.ts';

/** How long a quote can be executed (facts §2). */
const VALID_MS = 5 * 60 * 1_000;

/** What is asked for beside the request itself, and how it is answered. */
export interface Asked<V extends object> {
  view: (state: PaymentState, now: string) => V;
  /** Asked for by a deprecated transfer (decision 24). */
  isTransfer?: true;
}

const asQuote: Asked<Quote> = { view: quoteView };

/** Quotes and their execution inside the request; a worker carries on what the outside world has a part in. */
@Injectable()
export class Quoting {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(Driver) private readonly driver: Driver,
    @Inject(PROVIDERS) private readonly providers: Providers,
    @Inject(ClaimIds) private readonly claimIds: ClaimIds,
    @Inject(Receivers) private readonly receivers: Receivers,
    @Inject(RAILS) private readonly railsOf: RailsOf,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** Makes a quote. */
  create(caller: Caller, body: QuoteBody): Promise<Quote> {
    return this.make(caller, async () => body, asQuote);
  }

  /**
   * Makes a quote; with `immediatelyExecute` it is executed too, or refused as if it had never been. `ask` says which one. A keyed request
   * may have made it before it was cut off: it is answered with that then, also where it could not be made any more.
   */
  async make<V extends object>(caller: Caller, ask: () => Promise<QuoteBody>, asked: Asked<V>): Promise<V> {
    let data: Omit<QuotePayment['data'], 'paymentId'>;
    try {
      data = await this.facts(caller, await ask());
    } catch (error) {
      const made = error instanceof Rejection && error.status < 500 ? await this.madeBefore(caller) : undefined;
      if (!made) throw error;
      if (made.immediatelyExecute) return this.drive(caller, made.paymentId, asked);
      caller.answersAbout(`${payment.name}-${made.paymentId}`);
      return asked.view(made, this.now(caller));
    }
    const transfer = asked.isTransfer && { isTransfer: asked.isTransfer };
    for (let attempt = 1; ; attempt++) {
      const quotePayment = new QuotePayment({ ...data, ...transfer, paymentId: caller.newId(`payment ${attempt}`) });
      const answer = data.immediatelyExecute ? undefined : this.answering(caller, asked);
      const envelope = caller.envelope(`quote ${attempt}`, answer && { answer });
      const { state, replayed } = await this.commands.send<PaymentState>(quotePayment, envelope);
      if (!data.immediatelyExecute) return asked.view(state, this.now(caller));
      if (replayed && state.phase === 'REFUSED') continue; // the key's earlier attempt was refused: this one is decided anew
      return this.drive(caller, state.paymentId, asked);
    }
  }

  /** What an earlier attempt of the key has made, in whichever process, unless that was refused. */
  private async madeBefore(caller: Caller): Promise<PaymentState | undefined> {
    for (let attempt = 1; caller.key; attempt++) {
      const { state } = await this.writePath.fresh.state<PaymentState>(payment, caller.newId(`payment ${attempt}`));
      if (state.phase === 'NONE') return undefined;
      if (state.phase !== 'REFUSED') return state;
    }
    return undefined;
  }

  /** Executes an open quote (spec, `POST /quotes/{quoteId}/execute`). A key whose execution was refused is decided anew (decision 15). */
  async execute(caller: Caller, paymentId: string): Promise<Quote> {
    const quote = await this.quote(caller, paymentId);
    if (quote.phase === 'OPEN' && !isFunded(quote)) await this.checkStillPossible(caller, quote);
    for (let attempt = 1; ; attempt++) {
      const execute = new ExecutePayment({ paymentId, now: this.now(caller) });
      const { state, replayed } = await this.commands.send<PaymentState>(
        execute,
        caller.envelope(`execute ${attempt}`),
      );
      if (!replayed || state.phase !== 'OPEN') return this.drive(caller, paymentId, asQuote);
    }
  }

  /** Money has come in for a quote that waits for it (facts §2, Realtime-funding specifics). */
  async fund<V extends object>(
    caller: Caller,
    paymentId: string,
    money: { currency: string; amountMinor?: bigint; senderOf: (state: PaymentState) => FundingSender | undefined },
    asked: Asked<V>,
  ): Promise<V> {
    const state = await this.quote(caller, paymentId);
    const { currency, amountMinor = state.terms.sendingMinor } = money;
    const sender = money.senderOf(state);
    const isBarred = state.phase === 'OPEN' && (await this.isBarred(caller, state)) && { isBarred: true as const };
    const received = {
      paymentId,
      currency,
      amountMinor,
      now: this.now(caller),
      ...(sender && { sender }),
      ...isBarred,
    };
    const receive = new ReceiveFunding(received);
    await this.commands.send(receive, caller.envelope('fund'));
    return this.drive(caller, paymentId, asked);
  }

  private now({ tenant }: Caller): string {
    return timestamp(this.clock.nowMs(tenant));
  }

  private answering<V extends object>(caller: Caller, { view }: Asked<V>) {
    return caller.answering((done) => view(done.state as PaymentState, this.now(caller)));
  }

  private async drive<V extends object>(caller: Caller, paymentId: string, asked: Asked<V>): Promise<V> {
    const answer = this.answering(caller, asked);
    caller.answersAbout(`${payment.name}-${paymentId}`); // a worker may be faster: then there is no commit to write it with
    const drive = { tenant: caller.tenant, correlationId: caller.requestId, ...(answer && { answer }) };
    const state = await this.driver.drive<PaymentState>(completePayment, paymentId, drive);
    if (state.phase === 'OPEN' || state.phase === 'REFUSED') throw refusalOf(state);
    return asked.view(state, this.now(caller));
  }

  private async quote(caller: Caller, paymentId: string): Promise<PaymentState> {
    const { state } = await this.writePath.state<PaymentState>(payment, paymentId);
    if (state.tenantId !== tenantIdOf(caller.tenant) || state.phase === 'REFUSED') throw reject('QUOTE_NOT_FOUND');
    return state;
  }

  private async facts(caller: Caller, body: QuoteBody): Promise<Omit<QuotePayment['data'], 'paymentId'>> {
    const { tenant } = caller;
    const [source, destination] = await this.ends(caller, body);
    const platform = await platformOf(this.writePath, tenant);
    const named = body.source.sourceType === 'ACCOUNT' ? body.source.customerId : undefined;
    const actingFor = named && parsePublicId('Customer', named);
    const payer = await payerOf(this.writePath, tenant, source, destination, actingFor);
    await checkCustomers(this.writePath, tenant, source, payer, platform);
    const nowMs = this.clock.nowMs(tenant);
    const type = isCollected(source) && destination.kind === 'INTERNAL' ? 'INCOMING' : 'OUTGOING';
    const rates = providerOf(this.providers, 'rates', tenant);
    const priced = await priceOf(body, type, source, destination, platform, rates, new Date(nowMs));
    const { terms, dailyLimitMinor } = priced;
    if (source.kind !== 'INTERNAL' || destination.kind === 'EXTERNAL') this.checkRails(caller);
    const to = await this.destination(caller, body, destination, terms, payer);
    const reference = `PAY-${caller.newId('reference').slice(-12).toUpperCase()}`;
    return {
      tenantId: platform.tenantId,
      type,
      ...ownerOf(caller, payer),
      source: paymentEnd(source),
      destination: to,
      terms,
      ...(await this.feeAccount(caller, terms)),
      ...(await this.funding(caller, body, source, terms, reference, payer)),
      ...(source.kind === 'INTERNAL' && { dailyLimitMinor }),
      immediatelyExecute: body.immediatelyExecute ?? false,
      ...(body.immediatelyExecute && { day: timestamp(nowMs).slice(0, 10) }),
      ...(body.purposeOfPayment !== undefined && { purposeOfPayment: body.purposeOfPayment }),
      reference,
      expiresAt: timestamp(nowMs + VALID_MS * this.settings.sandboxTimeScale),
      ...textsOf(body, source, destination),
    };
  }

  /** Without an account in the sending currency the quote has none, and its payment fails (facts §2). */
  private async feeAccount({ tenant }: Caller, { platformFeeMinor, sendingCurrency }: PaymentTerms) {
    if (platformFeeMinor === 0n) return {};
    const platformFeeAccountId = platformAccountId(tenant, sendingCurrency);
    const { state } = await this.writePath.state<AccountState>(account, platformFeeAccountId);
    return state.status === 'ACTIVE' ? { platformFeeAccountId } : {};
  }

  private async funding(
    { tenant }: Caller,
    { immediatelyExecute }: QuoteBody,
    source: Source,
    { sendingCurrency: currency, sendingMinor: amountMinor }: PaymentTerms,
    reference: string,
    payer: CustomerState | undefined,
  ) {
    if (!isAwaited(source)) return {};
    if (immediatelyExecute) {
      const message = 'immediatelyExecute is for sources that can be taken from; this one waits for money to be sent.';
      throw rejectFields([{ field: 'immediatelyExecute', constraint: 'CONFLICT', message }]);
    }
    const provider = providerOf(this.providers, 'funding', tenant);
    const request = { currency, amountMinor, reference };
    return { funding: await fundingOf(this.writePath, tenant, provider, source, request, payer) };
  }

  private async ends(caller: Caller, body: QuoteBody): Promise<[Source, Destination]> {
    const { source, destination, lookupId, immediatelyExecute } = body;
    const { tenant } = caller;
    const to = async (sourceCurrency: string | undefined): Promise<Destination> => {
      if (destination.destinationType === 'UMA_ADDRESS')
        return umaEnd(this.receivers, tenant, destination, lookupId, sourceCurrency);
      const end = await endOf(this.writePath, tenant, destination.accountId, 'destination.accountId');
      this.receivers.checkLookup(tenant, lookupId, publicId('ExternalAccount', end.id));
      return end;
    };
    if (source.sourceType !== 'ACCOUNT') {
      const end = await to(source.currency);
      return [await realtimeSource(this.writePath, this.claimIds, tenant, source, end), end];
    }
    const from = await endOf(this.writePath, tenant, source.accountId, 'source.accountId');
    if (immediatelyExecute && from.kind === 'INTERNAL' && from.account.type === 'EMBEDDED_WALLET') {
      const message = 'immediatelyExecute is not for embedded wallets: their holder signs first.';
      throw rejectFields([{ field: 'immediatelyExecute', constraint: 'CONFLICT', message }]);
    }
    const end = await to(from.currency);
    checkEnds(from, end);
    return [from, end];
  }

  private async destination(
    { tenant }: Caller,
    { destination, senderCustomerInfo = {} }: QuoteBody,
    end: Destination,
    terms: PaymentTerms,
    payer: CustomerState | undefined,
  ): Promise<PaymentDestination> {
    if (end.kind === 'UMA') return umaDestination(this.receivers, tenant, end, terms, payer, senderCustomerInfo);
    return destinationOf(end, destination.destinationType === 'ACCOUNT' ? destination.paymentRail : undefined);
  }

  private checkRails({ tenant }: Caller): void {
    const rails = this.railsOf(tenant.environment);
    if (rails instanceof Rejection) throw rails;
  }

  /** What may have changed since the quote was made; funds are the ledger's to check. */
  private async checkStillPossible({ tenant }: Caller, state: PaymentState): Promise<void> {
    const { source, destination, customerId } = state;
    const idOf = (end: { kind: string; accountId: string }) =>
      `${end.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount'}:${end.accountId}`;
    const from =
      source.kind === 'REALTIME'
        ? ({ ...source, kind: 'REALTIME', id: '' } as const)
        : await endOf(this.writePath, tenant, idOf(source), 'source.accountId');
    const to =
      destination.kind === 'UMA'
        ? ({ kind: 'UMA', id: '' } as const) // whether it can be paid is its own platform's to check
        : await endOf(this.writePath, tenant, idOf(destination), 'destination.accountId');
    checkEnds(from, to);
    checkVerified(to);
    const payer = await payerOf(this.writePath, tenant, from, to, customerId);
    await checkCustomers(this.writePath, tenant, from, payer, await platformOf(this.writePath, tenant));
  }

  /** Whether what has come in for a quote must go back, since what it was made for is not possible any more. */
  private async isBarred(caller: Caller, state: PaymentState): Promise<boolean> {
    try {
      await this.checkStillPossible(caller, state);
      return false;
    } catch (error) {
      if (error instanceof Rejection && error.status < 500) return true;
      throw error;
    }
  }
}

const isCollected = (source: Source): boolean => source.kind === 'EXTERNAL' && !isAwaited(source);

const textsOf = (
  { description, remittanceInformation, senderCustomerInfo }: QuoteBody,
  source: Source,
  destination: Destination,
): PaymentTexts => ({
  ...(description !== undefined && { description }),
  ...(remittanceInformation !== undefined && { remittanceInformation }),
  ...(source.kind === 'REALTIME' && source.umaAddress !== undefined && { sourceUmaAddress: source.umaAddress }),
  ...(destination.kind === 'UMA' && { destinationUmaAddress: destination.receiver.address }),
  ...(senderCustomerInfo && { senderCustomerInfo: { ...senderCustomerInfo } }),
});

function ownerOf({ tenant }: Caller, payer: CustomerState | undefined) {
  return payer
    ? { customerId: payer.customerId, platformCustomerId: payer.platformCustomerId }
    : { platformCustomerId: platformPublicId(tenant) };
}

/** Why the execution did not take place; whoever drove the payment, its stream remembers. */
function refusalOf({ refusal }: PaymentState): Rejection {
  if (!refusal) return reject('QUOTE_REQUEST_FAILED');
  const { code, reason } = refusal;
  return reason === 'INSUFFICIENT_FUNDS'
    ? insufficientFunds()
    : reject(code, reason === undefined ? undefined : { reason });
}
