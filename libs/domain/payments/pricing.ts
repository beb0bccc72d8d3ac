import { type Rejection, reject } from '../../kernel/errors.ts';
import {
  type CurrencyCode,
  divideDown,
  divideHalfUp,
  divideUp,
  MAX_PAYMENT_AMOUNT,
  outOfRange,
} from '../../kernel/money.ts';
import { exchangeRateText, type FeeTerms, type Fraction, minorRatio, type Rate } from '../../kernel/rate.ts';

/** The side of a quote whose amount is given (spec, quotes). */
export type LockedSide = 'SENDING' | 'RECEIVING';

/** What a price is made of. Amounts are smallest units, of the locked side's currency resp. the sending currency. */
export interface PriceRequest {
  sendingCurrency: CurrencyCode;
  receivingCurrency: CurrencyCode;
  lockedSide: LockedSide;
  lockedAmount: bigint;
  /** From the sending to the receiving currency. */
  rate: Rate;
  service: FeeTerms;
  platform: FeeTerms;
}

/**
 * A priced payment. For the ledger: `totalSendingAmount = serviceFee + platformFee + convertedAmount` in the sending
 * currency, and `convertedAmount` becomes `totalReceivingAmount` of the receiving currency (the same money when the
 * currencies are the same). What rounding leaves over stays in the conversion: less than one smallest unit of the
 * receiving currency with a SENDING lock, of the sending currency with a RECEIVING lock.
 */
export interface Priced {
  sendingCurrency: CurrencyCode;
  receivingCurrency: CurrencyCode;
  totalSendingAmount: bigint;
  totalReceivingAmount: bigint;
  /** `serviceFee + platformFee`, sending currency. */
  feesIncluded: bigint;
  /** The API's name for `platformFee`. */
  platformFeesIncluded: bigint;
  serviceFee: bigint;
  platformFee: bigint;
  /** What is left to convert after fees, sending currency. */
  convertedAmount: bigint;
  /** Sending per one receiving unit, major units, as these amounts have it; `Number(…)` goes on the wire. */
  exchangeRate: string;
  rate: Rate;
}

/** What each party takes from a sending amount. */
export interface Fees {
  service: bigint;
  platform: bigint;
  total: bigint;
}

const ALL_BPS = 10_000n;

/**
 * Prices a payment. Refuses, in this order: a locked amount that is not positive (`INVALID_AMOUNT`), one above
 * `MAX_PAYMENT_AMOUNT` (`AMOUNT_OUT_OF_RANGE`), fees that leave nothing (`INVALID_AMOUNT`, reason
 * `FEES_EXCEED_AMOUNT`), nothing to receive (`INVALID_AMOUNT`, reason `RECEIVING_AMOUNT_IS_ZERO`), and a total on
 * either side above `MAX_PAYMENT_AMOUNT`. Rates and fee terms are the caller's own: wrong ones throw a plain error.
 */
export function price(request: PriceRequest): Priced | Rejection {
  const { sendingCurrency, receivingCurrency, lockedSide, lockedAmount, rate, service, platform } = request;
  const ratio = checkedRatio(request);
  if (lockedAmount <= 0n) return reject('INVALID_AMOUNT', undefined, 'The amount must be positive.');
  if (lockedAmount > MAX_PAYMENT_AMOUNT) return outOfRange(MAX_PAYMENT_AMOUNT);
  if (BigInt(service.bps + platform.bps) >= ALL_BPS) return feesExceedAmount();

  const sending =
    lockedSide === 'SENDING'
      ? lockedAmount
      : grossUp(divideUp(lockedAmount * ratio.denominator, ratio.numerator), service, platform);
  const fees = feesOf(sending, service, platform);
  const converted = sending - fees.total;
  if (converted <= 0n) return feesExceedAmount();

  const receiving =
    lockedSide === 'RECEIVING' ? lockedAmount : divideDown(converted * ratio.numerator, ratio.denominator);
  if (receiving === 0n) {
    return reject('INVALID_AMOUNT', { reason: 'RECEIVING_AMOUNT_IS_ZERO' }, 'The amount is too small to be received.');
  }
  if (sending > MAX_PAYMENT_AMOUNT || receiving > MAX_PAYMENT_AMOUNT) return outOfRange(MAX_PAYMENT_AMOUNT);

  return {
    sendingCurrency,
    receivingCurrency,
    totalSendingAmount: sending,
    totalReceivingAmount: receiving,
    feesIncluded: fees.total,
    platformFeesIncluded: fees.platform,
    serviceFee: fees.service,
    platformFee: fees.platform,
    convertedAmount: converted,
    exchangeRate: exchangeRateText(sendingCurrency, converted, receivingCurrency, receiving),
    rate,
  };
}

/**
 * The fees of a sending amount: each party takes its fixed fee and its share of what all fixed fees leave, each share
 * rounded half-up on its own. Where the fixed fees leave nothing, the shares are 0.
 */
export function feesOf(sending: bigint, service: FeeTerms, platform: FeeTerms): Fees {
  const afterFixed = sending - service.fixed - platform.fixed;
  const base = afterFixed > 0n ? afterFixed : 0n;
  const serviceFee = service.fixed + divideHalfUp(base * BigInt(service.bps), ALL_BPS);
  const platformFee = platform.fixed + divideHalfUp(base * BigInt(platform.bps), ALL_BPS);
  return { service: serviceFee, platform: platformFee, total: serviceFee + platformFee };
}

/**
 * The least sending amount of which the fees leave `net`.
 *
 * One unit more never leaves more than one unit more, but it can leave one less, when both shares round up at it; so no
 * bisection. Start where every smaller amount surely leaves less than `net` (two roundings give away less than one
 * unit), then add what is missing until nothing is: no step can pass the least solution.
 */
function grossUp(net: bigint, service: FeeTerms, platform: FeeTerms): bigint {
  const kept = ALL_BPS - BigInt(service.bps + platform.bps);
  let sending = service.fixed + platform.fixed + divideDown((net - 1n) * ALL_BPS, kept);
  for (;;) {
    const missing = net - (sending - feesOf(sending, service, platform).total);
    if (missing <= 0n) return sending;
    sending += missing;
  }
}

function checkedRatio({ sendingCurrency, receivingCurrency, rate, service, platform }: PriceRequest): Fraction {
  if (rate.from !== sendingCurrency || rate.to !== receivingCurrency) {
    throw new Error(`a rate from ${rate.from} to ${rate.to} does not price ${sendingCurrency} to ${receivingCurrency}`);
  }
  for (const { fixed, bps } of [service, platform]) {
    if (fixed < 0n || !Number.isInteger(bps) || bps < 0) throw new RangeError(`not fee terms: ${fixed} and ${bps} bps`);
  }
  const ratio = minorRatio(rate);
  if (sendingCurrency === receivingCurrency && ratio.numerator !== ratio.denominator) {
    throw new Error(`${rate.buys} is not the rate of a currency to itself`);
  }
  return ratio;
}

const feesExceedAmount = (): Rejection =>
  reject('INVALID_AMOUNT', { reason: 'FEES_EXCEED_AMOUNT' }, 'The fees leave nothing of the amount.');
