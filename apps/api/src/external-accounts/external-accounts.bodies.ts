import {
  checkAccountCurrency,
  checkAccountInfo,
} from '../../../../libs/domain/external-accounts/account-info.check.ts';
import { type AccountInfo, isAccountType } from '../../../../libs/domain/external-accounts/account-types.ts';
import {
  type OwnershipMethod,
  type OwnershipType,
  ownershipMethods,
  ownershipTypes,
} from '../../../../libs/domain/external-accounts/external-account.events.ts';
import { type LivenessOutcome, livenessOutcomes } from '../../../../libs/domain/external-accounts/external-account.ts';
import type { SignatureScheme } from '../../../../libs/domain/external-accounts/ownership.ts';
import type { FieldError } from '../../../../libs/kernel/errors.ts';
import { currencyCodes, isCurrency } from '../../../../libs/kernel/money.ts';
import {
  Checked,
  OneOf,
  PageQuery,
  PublicId,
  QueryPublicId,
  QueryText,
  Text,
  text,
} from '../../../../libs/runtime/http/index.ts';

/** The longest identifier that a platform may give an account. */
const MAX_PLATFORM_ID = 255;

interface AccountPart {
  currency?: unknown;
  accountInfo?: unknown;
}

/** A currency that exists and that accounts of the type in `accountInfo` can hold. */
function checkCurrency(currency: unknown, { accountInfo }: AccountPart): FieldError[] {
  if (typeof currency !== 'string') return [{ field: '', constraint: 'TYPE', message: 'currency must be a string.' }];
  if (!isCurrency(currency)) {
    const message = 'currency must be the code of a known currency.';
    return [{ field: '', constraint: 'ENUM', message, allowed: currencyCodes() }];
  }
  const type = (accountInfo as { accountType?: unknown } | null | undefined)?.accountType;
  return isAccountType(type) ? checkAccountCurrency(type, currency).map((error) => ({ ...error, field: '' })) : [];
}

const platformId = text({ max: MAX_PLATFORM_ID });

/** The account itself, as leniently as the sandbox takes it; production is stricter, which is known later. */
function checkInfo(accountInfo: unknown, { currency }: AccountPart): FieldError[] {
  const errors = checkAccountInfo(accountInfo, String(currency), { sandbox: true });
  return [
    ...errors
      .filter(({ field }) => field !== 'currency')
      .map((error) => ({ ...error, field: error.field.slice('accountInfo.'.length) })),
    ...checkPlatformId(accountInfo),
  ];
}

/** The platform's identifier may stand inside `accountInfo` too (facts §5). */
function checkPlatformId(accountInfo: unknown): FieldError[] {
  const field = 'platformAccountId';
  const given = (accountInfo as Record<string, unknown> | null)?.[field];
  const faults = given === undefined ? [] : (platformId.check(given, {}) ?? []);
  return faults.map(({ says, ...fault }) => ({ ...fault, field, message: `accountInfo.${field} ${says}.` }));
}

/** Only a customer has a UMA address. */
function checkDefault(isDefault: unknown, { customerId }: { customerId?: unknown }): FieldError[] {
  if (typeof isDefault !== 'boolean') {
    return [{ field: '', constraint: 'TYPE', message: 'defaultUmaDepositAccount must be true or false.' }];
  }
  if (!isDefault || customerId !== undefined) return [];
  const message = 'defaultUmaDepositAccount can be true for an account of a customer only: give a customerId.';
  return [{ field: '', constraint: 'CONFLICT', message }];
}

export class PlatformExternalAccountCreateRequest {
  @Checked((value, body) => checkCurrency(value, body), {
    schema: { type: 'string' },
    description: 'ISO 4217 code, or the ticker of a crypto currency.',
    example: 'USD',
  })
  currency!: string;

  @Text({ optional: true, max: MAX_PLATFORM_ID, description: "The platform's own identifier for the account." })
  platformAccountId?: string;

  @OneOf(ownershipTypes, {
    optional: true,
    description:
      "Whose account it is: the holder's own, or somebody else's. Required for self-custody wallets on platforms with counterparty " +
      'requirements, where a wallet of somebody else (`THIRD_PARTY`) needs a `beneficiary`, too.',
  })
  ownershipType?: OwnershipType;

  @Checked((value, body) => checkInfo(value, body), {
    schema: { $ref: '#/components/schemas/ExternalAccountCreateInfoOneOf' },
  })
  accountInfo!: AccountInfo;
}

export class ExternalAccountCreateRequest extends PlatformExternalAccountCreateRequest {
  @PublicId('Customer', { optional: true, description: "Absent: the account is the platform's own." })
  customerId?: string;

  @Checked((value, body) => checkDefault(value, body), {
    schema: { type: 'boolean', default: false },
    optional: true,
    description:
      "Incoming payments to the customer's UMA address go here; takes the place of an account that was the default.",
  })
  defaultUmaDepositAccount?: boolean;
}

export class OwnershipChallengeRequest {
  @OneOf(ownershipMethods)
  method!: OwnershipMethod;
}

export class OwnershipVerifyRequest {
  @Text({ min: 1, max: 1_000, description: 'The signature over `messageToSign`, in the encoding of the wallet.' })
  signature!: string;

  @OneOf(['bip137', 'electrum'], { optional: true, description: 'Bitcoin only; `bip137` when absent.' })
  signatureScheme?: SignatureScheme;
}

export class LivenessOutcomeRequest {
  @OneOf(livenessOutcomes)
  outcome!: LivenessOutcome;
}

export class PlatformExternalAccountsQuery extends PageQuery {
  @QueryText({ max: 16, description: 'Only accounts in this currency.' })
  currency?: string;
}

export class ExternalAccountsQuery extends PlatformExternalAccountsQuery {
  @QueryPublicId('Customer', { description: 'Only accounts of this customer.' })
  customerId?: string;
}
