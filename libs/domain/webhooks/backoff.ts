const FIRST_DELAY_MS = 5_000;
const LONGEST_DELAY_MS = 30 * 60_000;
/** For how long after its event, or after it was asked for again, a delivery is tried. */
export const RETRY_FOR_MS = 7 * 24 * 3_600_000;

/** A delay is drawn from the last fifth below its nominal length, so that receivers do not see waves of retries. */
const JITTER_SHARE = 0.2;

const nominalDelayMs = (attempt: number): number => Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));

/** How often a delivery is attempted at most: as many times as fit into seven days when every delay is at its longest. */
export const MAX_ATTEMPTS = (() => {
  let attempt = 1;
  for (let elapsedMs = nominalDelayMs(1); elapsedMs <= RETRY_FOR_MS; elapsedMs += nominalDelayMs(attempt)) attempt += 1;
  return attempt;
})();

/**
 * How long to wait after failed attempt number `attempt` (the first is 1) before the next one: 5 s, doubled each time,
 * at most 30 min, up to 7 days in all (facts §11). `random01` is in [0, 1).
 */
export function nextAttemptDelayMs(attempt: number, random01: number): number | 'GIVE_UP' {
  if (attempt >= MAX_ATTEMPTS) return 'GIVE_UP';
  return Math.round(nominalDelayMs(attempt) * (1 - JITTER_SHARE * random01));
}

/** True when an HTTP status ends a delivery: any 2xx, and 409, which says that the receiver has it already (facts §11). */
export function isDelivered(status: number): boolean {
  return (status >= 200 && status < 300) || status === 409;
}
