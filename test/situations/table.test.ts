import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measuredAlone, PAGE, pageOf } from './page.ts';
import { SITUATIONS } from './table.ts';

test('each situation has a name of its own', () => {
  const names = SITUATIONS.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  expect(names.filter((name) => !/^[a-z0-9-]+$/.test(name))).toEqual([]);
});

test('the track record says what the table says, and each situation was measured without posidle', () => {
  expect(Object.keys(measuredAlone())).toEqual(SITUATIONS.map(({ name }) => name));
  expect(readFileSync(PAGE, 'utf8')).toBe(pageOf(measuredAlone()));
});

const git = (...words: readonly string[]) => spawnSync('git', words, { encoding: 'utf8' });

test('each commit since which a situation is held is there, where the whole history is', () => {
  if (git('rev-parse', '--is-shallow-repository').stdout.trim() !== 'false') return;
  const isThere = ({ since }: { since: string }) => git('cat-file', '-e', `${since}^{commit}`).status === 0;
  expect(SITUATIONS.filter((one) => !isThere(one)).map(({ name, since }) => `${name} ${since}`)).toEqual([]);
});
