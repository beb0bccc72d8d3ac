import { createHmac } from 'node:crypto';

/** Names the streams of claims (architecture §10). What must be unique is often personal: the names tell nothing without the key. */
export class ClaimIds {
  private readonly key: Buffer;

  /** `key`: 32 bytes of the deployment's own, the same for ever. */
  constructor(key: Buffer) {
    this.key = key;
  }

  /** The id of the claim on a value under a rule: `idOf('UMA_ADDRESS', '$amina@example.com')`. */
  idOf(rule: string, ...value: string[]): string {
    return createHmac('sha256', this.key)
      .update(JSON.stringify([rule, ...value]))
      .digest('hex');
  }
}
