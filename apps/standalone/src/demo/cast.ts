import { amount as money } from '../../../ops/src/output.ts';
import type { Client, Json } from './client.ts';
import type { Receiver } from './receiver.ts';
import type { Target } from './target.ts';
import type { Teller } from './teller.ts';

/** Who and what the story is about, as it becomes known. */
export interface Cast {
  target: Target;
  client: Client;
  teller: Teller;
  receiver: Receiver;
  /** Public ids of customers and of their accounts. */
  amina: string;
  aminaUsd: string;
  jonas: string;
  jonasEur: string;
}

/** What was verified of each webhook. */
export const signatures = ({ webhookSecret }: Target): string =>
  webhookSecret === undefined ? 'its X-Service-Signature verified' : 'both signatures verified';

/** An amount of the API for people. */
export const shown = ({ amount, currency }: Json): string => money(BigInt(amount), currency.code);
