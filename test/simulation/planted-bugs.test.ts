import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { killedBy, MUTANTS } from './planted-bugs.ts';

test.each(MUTANTS)('the bug that is planted into %s has its place: %s', (file, from) => {
  expect(readFileSync(resolve('src/core', file), 'utf8').split(from)).toHaveLength(2);
});

const WORDS = MUTANTS.filter(([file]) => file === 'drain/outcome.ts');

test.each(WORDS)(
  'the first 50 lifetimes find a wrong word planted into %s: %s -> %s',
  async (...mutant) => {
    expect(await killedBy(mutant, '50')).toMatch(/drained|doubted/);
  },
  30_000,
);
