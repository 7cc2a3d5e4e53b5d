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

test('each commit since which a situation is held is there, where the whole history is', () => {
  const shallow = spawnSync('git', ['rev-parse', '--is-shallow-repository'], { encoding: 'utf8' });
  if (shallow.status !== 0 || shallow.stdout.trim() !== 'false') return;
  const input = SITUATIONS.map(({ since }) => `${since}^{commit}\n`).join('');
  const { stdout } = spawnSync('git', ['cat-file', '--batch-check'], { input, encoding: 'utf8' });
  expect(stdout.split('\n').filter((line) => line.endsWith(' missing'))).toEqual([]);
});
