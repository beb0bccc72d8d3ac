import { type ExternalAccountState, externalAccount } from '../../../libs/domain/external-accounts/external-account.ts';
import type { RailRequest, RefundRequest } from '../../../libs/domain/payments/payment.process.ts';
import { Rejection } from '../../../libs/kernel/errors.ts';
import type { RailsOf } from '../../../libs/providers/rails.port.ts';
import type { Calls } from '../../../libs/runtime/drive.ts';
import type { WritePath } from '../../../libs/runtime/execute.ts';

/** The outside world as processes call it, with what each provider has to know of the resources that a request names. */
export function providerCalls(writePath: WritePath, railsOf: RailsOf): Calls {
  const suffixOf = async (id: string | undefined): Promise<string> => {
    if (id === undefined) return '';
    const { state } = await writePath.state<ExternalAccountState>(externalAccount, id);
    return state.identifierSuffix;
  };
  const railsFor = (tenantId: string) => {
    const rails = railsOf(tenantId.slice(tenantId.indexOf('.') + 1));
    if (rails instanceof Rejection) throw rails;
    return rails;
  };
  return {
    async rail(request: RailRequest) {
      const { reference, direction, currency, amountMinor, orderedAt, isSettled } = request;
      const suffix = await suffixOf(request.externalAccountId);
      return railsFor(request.tenantId).carryOut({
        reference,
        direction,
        suffix,
        currency,
        amountMinor,
        orderedAt,
        isSettled,
      });
    },
    async refund({ reference, tenantId, externalAccountId }: RefundRequest) {
      return railsFor(tenantId).refund({ reference, suffix: await suffixOf(externalAccountId) });
    },
  };
}
