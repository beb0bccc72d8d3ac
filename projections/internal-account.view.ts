import { type Static, Type } from 'typebox';
import type { SweepRule as Rule } from '../libs/domain/accounts/account.events.ts';
import { type AccountState, availableMinor } from '../libs/domain/accounts/account.ts';
import { publicId } from '../libs/kernel/ids.ts';
import { currencyAmount } from '../libs/kernel/money.ts';
import { CurrencyAmount } from './currency.view.ts';
import { fundingInstructions } from './funding-instructions.ts';
import { PaymentInstructions } from './payment-instructions.view.ts';
import { PaymentRail } from './payment-rail.view.ts';
import { PurposeOfPayment } from './payment-source.view.ts';

export const internalAccountTypes = ['INTERNAL_FIAT', 'INTERNAL_CRYPTO', 'EMBEDDED_WALLET', 'RULE_BASED'] as const;

export const SweepRule = Type.Object(
  {
    destination: Type.Object({
      accountId: Type.String({ description: 'An external account, or another internal one.' }),
      paymentRail: Type.Optional(PaymentRail),
    }),
    purposeOfPayment: Type.Optional(PurposeOfPayment),
    description: Type.Optional(Type.String()),
    remittanceInformation: Type.Optional(Type.String()),
    minimumAmount: Type.Union([CurrencyAmount, Type.Null()], { description: 'Less than this is not swept.' }),
    maximumAmount: Type.Union([CurrencyAmount, Type.Null()], { description: 'More than this is not swept.' }),
  },
  { $id: 'SweepRule' },
);

type SweepRule = Static<typeof SweepRule>;

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
    label: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Of rule-based accounts only.' })),
    sweepRule: Type.Optional(
      Type.Union([SweepRule, Type.Null()], {
        description: 'Where what arrives goes on to; of rule-based accounts only.',
      }),
    ),
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
    // What is on a rule-based account is on its way: nobody can spend it.
    balance: currencyAmount(state.rule ? 0n : availableMinor(state), state.currency),
    totalBalance: currencyAmount(state.postedMinor, state.currency),
    fundingPaymentInstructions: [...fundingInstructions(state)],
    ...(state.type === 'EMBEDDED_WALLET' && { privateEnabled: false }),
    ...(state.rule && { label: state.label ?? null, sweepRule: sweepRuleView(state, state.rule) }),
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  };
}

function sweepRuleView({ currency, description, remittanceInformation }: AccountState, rule: Rule): SweepRule {
  const { destination, purposeOfPayment, minimumMinor, maximumMinor } = rule;
  const { kind, accountId, paymentRail } = destination;
  return {
    destination: {
      accountId: publicId(kind === 'INTERNAL' ? 'InternalAccount' : 'ExternalAccount', accountId),
      ...(paymentRail !== undefined && { paymentRail }),
    },
    ...(purposeOfPayment !== undefined && { purposeOfPayment: purposeOfPayment as Static<typeof PurposeOfPayment> }),
    ...(description !== undefined && { description }),
    ...(remittanceInformation !== undefined && { remittanceInformation }),
    minimumAmount: currencyAmount(minimumMinor, currency),
    maximumAmount: currencyAmount(maximumMinor, currency),
  };
}
