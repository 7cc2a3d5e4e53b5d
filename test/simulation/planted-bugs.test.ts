import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from './planted-bugs.ts';

test.each(MUTANTS)('the bug that is planted into %s has its place: %s', (file, from) => {
  expect(readFileSync(resolve('src/core', file), 'utf8').split(from)).toHaveLength(2);
});
