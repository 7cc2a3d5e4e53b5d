import { describe, expect, test } from 'vitest';
import { parseManifests, writeManifests } from '../../../src/node/files/manifests.ts';

const rewritten = (text: string) => writeManifests(parseManifests(text).map(({ document }) => document));

describe('manifests', () => {
  test.each([
    'mode: 0644\n',
    'isOld: yes\n',
    'count: 3\nsize: 1e3\nnone: null\n',
    'date: 2026-01-01\n',
    "text: '0644'\nword: 'yes'\n'on': 'true'\n",
    'script: |\n  a\n   b\n',
    'z: 1\na: 2\nm:\n  - x\n  - q: 1\n',
  ])('come out as they went in: %j', (text) => {
    expect(rewritten(text)).toBe(text);
  });

  test('resolve what YAML merges', () => {
    expect(rewritten('a: &a\n  x: 1\nb:\n  <<: *a\n  q: 2\n')).toBe('a:\n  x: 1\nb:\n  x: 1\n  q: 2\n');
  });

  test('are several in one file, each with its place; empty ones are left out', () => {
    const found = parseManifests('---\n# none\n---\na: 1\n---\n\n  b: 2\n');
    expect(found.map(({ line, column }) => [line, column])).toEqual([
      [4, 1],
      [7, 3],
    ]);
    expect(writeManifests(found.map(({ document }) => document))).toBe('a: 1\n---\nb: 2\n');
  });

  test.each([
    ['a: b\n c: d\n', /^2:3: bad indentation/],
    ['a: 1\na: 2\n', /^2:1: duplicated mapping key/],
    ['a: [1\n', /^2:1: /],
    ['a: !!js/function x\n', /^1:\d+: unknown tag/],
  ])('name line and column of what is no YAML: %j', (text, why) => {
    expect(() => parseManifests(text)).toThrow(why);
  });
});
