import { Inject, Injectable } from '@nestjs/common';
import { type CustomerState, customer, isDeleted, isKnown } from '../../../../libs/domain/customers/customer.ts';
import { ReceivePayment } from '../../../../libs/domain/incoming-payments/incoming-payment.commands.ts';
import type { IncomingPaymentState } from '../../../../libs/domain/incoming-payments/incoming-payment.state.ts';
import { incomingPayment } from '../../../../libs/domain/incoming-payments/incoming-payment.ts';
import { plainTerms } from '../../../../libs/domain/payments/payment.events.ts';
import { platformPublicId, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Command, Tenant } from '../../../../libs/kernel/messages.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { ClaimIds } from '../../../../libs/runtime/claims.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import type { Submitted } from '../../../../libs/runtime/http/index.ts';
import { ReadModel } from '../../../../libs/runtime/read-model.ts';
import { asTransaction, payments } from '../../../../projections/payments.ts';
import { type TransactionView, transactionView } from '../../../../projections/transaction.view.ts';
import { depositOf, type LocalReceiver, ownerOfAddress, receiverOf } from '../../../shared/uma-receivers.ts';
import type { SandboxUmaReceiveBody } from '../sandbox/uma.bodies.ts';
import { CLOCK } from '../settings.ts';
import { Receivers, readAddress } from './receivers.ts';

/** Incoming UMA payments as requests know them: announced in the sandbox, approved, rejected. */
@Injectable()
export class Receiving {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(ReadModel) private readonly readModel: ReadModel,
    @Inject(ClaimIds) private readonly claimIds: ClaimIds,
    @Inject(Receivers) private readonly receivers: Receivers,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** A payment from somebody elsewhere (spec, `POST /sandbox/uma/receive`). */
  async announce(caller: Caller, { given, valid, accept }: Submitted<SandboxUmaReceiveBody>): Promise<TransactionView> {
    const { tenant } = caller;
    const body = accept(
      () => checkAddress(valid, 'senderUmaAddress'),
      () => checkAddress(valid, 'receiverUmaAddress'),
      () => checkOneReceiver(given),
    );
    const sender = readAddress(body.senderUmaAddress, 'senderUmaAddress');
    const owner = await this.owner(tenant, body);
    if (sender === owner.umaAddress) throw reject('SELF_PAYMENT');
    const local = await receiverOf(this.writePath, owner);
    const { receivingCurrencyCode: currency, receivingCurrencyAmount } = body;
    const amountMinor = BigInt(receivingCurrencyAmount);
    const requestedFields = taken(local, currency, amountMinor).requiredCounterpartyFields;
    const destination = await depositOf(this.writePath, owner, currency);
    if (!destination) throw reject('INVALID_CURRENCY', { currency });
    const paymentId = caller.newId('incoming payment');
    const command = new ReceivePayment({
      paymentId,
      tenantId: tenantIdOf(tenant),
      customerId: owner.customerId,
      platformCustomerId: owner.platformCustomerId,
      source: { kind: 'UMA', accountId: '', currency },
      destination,
      terms: plainTerms(currency, amountMinor, this.now(caller)),
      reference: `UMA-${paymentId.slice(-12).toUpperCase()}`,
      requestedFields,
      origin: { kind: 'UMA', agreement: this.receivers.uma(tenant.environment).announcedBy(sender) },
      senderUmaAddress: sender,
      ...(owner.umaAddress !== undefined && { receiverUmaAddress: owner.umaAddress }),
    });
    return this.decide(caller, command);
  }

  /** Sends a command to an incoming payment and answers with its transaction. */
  decide(caller: Caller, command: Command): Promise<TransactionView> {
    const owner = platformPublicId(caller.tenant);
    return this.commands.answer<IncomingPaymentState, TransactionView>(caller, command, (state) =>
      transactionView(asTransaction(state), this.now(caller), owner),
    );
  }

  /** The id of an incoming payment; `409` for a transaction of another kind, `404` for none. */
  async pending({ tenant }: Caller, transactionId: string): Promise<string> {
    const id = parsePublicId('Transaction', transactionId);
    if (!id) throw reject('TRANSACTION_NOT_FOUND');
    const { state } = await this.writePath.state<IncomingPaymentState>(incomingPayment, id);
    if (state.phase !== 'NONE' && state.tenantId === tenantIdOf(tenant)) return id;
    const other = await this.readModel.byId<{ phase: string }>(payments, tenant, id);
    throw other && other.phase !== 'REFUSED'
      ? reject('TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL')
      : reject('TRANSACTION_NOT_FOUND');
  }

  private now({ tenant }: Caller): string {
    return timestamp(this.clock.nowMs(tenant));
  }

  private async owner(
    tenant: Tenant,
    { receiverUmaAddress, customerId }: SandboxUmaReceiveBody,
  ): Promise<CustomerState> {
    if (receiverUmaAddress !== undefined) {
      const address = readAddress(receiverUmaAddress, 'receiverUmaAddress');
      const owner = await ownerOfAddress(this.writePath, this.claimIds, tenant.environment, address);
      if (!owner || owner.tenantId !== tenantIdOf(tenant)) throw reject('UMA_NOT_FOUND');
      return owner;
    }
    const { state } = await this.writePath.state<CustomerState>(customer, parsePublicId('Customer', customerId!)!);
    if (state.tenantId !== tenantIdOf(tenant) || !isKnown(state) || isDeleted(state)) throw reject('USER_NOT_FOUND');
    return state;
  }
}

function checkAddress(body: Partial<SandboxUmaReceiveBody>, field: 'senderUmaAddress' | 'receiverUmaAddress'): void {
  const text = body[field];
  if (text !== undefined) readAddress(text, field);
}

function checkOneReceiver({ customerId, receiverUmaAddress }: Readonly<Record<string, unknown>>): void {
  if ((customerId === undefined) !== (receiverUmaAddress === undefined)) return;
  const message = 'Give one of receiverUmaAddress and customerId.';
  const constraint = customerId === undefined ? 'REQUIRED' : 'CONFLICT';
  throw rejectFields([{ field: 'receiverUmaAddress', constraint, message }]);
}

/** The configuration of a currency that the customer takes in that amount. */
function taken({ currencies }: LocalReceiver, code: string, amountMinor: bigint) {
  if (currencies.length === 0) throw reject('USER_NOT_READY');
  const found = currencies.find(({ currencyCode }) => currencyCode === code);
  const allowed = currencies.map(({ currencyCode }) => currencyCode);
  if (!found) throw reject('INVALID_CURRENCY', { currency: code, allowed }, `The customer does not take ${code}.`);
  const { minAmountMinor, maxAmountMinor } = found;
  if (amountMinor < minAmountMinor || amountMinor > maxAmountMinor) {
    const range = { minimum: Number(minAmountMinor), maximum: Number(maxAmountMinor) };
    throw reject('AMOUNT_OUT_OF_RANGE', { ...range, currency: code });
  }
  return found;
}
