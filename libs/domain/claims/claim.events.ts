import type { Event } from '../../kernel/messages.ts';

export type ClaimEvent =
  | Event<'ValueClaimed', { claimId: string; rule: string; owner: string }>
  | Event<'ValueReleased', { claimId: string; rule: string; owner: string }>;
