import { type Static, Type } from 'typebox';
import { type AccountState, availableMinor } from '../libs/domain/accounts/account.ts';
import { publicId } from '../libs/kernel/ids.ts';
import { currencyAmount } from '../libs/kernel/money.ts';
import { CurrencyAmount } from './currency.view.ts';
import { fundingInstructions } from './funding-instructions.ts';
import { PaymentInstructions } from './payment-instructions.view.ts';

export const internalAccountTypes = ['INTERNAL_FIAT', 'INTERNAL_CRYPTO', 'EMBEDDED_WALLET', 'RULE_BASED'] as const;

export const InternalAccount = Type.Object(
  {
    id: Type.String({ description: '`InternalAccount:<uuid>`.' }),
    customerId: Type.Optional(Type.String({ description: "Absent for the platform's own accounts." })),
    type: Type.Enum([...internalAccountTypes], { $id: 'InternalAccountType', type: 'string' }),
    status: Type.Enum(['PENDING', 'ACTIVE', 'CLOSED', 'FROZEN', 'FAILED'], {
      $id: 'InternalAccountStatus',
      type: 'string',
    }),
    balance: CurrencyAmount,
    totalBalance: CurrencyAmount,
    fundingPaymentInstructions: Type.Array(PaymentInstructions, {
      description: 'Ways to bring money onto the account; none once it is closed.',
    }),
    privateEnabled: Type.Optional(Type.Boolean({ description: 'Of embedded wallets only.' })),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { $id: 'InternalAccount' },
);

/** An internal account as the API shows it: `balance` can be spent, `totalBalance` contains what is held. */
export function internalAccountView(state: AccountState): Static<typeof InternalAccount> {
  return {
    id: publicId('InternalAccount', state.accountId),
    ...(state.customerId && { customerId: publicId('Customer', state.customerId) }),
    type: state.type,
    status: state.status === 'CLOSED' ? 'CLOSED' : 'ACTIVE',
    balance: currencyAmount(availableMinor(state), state.currency),
    totalBalance: currencyAmount(state.postedMinor, state.currency),
    fundingPaymentInstructions: [...fundingInstructions(state)],
    ...(state.type === 'EMBEDDED_WALLET' && { privateEnabled: false }),
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  };
}
