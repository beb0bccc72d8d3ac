import { describe, expect, test } from '@jest/globals';
import { LatelyUsed } from './lately-used.ts';

interface Thing {
  name: string;
  held?: boolean;
}

/** Of size 8: two halves of four for what is used again, two of one for newcomers. */
function memory() {
  const things = new LatelyUsed<Thing>({ size: 8, isHeld: ({ held }) => held === true });
  const add = (...names: string[]) => names.map((name) => things.add(name, { name }, { isNew: true }));
  const known = (...names: string[]) => names.filter((name) => things.get(name) !== undefined);
  return { things, add, known };
}

describe('what was used lately', () => {
  test('newcomers that nobody uses again pass through', () => {
    const { add, known } = memory();
    add('a', 'b', 'c');
    expect(known('a', 'b', 'c')).toEqual(['c']);
  });

  test('what is used again stays, however many newcomers there are', () => {
    const { things, add, known } = memory();
    add('a');
    expect(things.use('a')).toEqual({ name: 'a' });
    add('b', 'c', 'd', 'e', 'f', 'g', 'h', 'i');
    expect(known('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')).toEqual(['a', 'i']);
  });

  test('what is older than its first use here stays at once', () => {
    const { things, add, known } = memory();
    things.add('a', { name: 'a' }, { isNew: false });
    add('b', 'c', 'd', 'e');
    expect(known('a', 'b', 'c', 'd', 'e')).toEqual(['a', 'e']);
  });

  test('of what is used again, what was not used since both halves were filled is forgotten', () => {
    const { things, add, known } = memory();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
    for (const name of names.slice(0, 4)) {
      add(name);
      things.use(name);
    }
    things.use('a');
    for (const name of names.slice(4)) {
      add(name);
      things.use(name);
    }
    expect(known(...names)).toEqual(['a', 'e', 'f', 'g', 'h', 'i']);
  });

  test('a look is not a use', () => {
    const { things, add, known } = memory();
    add('a');
    things.get('a');
    add('b');
    expect(known('a', 'b')).toEqual(['b']);
  });

  test('what is held stays among newcomers and among the others', () => {
    const { things, add, known } = memory();
    things.add('held', { name: 'held', held: true }, { isNew: true });
    add('a', 'b', 'c');
    expect(known('held', 'a', 'b', 'c')).toEqual(['held', 'c']);
    things.use('held');
    for (const name of ['d', 'e', 'f', 'g', 'h', 'i', 'j', 'k']) {
      add(name);
      things.use(name);
    }
    expect(known('held', 'd', 'k')).toEqual(['held', 'k']);
  });

  test('a thing is forgotten, and another one of its name is not', () => {
    const { things, known } = memory();
    const [one, other] = [{ name: 'a' }, { name: 'a' }];
    things.add('a', one, { isNew: true });
    things.drop('a', other);
    expect(things.get('a')).toBe(one);
    things.use('a');
    things.drop('a', one);
    expect(known('a')).toEqual([]);
  });
});
