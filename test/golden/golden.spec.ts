import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { deciders } from '../../libs/domain/index.ts';
import { codec, erasedCodec, folder, type Golden, plain, storedEventTypes } from './golden.ts';

const files = (await readdir(folder)).filter((name) => name.endsWith('.golden.json')).sort();
const goldens = await Promise.all(
  files.map(async (name) => [name, JSON.parse(await readFile(path.join(folder, name), 'utf8')) as Golden] as const),
);
const types = await storedEventTypes();

describe('stored events keep their meaning', () => {
  test('every event type has a golden file', () => {
    const missing = types.filter((type) => !files.includes(`${type}.v1.golden.json`));
    const advice =
      'Add an example of each to test/golden/examples.ts, run `node --import ./test/ts-loader.mjs test/golden/make.ts` ' +
      'and commit the files it writes: they hold this version of the event for ever.';
    if (missing.length > 0) throw new Error(`No golden file for ${missing.join(', ')}. ${advice}`);
  });

  test('every golden file is of an event type that can still be read', () => {
    const unknown = files.filter((name) => !types.includes(name.slice(0, name.indexOf('.'))));
    if (unknown.length > 0) {
      throw new Error(
        `${unknown.join(', ')}: the event type is gone from libs/domain, but events of it may be stored. Bring it back, or ` +
          'rename it in an upcaster and keep the file.',
      );
    }
  });

  test('an event type belongs to one feature', () => {
    expect(types).toEqual([...new Set(types)]);
  });

  test.each(goldens)('%s', async (name, { stored, decoded }) => {
    expect(name.slice(0, name.indexOf('.'))).toBe(stored.type);
    const [event] = await codec.decode([stored]);
    const { type, data, at, meta, ...place } = event!;
    expect(plain({ type, data, at, meta })).toEqual(decoded);
    expect(place).toEqual({ id: stored.id, stream: stored.stream, revision: 3, position: 41 });
  });

  const personal = new Map(deciders.flatMap((decider) => Object.entries(decider.personal ?? {})));
  const sealed = goldens.filter(([, { stored }]) => personal.has(stored.type));

  test.each(sealed)(
    '%s: personal fields cannot be read in the log, and are absent once the key is destroyed',
    async (_, golden) => {
      const { stored, decoded } = golden;
      const payload = JSON.parse(stored.payload);
      const { data } = decoded as { data: Record<string, unknown> };
      const present = personal.get(stored.type)!.fields.filter((field) => data[field] !== undefined);
      expect(present.length).toBeGreaterThan(0);
      for (const field of present)
        expect(payload[field]).toEqual({ $enc: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) });
      const [erased] = await erasedCodec.decode([stored]);
      const rest = Object.entries(data).filter(([name]) => !present.includes(name));
      expect(plain(erased!.data)).toEqual(Object.fromEntries(rest));
    },
  );
});
