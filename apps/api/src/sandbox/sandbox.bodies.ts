import { Integer } from '../../../../libs/runtime/http/index.ts';

/** The most that one sandbox deposit may bring (facts §12). */
const MAX_FUND = 100_000_000_000;

export class SandboxFundBody {
  @Integer({ min: 1, max: MAX_FUND, description: "Smallest unit of the account's currency.", example: 100_000 })
  amount!: number;
}
