import { Inject, Injectable } from '@nestjs/common';
import {
  CancelPayment,
  ConfirmReceipt,
  hasQuote,
  type PaymentState,
  payment,
} from '../../../../libs/domain/payments/payment.ts';
import { platformPublicId, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { type Clock, timestamp } from '../../../../libs/kernel/clock.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { ReadModel } from '../../../../libs/runtime/read-model.ts';
import { payments } from '../../../../projections/payments.ts';
import { type TransactionView, transactionView } from '../../../../projections/transaction.view.ts';
import { CLOCK } from '../settings.ts';

/** What a platform can do to a transaction that is there. */
@Injectable()
export class Changing {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(ReadModel) private readonly readModel: ReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Asks the rail to stop an unsettled transfer by ACH or wire (facts §3); what the rail says follows on the transaction. */
  async cancel(caller: Caller, transactionId: string, reason: string | undefined): Promise<TransactionView> {
    const state = await this.known(caller, transactionId);
    if (!hasQuote(state)) throw reject('INVALID_INPUT', { reason: 'RAIL_NOT_CANCELLABLE' });
    const { paymentId } = state;
    const cancel = new CancelPayment({ paymentId, now: this.now(caller), ...(reason !== undefined && { reason }) });
    return this.commands.answer<PaymentState, TransactionView>(caller, cancel, this.viewFor(caller));
  }

  /** Records that the receiver was told. Said again, the later time holds. */
  async confirm(caller: Caller, transactionId: string, at: string | undefined): Promise<TransactionView> {
    const state = await this.known(caller, transactionId);
    const receiptDeliveryConfirmedAt = at ?? this.now(caller);
    const confirm = new ConfirmReceipt({
      paymentId: state.paymentId,
      receiptDeliveryConfirmedAt,
      isDeposit: !hasQuote(state),
    });
    const view = this.viewFor(caller);
    // What has no quote has no stream of its own here but for confirmations.
    const shown = (after: PaymentState) =>
      view(!hasQuote(state) ? { ...state, receiptDeliveryConfirmedAt, updatedAt: after.updatedAt } : after);
    return this.commands.answer<PaymentState, TransactionView>(caller, confirm, shown);
  }

  private now({ tenant }: Caller): string {
    return timestamp(this.clock.nowMs(tenant));
  }

  private viewFor(caller: Caller) {
    return (state: PaymentState) => transactionView(state, this.now(caller), platformPublicId(caller.tenant));
  }

  /** From the log where it has a stream, so that a transaction can be changed as soon as it has been answered. */
  private async known({ tenant }: Caller, transactionId: string): Promise<PaymentState> {
    const id = parsePublicId('Transaction', transactionId);
    if (!id) throw reject('TRANSACTION_NOT_FOUND');
    const { state } = await this.writePath.state<PaymentState>(payment, id);
    const found = state.paymentId === '' ? await this.readModel.byId<PaymentState>(payments, tenant, id) : state;
    if (!found || found.tenantId !== tenantIdOf(tenant) || found.phase === 'REFUSED') {
      throw reject('TRANSACTION_NOT_FOUND');
    }
    return found;
  }
}
