import { createHash } from 'node:crypto';
import type { LoggedEvent } from '../../kernel/event-store.port.ts';

const REMEMBERED = 10_000;

/**
 * The partition of a platform: the first four bytes of the SHA-256 of its UTF-8 text, as an unsigned big-endian number, modulo the number
 * of partitions. It is written down here, and not left to a library, because all that was ever sent rests on it.
 */
export function partitionOf(platform: string, partitions: number): number {
  return createHash('sha256').update(platform, 'utf8').digest().readUInt32BE(0) % partitions;
}

/** The same for a fixed number of partitions, remembering the platforms it met last. */
export function partitioner(partitions: number): (platform: string) => number {
  const known = new Map<string, number>();
  return (platform) => {
    let partition = known.get(platform);
    if (partition === undefined) {
      partition = partitionOf(platform, partitions);
      known.set(platform, partition);
      if (known.size > REMEMBERED) known.delete(known.keys().next().value!);
    }
    return partition;
  };
}

/** The platform whose event it is; `''` for one that belongs to none. */
export function platformOf({ metadata }: Pick<LoggedEvent, 'metadata'>): string {
  const { platform } = JSON.parse(metadata) as { platform?: unknown };
  return typeof platform === 'string' ? platform : '';
}
