import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Gathering } from './gathering.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

test('a flush of few streams is followed by the next one at once', () => {
  const over = jest.fn();
  const gathering = new Gathering(over);
  gathering.flushing(3);
  expect(gathering.isOn).toBe(false);
  jest.runAllTimers();
  expect(over).not.toHaveBeenCalled();
});

test('one of many lets what comes gather for a moment, which is told when it is over', () => {
  const seen: boolean[] = [];
  const gathering: Gathering = new Gathering(() => seen.push(gathering.isOn));
  gathering.flushing(4);
  expect([gathering.isOn, seen]).toEqual([true, []]);
  jest.advanceTimersByTime(9);
  expect([gathering.isOn, seen]).toEqual([true, []]);
  jest.advanceTimersByTime(1);
  expect([gathering.isOn, seen]).toEqual([false, [false]]);
});
