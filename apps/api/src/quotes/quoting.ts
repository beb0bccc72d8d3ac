import { Inject, Injectable } from '@nestjs/common';
import { insufficientFunds } from '../../../../libs/domain/accounts/account.ts';
import { type CustomerState } from '../../../../libs/domain/customers/customer.ts';
import { completePayment } from '../../../../libs/domain/payments/payment.process.ts';
import { ExecutePayment, type PaymentState, payment, QuotePayment } from '../../../../libs/domain/payments/payment.ts';
import { platformPublicId, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { Rejection, reject } from '../../../../libs/kernel/errors.ts';
import type { RailsOf } from '../../../../libs/providers/rails.port.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Driver } from '../../../../libs/runtime/drive.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { type Quote, quoteView } from '../../../../projections/quote.view.ts';
import { platformAccountId } from '../../../shared/provision.ts';
import { RAILS } from '../ports.ts';
import { PROVIDERS, type Providers, providerOf } from '../providers.ts';
import { API_SETTINGS, type ApiSettings, CLOCK } from '../settings.ts';
import type { QuoteBody } from './quotes.bodies.ts';
import {
  checkEnds,
  checkReadiness,
  destinationOf,
  type End,
  endOf,
  payerOf,
  paymentEnd,
  platformOf,
} from './quotes.facts.ts';
import { priceOf } from './quotes.pricing.ts';

/** How long a quote can be executed (facts §2). */
const VALID_MS = 5 * 60 * 1_000;

/** Quotes and their execution inside the request; a worker carries on what the outside world has a part in. */
@Injectable()
export class Quoting {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(Driver) private readonly driver: Driver,
    @Inject(PROVIDERS) private readonly providers: Providers,
    @Inject(RAILS) private readonly railsOf: RailsOf,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** Makes a quote; with `immediatelyExecute` it is executed too, or refused as if it had never been. */
  async create(caller: Caller, body: QuoteBody): Promise<Quote> {
    const data = await this.facts(caller, body);
    for (let attempt = 1; ; attempt++) {
      const quotePayment = new QuotePayment({ ...data, paymentId: caller.newId(`payment ${attempt}`) });
      const answer = data.immediatelyExecute ? undefined : this.answering(caller);
      const envelope = caller.envelope(`quote ${attempt}`, answer && { answer });
      const { state, replayed } = await this.commands.send<PaymentState>(quotePayment, envelope);
      if (!data.immediatelyExecute) return quoteView(state, this.now());
      if (replayed && state.phase === 'REFUSED') continue; // the key's earlier attempt was refused: this one is decided anew
      return this.drive(caller, state.paymentId);
    }
  }

  /** Executes an open quote (spec, `POST /quotes/{quoteId}/execute`). */
  async execute(caller: Caller, paymentId: string): Promise<Quote> {
    const state = await this.quote(caller, paymentId);
    if (state.phase === 'OPEN') await this.checkStillPossible(caller, state);
    await this.commands.send(new ExecutePayment({ paymentId, now: this.now() }), caller.envelope('execute'));
    return this.drive(caller, paymentId);
  }

  private now(): string {
    return timestamp(this.clock.nowMs());
  }

  private answering(caller: Caller) {
    return caller.answering((done) => quoteView(done.state as PaymentState, this.now()));
  }

  private async drive(caller: Caller, paymentId: string): Promise<Quote> {
    const answer = this.answering(caller);
    const drive = { tenant: caller.tenant, correlationId: caller.requestId, ...(answer && { answer }) };
    const state = await this.driver.drive<PaymentState>(completePayment, paymentId, drive);
    if (state.phase === 'OPEN' || state.phase === 'REFUSED') throw refusalOf(state);
    return quoteView(state, this.now());
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
    const actingFor = body.source.sourceType === 'ACCOUNT' ? body.source.customerId : undefined;
    const payer = await payerOf(this.writePath, tenant, source, destination, actingFor);
    checkReadiness(payer, platform);
    const namedRail = body.destination.destinationType === 'ACCOUNT' ? body.destination.paymentRail : undefined;
    const to = destinationOf(destination, namedRail);
    const nowMs = this.clock.nowMs();
    const terms = await priceOf(
      body,
      source,
      destination,
      platform,
      providerOf(this.providers, 'rates', tenant),
      new Date(nowMs),
    );
    if (source.kind === 'EXTERNAL' || destination.kind === 'EXTERNAL') this.checkRails(caller);
    return {
      tenantId: platform.tenantId,
      type: source.kind === 'EXTERNAL' ? 'INCOMING' : 'OUTGOING',
      ...ownerOf(caller, payer),
      source: paymentEnd(source),
      destination: to,
      terms,
      ...(terms.platformFeeMinor > 0n && { platformFeeAccountId: platformAccountId(tenant, terms.sendingCurrency) }),
      immediatelyExecute: body.immediatelyExecute ?? false,
      ...(body.purposeOfPayment !== undefined && { purposeOfPayment: body.purposeOfPayment }),
      reference: `PAY-${caller.newId('reference').slice(-12).toUpperCase()}`,
      expiresAt: timestamp(nowMs + VALID_MS * this.settings.sandboxTimeScale),
      ...(body.description !== undefined && { description: body.description }),
      ...(body.remittanceInformation !== undefined && { remittanceInformation: body.remittanceInformation }),
    };
  }

  private async ends(caller: Caller, { source, destination, lookupId }: QuoteBody): Promise<[End, End]> {
    if (source.sourceType !== 'ACCOUNT') throw notYet(`source.sourceType ${source.sourceType}`);
    if (destination.destinationType !== 'ACCOUNT')
      throw notYet(`destination.destinationType ${destination.destinationType}`);
    if (lookupId !== undefined) throw reject('LOOKUP_REQUEST_NOT_FOUND');
    const from = await endOf(this.writePath, caller.tenant, source.accountId, 'source.accountId');
    const to = await endOf(this.writePath, caller.tenant, destination.accountId, 'destination.accountId');
    checkEnds(from, to);
    return [from, to];
  }

  private checkRails({ tenant }: Caller): void {
    const rails = this.railsOf(tenant.environment);
    if (rails instanceof Rejection) throw rails;
  }

  /** What may have changed since the quote was made; funds are the ledger's to check. */
  private async checkStillPossible(caller: Caller, { source, destination }: PaymentState): Promise<void> {
    const { tenant } = caller;
    const idOf = (end: { kind: string; accountId: string }) =>
      `${end.kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount'}:${end.accountId}`;
    const from = await endOf(this.writePath, tenant, idOf(source), 'source.accountId');
    const to = await endOf(this.writePath, tenant, idOf(destination), 'destination.accountId');
    checkEnds(from, to);
    checkReadiness(
      await payerOf(this.writePath, tenant, from, to, undefined),
      await platformOf(this.writePath, tenant),
    );
  }
}

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

const notYet = (what: string) =>
  reject('NOT_IMPLEMENTED', { reason: 'VARIANT_NOT_AVAILABLE' }, `${what} is not available yet.`);
