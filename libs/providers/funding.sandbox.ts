import { createHash } from 'node:crypto';
import type { FundingInstructions, FundingSender } from '../kernel/funding.ts';
import { currency as currencyOf, internalAccountType, minorPerMajor } from '../kernel/money.ts';
import type { CryptoNetwork, PaymentRail } from '../kernel/rails.ts';
import type { FundingProvider, FundingRequest } from './funding.port.ts';
import { cryptoWays, fiatWays, swiftWay, withoutReference } from './funding.table.ts';

type Way = (typeof fiatWays)[string][number];

/** Instructions from the table; the same for ever for a reference. */
export const sandboxFunding: FundingProvider = {
  networks: (currency) => Object.keys(cryptoWays[currency] ?? {}) as CryptoNetwork[],
  async instructions(request) {
    return waysOf(request).map((way) => ({
      accountOrWalletInfo: filled(way, request.reference),
      instructionsNotes: notesOf(way, request),
      isPlatformAccount: request.isPlatform,
    }));
  },
};

function waysOf({ currency, cryptoNetwork }: FundingRequest): readonly Way[] {
  if (internalAccountType(currency) === 'INTERNAL_FIAT') return fiatWays[currency] ?? [swiftWay];
  const ways = cryptoWays[currency] ?? {};
  return cryptoNetwork ? [ways[cryptoNetwork]].filter((way) => way !== undefined) : Object.values(ways);
}

const isWallet = ({ paymentRails, accountType }: Way): boolean =>
  paymentRails === undefined && !withoutReference.includes(accountType);

function filled(way: Way, reference: string): Way {
  const entries = Object.entries(way).map(([field, value]) => [
    field,
    typeof value === 'string' ? value.replace('{reference}', reference) : value,
  ]);
  const hasReference = !isWallet(way) && !withoutReference.includes(way.accountType);
  return { ...Object.fromEntries(entries), ...(hasReference && { reference }) };
}

function notesOf(way: Way, { currency, amountMinor }: FundingRequest): string {
  const { decimals, code } = currencyOf(currency);
  const per = minorPerMajor(currency);
  const fraction = decimals === 0 ? '' : `.${String(amountMinor % per).padStart(decimals, '0')}`;
  const exactly = `Send exactly ${amountMinor / per}${fraction} ${code} in one payment`;
  return isWallet(way) || withoutReference.includes(way.accountType)
    ? `${exactly}.`
    : `${exactly}, with the reference.`;
}

/** Who sends money in the sandbox, by the instructions that the money follows; the same for ever for a reference. */
export function sandboxSender(
  reference: string,
  [first]: readonly FundingInstructions[],
  network: CryptoNetwork | undefined,
): FundingSender {
  const { accountType, paymentRails } = first!.accountOrWalletInfo;
  const hash = createHash('sha256').update(reference).digest('hex');
  if (accountType === 'LIGHTNING') return {};
  if (isWallet(first!.accountOrWalletInfo)) {
    return { onChainTransaction: { transactionHash: hash, network: network ?? 'BITCOIN' } };
  }
  const [paymentRail] = (paymentRails ?? []) as PaymentRail[];
  return {
    accountHolderName: 'Sandbox Sender',
    accountIdentifier: 'SANDBOX-0000000017',
    bankName: 'Ledgerline Sandbox Bank',
    bankIdentifier: 'LEDGDEFF',
    ...(paymentRail && { paymentRail }),
    remittanceInformation: reference,
    endToEndId: `E2E-${reference}`,
    traceNumber: String(BigInt(`0x${hash.slice(0, 12)}`)).padStart(15, '0'),
  };
}
