/** Where the story goes: a line at a time, in colour on a terminal, plain elsewhere. */
export class Teller {
  private readonly write: (text: string) => void;
  private readonly isColourful: boolean;
  private chapters = 0;

  constructor(out: { write(text: string): unknown; isTTY?: boolean }) {
    this.write = (text) => void out.write(text);
    this.isColourful = out.isTTY === true;
  }

  chapter(title: string): void {
    this.chapters += 1;
    this.write(`\n${this.painted(BOLD, `${this.chapters}. ${title}`)}\n`);
  }

  /** A sentence of the story. */
  say(text: string): void {
    this.write(`   ${text}\n`);
  }

  /** Something that was found to be as it must be. */
  right(text: string): void {
    this.write(`   ${this.painted(GREEN, '✓')} ${text}\n`);
  }

  /** A request and its answer. */
  http(method: string, path: string, status: number, note = ''): void {
    const line = `${method.padEnd(5)} ${path}`;
    this.write(`   ${this.painted(DIM, `${line} → ${status}${note && ` ${note}`}`)}\n`);
  }

  /** Lines that stand together, such as a table. */
  block(lines: readonly string[]): void {
    for (const line of lines) this.write(`     ${line}\n`);
  }

  wrong(text: string): void {
    this.write(`\n   ${this.painted(RED, '✗')} ${text}\n`);
  }

  end(text: string): void {
    this.write(`\n${this.painted(BOLD, text)}\n\n`);
  }

  private painted(style: string, text: string): string {
    return this.isColourful ? `\u001b[${style}m${text}\u001b[0m` : text;
  }
}

const BOLD = '1';
const DIM = '2';
const GREEN = '32';
const RED = '31';
