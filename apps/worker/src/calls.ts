import { type ExternalAccountState, externalAccount } from '../../../libs/domain/external-accounts/external-account.ts';
import type { CancelRequest, RailRequest, RefundRequest } from '../../../libs/domain/payments/payment.process.ts';
import { tenantOf } from '../../../libs/domain/platforms/platform.ts';
import { Rejection } from '../../../libs/kernel/errors.ts';
import type { Tenant } from '../../../libs/kernel/messages.ts';
import type { RailsOf } from '../../../libs/providers/rails.port.ts';
import type { Calls } from '../../../libs/runtime/drive.ts';
import type { WritePath } from '../../../libs/runtime/execute.ts';
import type { ApprovalCall } from './approval-call.ts';
import type { umaCalls } from './uma-calls.ts';

/** The outside world as processes call it, with what each provider has to know of the resources that a request names. */
export function providerCalls(
  writePath: WritePath,
  railsOf: RailsOf,
  uma: ReturnType<typeof umaCalls>,
  approval: ApprovalCall,
): Calls {
  const suffixOf = async (id: string | undefined): Promise<string> => {
    if (id === undefined) return '';
    const { state } = await writePath.state<ExternalAccountState>(externalAccount, id);
    return state.identifierSuffix;
  };
  const railsFor = ({ environment }: Tenant) => {
    const rails = railsOf(environment);
    if (rails instanceof Rejection) throw rails;
    return rails;
  };
  const orderOf = async ({ tenantId, externalAccountId, paymentRail: _, uma: __, ...order }: RailRequest) => ({
    ...order,
    tenant: tenantOf(tenantId),
    suffix: await suffixOf(externalAccountId),
  });
  return {
    async rail(request: RailRequest) {
      if (request.uma) return uma.pay(request, request.uma);
      return railsFor(tenantOf(request.tenantId)).carryOut(await orderOf(request));
    },
    async cancelRail({ requestedAt, ...request }: CancelRequest) {
      return railsFor(tenantOf(request.tenantId)).cancel({ ...(await orderOf(request)), requestedAt });
    },
    async refund(request: RefundRequest) {
      const { tenantId, externalAccountId, uma: route, ...order } = request;
      if (route) return uma.refund(request, route);
      return railsFor(tenantOf(tenantId)).refund({ ...order, suffix: await suffixOf(externalAccountId) });
    },
    collect: uma.collect,
    giveBack: uma.giveBack,
    approval: approval.ask,
  };
}
