import { Inject, Injectable } from '@nestjs/common';
import { availableMinor, insufficientFunds } from '../../../../libs/domain/accounts/account.ts';
import type { PaymentState } from '../../../../libs/domain/payments/payment.ts';
import { platformPublicId } from '../../../../libs/domain/platforms/platform.ts';
import { reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import type { Caller } from '../../../../libs/runtime/caller.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { type TransactionView, transactionView } from '../../../../projections/transaction.view.ts';
import { type AccountEnd, endOf } from '../../../shared/quotes.facts.ts';
import type { QuoteBody } from '../quotes/quotes.bodies.ts';
import { Quoting } from '../quotes/quoting.ts';
import type { TransferInBody, TransferOutBody } from './transfers.bodies.ts';

type Kind = AccountEnd['kind'];

/** The deprecated transfers: a quote between two accounts of one currency that is executed at once (docs/transfers.md). */
@Injectable()
export class Transfers {
  constructor(
    @Inject(Quoting) private readonly quoting: Quoting,
    @Inject(WritePath) private readonly writePath: WritePath,
  ) {}

  /** From an external account that can be pulled from to an internal one. */
  in(caller: Caller, body: TransferInBody): Promise<TransactionView> {
    return this.transfer(caller, body, () => this.amountIn(caller, body));
  }

  /** From an internal account to an external one; without amount all that it can spend. */
  out(caller: Caller, body: TransferOutBody): Promise<TransactionView> {
    return this.transfer(caller, body, () => this.amountOut(caller, body));
  }

  private async amountIn(caller: Caller, body: TransferInBody): Promise<number> {
    const source = await this.end(caller, body, 'source', 'EXTERNAL');
    await this.checkCurrencies(source, await this.end(caller, body, 'destination', 'INTERNAL'));
    if (source.kind === 'EXTERNAL' && !source.account.isPullable) {
      throw reject('INVALID_INPUT', { reason: 'SOURCE_NOT_PULLABLE' }, 'Money cannot be pulled from this account.');
    }
    if (body.amount === undefined) {
      const message = 'amount is required: the balance of an external account is not known here.';
      throw rejectFields([{ field: 'amount', constraint: 'REQUIRED', message }]);
    }
    return body.amount;
  }

  private async amountOut(caller: Caller, body: TransferOutBody): Promise<number> {
    const source = await this.end(caller, body, 'source', 'INTERNAL');
    await this.checkCurrencies(source, await this.end(caller, body, 'destination', 'EXTERNAL'));
    const amount = body.amount ?? (source.kind === 'INTERNAL' ? Number(availableMinor(source.account)) : 0);
    if (amount === 0) throw insufficientFunds();
    return amount;
  }

  private async end(
    { tenant }: Caller,
    body: TransferInBody | TransferOutBody,
    name: 'source' | 'destination',
    kind: Kind,
  ): Promise<AccountEnd> {
    const field = `${name}.accountId`;
    const end = await endOf(this.writePath, tenant, body[name].accountId, field);
    if (end.kind === kind) return end;
    const message = `${field} must be the id of an ${kind.toLowerCase()} account.`;
    throw rejectFields([{ field, constraint: 'FORMAT', message }]);
  }

  private async checkCurrencies(source: AccountEnd, destination: AccountEnd): Promise<void> {
    if (source.currency === destination.currency) return;
    const currencies = { sourceCurrency: source.currency, destinationCurrency: destination.currency };
    throw reject('INVALID_CURRENCY', currencies, 'A transfer is within one currency; use a quote to convert.');
  }

  private transfer(
    caller: Caller,
    body: TransferInBody | TransferOutBody,
    amount: () => Promise<number>,
  ): Promise<TransactionView> {
    const { source, destination, amount: _, ...texts } = body;
    const quote = async (): Promise<QuoteBody> => ({
      source: { sourceType: 'ACCOUNT', ...source },
      destination: { destinationType: 'ACCOUNT', ...destination },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: await amount(),
      immediatelyExecute: true,
      ...texts,
    });
    const owner = platformPublicId(caller.tenant);
    const view = (state: PaymentState, now: string) => transactionView(state, now, owner);
    return this.quoting.make(caller, quote, { view, isTransfer: true });
  }
}
