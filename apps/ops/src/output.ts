import { currency, minorPerMajor } from '../../../libs/kernel/money.ts';

/** Where a command's result goes: lines for people, or one JSON value for programs. Progress never mixes with it. */
export interface Output {
  isJson: boolean;
  /** A line for people; nothing with `--json`. */
  line(text?: string): void;
  /** The result, printed with `--json` only. Money is written as a decimal string of smallest units. */
  result(value: unknown): void;
  /** How far a long command is: one line that moves on a terminal, now and then a line elsewhere. */
  progress(text: string): void;
  /** Ends the moving line. */
  progressDone(): void;
}

const PLAIN_LINE_EVERY_MS = 5_000;
const MOVE_EVERY_MS = 100;

export type Streams = { stdout: NodeJS.WritableStream; stderr: NodeJS.WritableStream & { isTTY?: boolean } };

export function createOutput(isJson: boolean, { stdout, stderr }: Streams): Output {
  let lastMs = performance.now();
  let isMoving = false;
  return {
    isJson,
    line(text = '') {
      if (!isJson) stdout.write(`${text}\n`);
    },
    result(value) {
      if (isJson) stdout.write(`${JSON.stringify(value, bigintAsText, 2)}\n`);
    },
    progress(text) {
      const everyMs = stderr.isTTY ? MOVE_EVERY_MS : PLAIN_LINE_EVERY_MS;
      if (performance.now() - lastMs < everyMs) return;
      lastMs = performance.now();
      isMoving = stderr.isTTY === true;
      stderr.write(isMoving ? `\r\u001b[K${text}` : `${text}\n`);
    },
    progressDone() {
      if (isMoving) stderr.write('\r\u001b[K');
      isMoving = false;
    },
  };
}

const bigintAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

/** `12 % · 120,000 of 1,000,000 events · 45,000/s · 20 s left` */
export function howFar(at: { position: number; upTo: number; rate: number }): string {
  const share = at.upTo === 0 ? 100 : Math.floor((at.position / at.upTo) * 100);
  const left = Math.ceil((at.upTo - at.position) / Math.max(at.rate, 1));
  return `${share} % · ${count(at.position)} of ${count(at.upTo)} events · ${count(at.rate)}/s · ${left} s left`;
}

/** `1234567` → `1,234,567` */
export const count = (value: number | bigint): string => Math.round(Number(value)).toLocaleString('en');

/** Smallest units for people: `amount(-12550n, 'USD')` → `-125.50 USD`. */
export function amount(minor: bigint, code: string): string {
  const { decimals } = currency(code);
  const unit = minorPerMajor(code);
  const size = minor < 0n ? -minor : minor;
  const fraction = decimals === 0 ? '' : `.${(size % unit).toString().padStart(decimals, '0')}`;
  return `${minor < 0n ? '-' : ''}${(size / unit).toLocaleString('en')}${fraction} ${code}`;
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

/** A value of a row: amounts, codes, ids and times as they are; of other texts, which may be about a person, only that there is one. */
export function shownValue(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return String(value);
  return typeof value === 'string' && PLAIN.test(value) ? value : '(text)';
}

const PLAIN = /^(-?\d+|[A-Z][A-Z_]+|present|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[ T][\d:.+Z]+)$/;
