import { Body, Controller, Inject, Post } from '@nestjs/common';
import { type Static, Type } from 'typebox';
import { type AccountState, account } from '../../../../libs/domain/accounts/account.ts';
import { tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { reject, rejectFields } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { internalAccountType, toWire } from '../../../../libs/kernel/money.ts';
import type { CryptoNetwork } from '../../../../libs/kernel/rails.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { amountOf } from '../../../../projections/payment-source.view.ts';
import { PROVIDERS, type Providers, providerOf } from '../../../shared/providers.ts';
import { isAddressOn } from './addresses.ts';
import { EstimateCryptoWithdrawalFeeBody } from './crypto.bodies.ts';

const EstimateCryptoWithdrawalFeeResponse = Type.Object(
  {
    networkFee: amountOf('What the network takes, in the smallest unit of `networkFeeAsset`.'),
    networkFeeAsset: Type.String({ examples: ['SOL'] }),
    applicationFee: amountOf('What the service takes.'),
    totalFee: amountOf('What is taken from the amount.'),
    netAmount: amountOf('What arrives: `amount - totalFee`.', 1),
  },
  { $id: 'EstimateCryptoWithdrawalFeeResponse' },
);

@Controller('crypto')
export class CryptoController {
  constructor(
    @Inject(WritePath) private readonly writePath: WritePath,
    @Inject(PROVIDERS) private readonly providers: Providers,
  ) {}

  @Post('estimate-withdrawal-fee')
  @Operation({
    summary: 'Estimate the fee of a crypto withdrawal',
    description: 'For a withdrawal from a crypto account to a blockchain address. Nothing is reserved or recorded.',
    tag: 'Crypto',
    success: { 200: EstimateCryptoWithdrawalFeeResponse },
    errors: [404, 501],
    permission: 'TRANSACT',
  })
  async estimate(
    @Body() body: EstimateCryptoWithdrawalFeeBody,
    @CurrentCaller() { tenant }: Caller,
  ): Promise<Static<typeof EstimateCryptoWithdrawalFeeResponse>> {
    const { currency, amount } = body;
    const accountId = parsePublicId('InternalAccount', body.internalAccountId)!;
    const { state } = await this.writePath.state<AccountState>(account, accountId);
    if (state.tenantId !== tenantIdOf(tenant)) throw reject('REFERENCE_NOT_FOUND', { field: 'internalAccountId' });
    if (internalAccountType(state.currency) === 'INTERNAL_FIAT') {
      throw reject('INVALID_CURRENCY', { currency: state.currency }, 'The account holds no crypto currency.');
    }
    if (state.currency !== currency) {
      throw reject('INVALID_CURRENCY', { currency, expected: state.currency }, 'currency must be that of the account.');
    }
    const fees = providerOf(this.providers, 'networkFees', tenant);
    const network = checkedNetwork(body, fees.networks(currency));
    const { networkFee, networkFeeAsset, applicationFee, totalFee } = await fees.estimate({
      currency,
      network,
      amountMinor: BigInt(amount),
    });
    const net = BigInt(amount) - totalFee;
    if (net <= 0n) throw reject('AMOUNT_OUT_OF_RANGE', { minimum: Number(totalFee + 1n), currency });
    return {
      networkFee: toWire(networkFee),
      networkFeeAsset,
      applicationFee: toWire(applicationFee),
      totalFee: toWire(totalFee),
      netAmount: toWire(net),
    };
  }
}

function checkedNetwork(
  { cryptoNetwork, currency, destinationAddress }: EstimateCryptoWithdrawalFeeBody,
  allowed: readonly CryptoNetwork[],
): CryptoNetwork {
  const network = cryptoNetwork as CryptoNetwork;
  if (!allowed.includes(network)) {
    const message = `${currency} is not withdrawn on ${network}.`;
    throw rejectFields([{ field: 'cryptoNetwork', constraint: 'ENUM', message, allowed }]);
  }
  if (isAddressOn(network, destinationAddress)) return network;
  const message = `destinationAddress must be an address on ${network}.`;
  throw rejectFields([{ field: 'destinationAddress', constraint: 'FORMAT', message }]);
}
