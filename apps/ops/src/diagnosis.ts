/** What was looked at, what came of it and, unless it is fine, what to do. */
export interface Diagnosis {
  check: string;
  outcome: 'ok' | 'warn' | 'fail';
  message: string;
  advice?: string;
}

export const ok = (check: string, message: string): Diagnosis => ({ check, outcome: 'ok', message });

export const warn = (check: string, message: string, advice: string): Diagnosis => ({
  check,
  outcome: 'warn',
  message,
  advice,
});

export const fail = (check: string, message: string, advice: string): Diagnosis => ({
  check,
  outcome: 'fail',
  message,
  advice,
});

/** What an error says, without where it comes from. */
export const messageOf = (error: unknown): string => (error instanceof Error && error.message) || String(error);
