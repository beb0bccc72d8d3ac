import { Writable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { amount, columns, counted, createOutput, duration, howFar, ReaderGone } from './output.ts';

/** What a terminal gets, or a file. */
function streams(isTTY: boolean) {
  const said: string[] = [];
  const saying = (to: string) =>
    new Writable({
      write(chunk, _, done) {
        said.push(`${to} ${chunk}`);
        done();
      },
    });
  return { said, stdout: saying('out'), stderr: Object.assign(saying('err'), { isTTY }) };
}

const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('progress', () => {
  test('moves in one line on a terminal; an error clears it first and stays', () => {
    const { said, ...both } = streams(true);
    let nowMs = 0;
    const out = createOutput(false, both, never, () => nowMs);
    out.progress('too soon');
    nowMs = 100;
    out.progress(() => '10 %');
    out.note('something is wrong');
    nowMs = 200;
    out.progress('20 %');
    out.progressDone();
    out.line('done');
    expect(said).toEqual([
      'err \r\u001b[K10 %',
      'err \r\u001b[K',
      'err something is wrong\n',
      'err \r\u001b[K20 %',
      'err \r\u001b[K',
      'out done\n',
    ]);
  });

  test('elsewhere there is no line that moves, and none is said every moment', () => {
    const { said, ...both } = streams(false);
    let nowMs = 0;
    const out = createOutput(false, both, never, () => nowMs);
    nowMs = 4_999;
    out.progress('10 %');
    out.note('something is wrong');
    nowMs = 5_000;
    out.progress('20 %');
    out.progressDone();
    expect(said).toEqual(['err something is wrong\n', 'err 20 %\n']);
  });

  test('ends a command that was interrupted', () => {
    const { said, ...both } = streams(true);
    const interruption = new AbortController();
    const out = createOutput(false, both, interruption.signal);
    interruption.abort(new Error('interrupted'));
    expect(() => out.progress('10 %')).toThrow('interrupted');
    expect(said).toEqual([]);
  });
});

describe('a stream of lines', () => {
  test('waits for its reader', async () => {
    const { stderr } = streams(false);
    const waiting: (() => void)[] = [];
    const stdout = new Writable({ highWaterMark: 4, write: (_chunk, _, done) => void waiting.push(done) });
    const out = createOutput(true, { stdout, stderr });
    let isDone = false;
    const written = out.stream('0123456789').then(() => {
      isDone = true;
    });
    await turn();
    expect(isDone).toBe(false);
    for (const done of waiting) done();
    await written;
    expect(isDone).toBe(true);
  });

  test('ends when nobody reads it', async () => {
    const { stderr } = streams(false);
    const stdout = new Writable({ highWaterMark: 4, write: () => {} });
    const out = createOutput(true, { stdout, stderr });
    const written = expect(out.stream('0123456789')).rejects.toThrow(ReaderGone);
    stdout.on('error', () => {}).destroy(new Error('EPIPE'));
    await written;
    await expect(out.stream('more')).rejects.toThrow(ReaderGone);
  });
});

test('numbers and times for people', () => {
  expect(howFar({ position: 120_000, upTo: 1_000_000, rate: 44_000 })).toBe(
    '12 % · position 120,000 of 1,000,000 · 44,000/s · 20 s left',
  );
  expect(howFar({ position: 2_300, upTo: 2_000, rate: 100 })).toBe(
    '100 % · position 2,300 of 2,300 · 100/s · 0 s left',
  );
  expect(howFar({ position: 0, upTo: 0, rate: 0 })).toBe('100 % · position 0 of 0 · 0/s · 0 s left');
  expect([0.04, 9.94, 90, 600, 10_000, 200_000].map(duration)).toEqual([
    '0.0 s',
    '9.9 s',
    '90 s',
    '10 min',
    '3 h',
    '2 d',
  ]);
  expect([counted(1, 'event'), counted(1_000, 'event'), counted(2, 'delivery', 'deliveries')]).toEqual([
    '1 event',
    '1,000 events',
    '2 deliveries',
  ]);
  expect(
    columns(
      [
        ['A', 'B'],
        ['long', '1'],
      ],
      [1],
    ),
  ).toEqual(['A     B', 'long  1']);
  expect(amount(-1_234_567n, 'USD')).toBe('-12,345.67 USD');
  expect(amount(5n, 'USD')).toBe('0.05 USD');
  expect(amount(1_500n, 'JPY')).toBe('1,500 JPY');
  expect(amount(9_007_199_254_740_993n, 'BTC')).toBe('90,071,992.54740993 BTC');
});
