import { createHmac } from 'node:crypto';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId, publicId, uuidV7 } from '../../../../libs/kernel/ids.ts';

/**
 * Lookup ids that need not be kept: each carries when it ends and a seal over that, the tenant and the receiver, so that every process of
 * a deployment can tell whether it was given out, for what, and whether it still holds.
 */
export class LookupIds {
  private readonly key: Buffer;

  /** `key`: 32 bytes of the deployment's own. */
  constructor(key: Buffer) {
    this.key = key;
  }

  /** `Lookup:<uuid>` for a receiver (a UMA address or an account's public id), good until `untilMs`. */
  make(tenantId: string, receiver: string, untilMs: number): string {
    return publicId('Lookup', this.sealed(tenantId, receiver, Math.round(untilMs)));
  }

  /** `404 LOOKUP_REQUEST_NOT_FOUND` unless the lookup was made for this receiver and still holds. */
  check(lookupId: string, tenantId: string, receiver: string, nowMs: number): void {
    const uuid = parsePublicId('Lookup', lookupId);
    if (!uuid) throw reject('LOOKUP_REQUEST_NOT_FOUND');
    const untilMs = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
    if (uuid !== this.sealed(tenantId, receiver, untilMs)) throw reject('LOOKUP_REQUEST_NOT_FOUND');
    if (nowMs > untilMs)
      throw reject('LOOKUP_REQUEST_NOT_FOUND', { reason: 'LOOKUP_EXPIRED' }, 'The lookup has expired.');
  }

  private sealed(tenantId: string, receiver: string, untilMs: number): string {
    const seal = createHmac('sha256', this.key)
      .update(JSON.stringify([tenantId, receiver, untilMs]))
      .digest();
    return uuidV7(untilMs, seal.subarray(0, 10));
  }
}
