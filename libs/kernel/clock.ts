/** Where time comes from. Everything that asks for the time asks this port (decision 19). */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
}

/** RFC 3339 UTC with milliseconds and `Z`. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();
