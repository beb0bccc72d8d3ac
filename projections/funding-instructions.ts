import { createHash } from 'node:crypto';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import { composeIBAN } from 'ibantools';
import { LRUCache } from 'lru-cache';
import type { AccountState } from '../libs/domain/accounts/account.ts';
import { accountExamples } from '../libs/domain/external-accounts/account.examples.ts';
import {
  type AccountInfo,
  type AccountType,
  isAccountType,
  railsOf,
} from '../libs/domain/external-accounts/account-types.ts';
import { clabeCheckDigit } from '../libs/domain/external-accounts/identifier-checks.ts';
import type { PaymentInstructions } from './payment-instructions.view.ts';

type Info = PaymentInstructions['accountOrWalletInfo'];

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const base58check = createBase58check(sha256);
const known = new LRUCache<string, readonly PaymentInstructions[]>({ max: 10_000 });

const NOTES = 'Put the reference into the payment: it leads the money to this account.';

/**
 * How the sandbox lets an account be funded: made from the account's id, the same for ever. No bank or chain knows these accounts.
 * Elsewhere a deployment's provider says it, and until there is one nobody does.
 */
export function fundingInstructions(account: AccountState): readonly PaymentInstructions[] {
  if (account.status !== 'ACTIVE' || !account.tenantId.endsWith('.sandbox')) return [];
  let instructions = known.get(account.accountId);
  if (!instructions) {
    const isPlatformAccount = account.customerId === undefined;
    instructions = infosOf(account).map((accountOrWalletInfo) => ({
      accountOrWalletInfo,
      ...('reference' in accountOrWalletInfo && { instructionsNotes: NOTES }),
      isPlatformAccount,
    }));
    known.set(account.accountId, instructions);
  }
  return instructions;
}

function infosOf({ accountId, currency, type }: AccountState): Info[] {
  const seed = (purpose: string): Uint8Array => sha256(Buffer.from(`${purpose} ${accountId}`));
  const digits = (length: number): string =>
    [...seed('digits')]
      .map((byte) => byte % 10)
      .join('')
      .slice(0, length);
  const reference = `FUND-${Buffer.from(seed('reference')).toString('hex').slice(0, 8).toUpperCase()}`;
  if (type === 'INTERNAL_FIAT' || type === 'RULE_BASED') return [fiatInfo(currency, digits, reference)];
  return walletInfos(currency, seed);
}

const BANK = { bankName: 'Ledgerline Sandbox Bank' };

function fiatInfo(currency: string, digits: (length: number) => string, reference: string): Info {
  switch (currency) {
    case 'USD': {
      const bank = { ...BANK, bankAddress: '1 Sandbox Street, New York, NY 10001' };
      const account = { accountNumber: digits(12), routingNumber: '011999993' };
      return { ...railed({ accountType: 'USD_ACCOUNT', ...account, ...bank }), reference };
    }
    case 'EUR': {
      const iban = composeIBAN({ countryCode: 'DE', bban: `99999999${digits(10)}` })!;
      return { ...railed({ accountType: 'EUR_ACCOUNT', iban, swiftCode: 'LEDGDEFF' }), reference };
    }
    case 'GBP':
      return {
        ...railed({ accountType: 'GBP_ACCOUNT', sortCode: '999999', accountNumber: digits(8) }),
        reference,
      };
    case 'MXN': {
      const clabe = `999180${digits(11)}`;
      const clabeNumber = clabe + clabeCheckDigit(clabe);
      return { ...railed({ accountType: 'MXN_ACCOUNT', clabeNumber }), reference };
    }
    case 'BRL':
      return { accountType: 'BRL_ACCOUNT', qrCode: `pix-sandbox:${reference}` };
    case 'COP':
      return { accountType: 'COP_ACCOUNT', paymentUrl: `https://ledgerline.example/pay/${reference}` };
    case 'ARS':
      return { accountType: 'ARS_ACCOUNT', accountNumber: digits(22) };
    case 'INR':
      return railed({ accountType: 'INR_ACCOUNT', vpa: `${reference.toLowerCase()}@ledgerline` });
    default:
      return pooledInfo(`${currency}_ACCOUNT`, digits, reference);
  }
}

/** One account for all, told apart by the reference; over SWIFT where the currency has no account type of its own. */
function pooledInfo(type: string, digits: (length: number) => string, reference: string): Info {
  if (isAccountType(type)) {
    const { beneficiary: _, ...info } = accountExamples[type];
    return { ...railed(info as AccountInfo), reference };
  }
  const account = { country: 'DE', swiftCode: 'LEDGDEFF', ...BANK, accountNumber: digits(12) };
  const info = railed({ accountType: 'SWIFT_ACCOUNT', ...account });
  return { ...info, accountHolderName: 'Ledgerline Sandbox', reference };
}

const railed = <T extends AccountType>(info: { accountType: T; [field: string]: unknown }): Info => ({
  ...info,
  paymentRails: railsOf(info),
});

function walletInfos(currency: string, seed: (purpose: string) => Uint8Array): Info[] {
  const evm = `0x${Buffer.from(seed('evm').slice(0, 20)).toString('hex')}`;
  const solana = { accountType: 'SOLANA_WALLET', address: base58.encode(seed('solana')), assetType: currency };
  const on = (accountType: string): Info => ({ accountType, address: evm, assetType: currency });
  switch (currency) {
    case 'USDC':
      return [solana, on('ETHEREUM_WALLET'), on('BASE_WALLET'), on('POLYGON_WALLET')];
    case 'USDT': {
      const address = base58check.encode(Uint8Array.from([0x41, ...seed('tron').slice(0, 20)]));
      return [
        { accountType: 'TRON_WALLET', address, assetType: currency },
        solana,
        on('ETHEREUM_WALLET'),
        on('PLASMA_WALLET'),
      ];
    }
    case 'BTC': {
      const words = [0, ...bech32.toWords(seed('bitcoin').slice(0, 20))];
      const address = bech32.encode('tb', words);
      return [{ accountType: 'BITCOIN_L1', address, network: 'BITCOIN' }, sparkInfo(currency, seed)];
    }
    case 'USDB':
      return [sparkInfo(currency, seed)];
    default:
      return [];
  }
}

/** A Spark address of the test network: bech32m over a protobuf field that holds a compressed public key. */
function sparkInfo(assetType: string, seed: (purpose: string) => Uint8Array): Info {
  const payload = Uint8Array.from([0x0a, 33, 2, ...seed('spark')]);
  const address = bech32m.encode('sparkrt', bech32m.toWords(payload), 128);
  return { accountType: 'SPARK_WALLET', address, assetType };
}
