import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const root = new URL('../', import.meta.url);
const EXCERPT = /<!-- excerpt: (\S+) -->\n```\w+\n([\s\S]*?)```/g;

const excerpts = readdirSync(new URL('docs/', root))
  .filter((page) => page.endsWith('.md'))
  .flatMap((page) => {
    const found = readFileSync(new URL(`docs/${page}`, root), 'utf8').matchAll(EXCERPT);
    return [...found].map(([, file, lines]) => ({ page, file: file!, lines: lines! }));
  });

describe('what the pages show of the code', () => {
  test('is found', () => {
    expect(excerpts.length).toBeGreaterThan(5);
  });

  test.each(excerpts)('$page shows $file as it is', ({ file, lines }) => {
    expect(readFileSync(new URL(file, root), 'utf8')).toContain(lines);
  });
});
