import { deciders } from '../../../libs/domain/index.ts';
import { currency, minorPerMajor } from '../../../libs/kernel/money.ts';

/** Where a command's result goes: lines for people, or JSON for programs. Progress goes elsewhere and never hides an error. */
export interface Output {
  isJson: boolean;
  /** A line for people; nothing with `--json`. */
  line(text?: string): void;
  /** Rows as columns for people, the first one being the headings; the columns of `right` are aligned to the right. */
  table(rows: readonly (readonly string[])[], right?: readonly number[]): void;
  /** The result, printed with `--json` only. Money is written as a decimal string of smallest units. */
  result(value: unknown): void;
  /** A line of a stream of results, as it is, in both forms. Waits while the reader of the output is behind. */
  stream(line: string): Promise<void>;
  /** Something that is wrong or worth knowing, on the error output: never mixed up with a line that moves. */
  note(text: string): void;
  /** How far a long command is: one line that moves on a terminal, now and then a line elsewhere. Throws once interrupted. */
  progress(text: string | (() => string)): void;
  /** Ends the moving line. */
  progressDone(): void;
  /** Raised when the command is asked to end. */
  signal: AbortSignal;
}

const PLAIN_LINE_EVERY_MS = 5_000;
const MOVE_EVERY_MS = 100;

export interface Streams {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

/** Nobody reads the output any more: `ops export | head`. */
export class ReaderGone extends Error {}

export function createOutput(
  isJson: boolean,
  { stdout, stderr }: Streams,
  signal: AbortSignal = new AbortController().signal,
  nowMs: () => number = () => performance.now(),
): Output {
  let lastMs = nowMs();
  let isMoving = false;
  const progressDone = () => {
    if (isMoving) stderr.write('\r\u001b[K');
    isMoving = false;
  };
  const line = (text = '') => {
    if (!isJson) stdout.write(`${text}\n`);
  };
  return {
    isJson,
    signal,
    line,
    table(rows, right) {
      for (const row of columns(rows, right)) line(row);
    },
    result(value) {
      if (isJson) stdout.write(`${JSON.stringify(value, bigintAsText, 2)}\n`);
    },
    async stream(text) {
      signal.throwIfAborted();
      if ((stdout as { destroyed?: boolean }).destroyed) throw new ReaderGone();
      if (!stdout.write(`${text}\n`)) await drained(stdout, signal);
    },
    note(text) {
      progressDone();
      stderr.write(`${text}\n`);
    },
    progress(text) {
      signal.throwIfAborted();
      const everyMs = stderr.isTTY ? MOVE_EVERY_MS : PLAIN_LINE_EVERY_MS;
      if (nowMs() - lastMs < everyMs) return;
      lastMs = nowMs();
      isMoving = stderr.isTTY === true;
      const said = typeof text === 'string' ? text : text();
      stderr.write(isMoving ? `\r\u001b[K${said}` : `${said}\n`);
    },
    progressDone,
  };
}

function drained(stream: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (error?: unknown) => {
      for (const [event, listener] of listeners) stream.removeListener(event, listener);
      signal.removeEventListener('abort', aborted);
      if (error) reject(error);
      else resolve();
    };
    const aborted = () => over(signal.reason);
    const listeners: [string, () => void][] = [
      ['drain', () => over()],
      ['error', () => over(new ReaderGone())],
      ['close', () => over(new ReaderGone())],
    ];
    for (const [event, listener] of listeners) stream.once(event, listener);
    signal.addEventListener('abort', aborted, { once: true });
  });
}

const bigintAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** One line of JSON, money as decimal strings. */
export const jsonLine = (value: unknown): string => JSON.stringify(value, bigintAsText);

/** `12 % · position 120,000 of 1,000,000 · 45,000/s · 20 s left`. All in positions, which on EventStoreDB are more than events. */
export function howFar(at: { position: number; upTo: number; rate: number }): string {
  const upTo = Math.max(at.upTo, at.position); // the log may have grown since
  const share = upTo === 0 ? 100 : Math.floor((at.position / upTo) * 100);
  const left = Math.ceil((upTo - at.position) / Math.max(at.rate, 1));
  return `${share} % · position ${count(at.position)} of ${count(upTo)} · ${count(at.rate)}/s · ${left} s left`;
}

/** `1234567` → `1,234,567` */
export const count = (value: number | bigint): string => Math.round(Number(value)).toLocaleString('en');

/** `counted(1, 'event')` → `1 event`; `counted(2, 'delivery', 'deliveries')` → `2 deliveries`. */
export const counted = (value: number, one: string, several = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : several}`;

/** Smallest units for people: `amount(-12550n, 'USD')` → `-125.50 USD`. */
export function amount(minor: bigint, code: string): string {
  const { decimals } = currency(code);
  const unit = minorPerMajor(code);
  const size = minor < 0n ? -minor : minor;
  const fraction = decimals === 0 ? '' : `.${(size % unit).toString().padStart(decimals, '0')}`;
  return `${minor < 0n ? '-' : ''}${(size / unit).toLocaleString('en')}${fraction} ${code}`;
}

/** A length of time for people: `4 s`, `12 min`, `3 h`, `5 d`. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** Rows of texts as columns; the columns of `right` are aligned to the right. */
export function columns(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd(),
  );
}

/** What events say of people, by the names of the fields, in small letters. */
const personal = deciders.flatMap((decider) =>
  Object.values(decider.personal ?? {}).flatMap(({ fields }) => fields.map((field) => field.toLowerCase())),
);

/**
 * A value of a row: amounts, codes, ids and times as they are; of other texts, which may be about a person, and of all that a field holds
 * that has its name from personal data, only that there is one. `field`: `state.profile.fullName`, `uma_address`.
 */
export function shownValue(field: string, value: unknown): string {
  if (value === undefined) return 'absent';
  const path = field.replaceAll('_', '').toLowerCase();
  if (personal.some((name) => path.includes(name))) return '(text)';
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  return typeof value === 'string' && PLAIN.test(value) ? value : '(text)';
}

const PLAIN = /^(-?\d+|[A-Z][A-Z_]+|present|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[ T][\d:.+Z]+)$/;
