import { describe, expect, test } from '@jest/globals';
import { payment } from '../domain/payments/payment.ts';
import { reject } from '../kernel/errors.ts';
import { CommandWindow, Stream } from './stream.ts';

const filled = (count: number, step = 1) => {
  const window = new CommandWindow();
  for (let i = 1; i <= count; i += 1) window.add(`c${i}`, i * step);
  return window;
};

describe('the window of command ids', () => {
  test('remembers everything until it is full, from the beginning of the log', () => {
    const window = filled(512);
    expect([window.has('c1'), window.has('c512'), window.has('c513')]).toEqual([true, true, false]);
    expect(window.reachesBackTo(0)).toBe(true);
  });

  test('forgets the oldest, and says from where on it remembers', () => {
    const window = filled(514);
    expect([window.has('c2'), window.has('c3')]).toEqual([false, true]);
    expect([1, 2, 3].map((position) => window.reachesBackTo(position))).toEqual([false, true, true]);
  });

  test('forgets what lies far back in the log, however few there are', () => {
    const window = filled(3, 10);
    window.add('late', 50_020);
    expect(['c1', 'c2', 'c3', 'late'].map((id) => window.has(id))).toEqual([false, false, true, true]);
    expect([19, 20].map((position) => window.reachesBackTo(position))).toEqual([false, true]);
  });

  test('keeps a command with several events as the newest, once', () => {
    const window = new CommandWindow();
    for (const position of [1, 2, 3]) window.add('many', position);
    expect(window.serialise()).toBe('{"from":0,"positions":[["many",3]]}');
  });

  test('knows which commands were refused for good, as long as it knows them, over a snapshot too', () => {
    const window = filled(2);
    window.add('refused', 3, reject('CONFLICT', { reason: 'NO' }, 'Not now.'));
    const again = CommandWindow.of(JSON.parse(window.serialise()));
    for (const one of [window, again]) {
      expect(one.refusalOf('c1')).toBeUndefined();
      expect(one.refusalOf('refused')).toMatchObject({
        code: 'CONFLICT',
        details: { reason: 'NO' },
        message: 'Not now.',
      });
    }
    again.add('late', 60_000);
    expect([again.has('refused'), again.refusalOf('refused')]).toEqual([false, undefined]);
  });

  test('comes back from a snapshot as it was', () => {
    const window = filled(600);
    const again = CommandWindow.of(JSON.parse(window.serialise()));
    expect(again.serialise()).toBe(window.serialise());
    expect([again.has('c88'), again.has('c89'), again.reachesBackTo(87), again.reachesBackTo(88)]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });
});

describe('where a process of a stream stands', () => {
  const types = ['PaymentQuoted', 'ExecutionRequested', 'ReceiptDeliveryConfirmed', 'CommandRefused', 'ReceiverErased'];
  const data = { paymentId: 'p', code: 'CONFLICT', message: 'No.', command: 'Any' };

  const passed = (count: number) => {
    const stream = new Stream('payment-p', payment, 1);
    for (const [i, type] of types.slice(0, count).entries()) stream.passed({ type, data }, 10 * i, { commandId: type });
    return stream;
  };

  test('is its last event that is no aside', () => {
    expect([passed(0), passed(1), passed(2), passed(5)].map(({ revision, moved }) => [revision, moved])).toEqual([
      [-1, { revision: -1, position: 0 }],
      [0, { revision: 0, position: 0 }],
      [1, { revision: 1, position: 10 }],
      [4, { revision: 1, position: 10 }],
    ]);
  });

  test('comes back from a snapshot, also from one that does not say it', () => {
    for (const count of [2, 5]) {
      const again = new Stream('payment-p', payment, 1);
      again.restore(passed(count).snapshot);
      expect([again.revision, again.moved]).toEqual([count - 1, { revision: 1, position: 10 }]);
    }
    const { snapshot } = passed(2);
    const former = new Stream('payment-p', payment, 1);
    former.restore({ ...snapshot, window: '{"from":0,"positions":[]}' });
    expect(former.moved).toEqual({ revision: 1, position: 10 });
  });
});
