import { createHmac } from 'node:crypto';
import { base32 } from '@scure/base';
import type { Caller } from '../../../../libs/runtime/caller.ts';

/** Makes the codes of invitations: 128 bits that nobody can guess, the same again for a keyed request that is repeated. */
export class InvitationCodes {
  private readonly key: Buffer;

  /** `key`: 32 bytes of the deployment's own. */
  constructor(key: Buffer) {
    this.key = key;
  }

  /** Idempotency keys can be guessed, and the ids that derive from them: without the deployment's key they say nothing of the code. */
  codeFor(caller: Caller): string {
    const mac = createHmac('sha256', this.key).update(caller.newId('invitation')).digest();
    return base32.encode(mac.subarray(0, 16)).replaceAll('=', '').toLowerCase();
  }
}

/** True for a text that can be a code. */
export const isInvitationCode = (text: string): boolean => /^[a-z2-7]{26}$/.test(text);
