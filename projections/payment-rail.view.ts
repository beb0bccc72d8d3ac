import { Type } from 'typebox';
import { cryptoNetworks, paymentRails } from '../libs/kernel/rails.ts';

/** The rail that carries a fiat payment. */
export const PaymentRail = Type.Enum([...paymentRails], { $id: 'PaymentRail', type: 'string' });

/** The network that carries a crypto payment. */
export const CryptoNetwork = Type.Enum([...cryptoNetworks], { $id: 'CryptoNetwork', type: 'string' });
