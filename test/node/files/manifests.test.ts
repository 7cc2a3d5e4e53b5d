import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseManifests, writeManifest } from '../../../src/node/files/manifests.ts';

const rewritten = (text: string) =>
  parseManifests(text)
    .map(({ document }) => writeManifest(document))
    .join('---\n');

describe('manifests', () => {
  test.each([
    'mode: 0644\n',
    'isOld: yes\n',
    'count: 3\nsize: 1e3\nnone: null\n',
    'date: 2026-01-01\n',
    "text: '0644'\nword: 'yes'\n'on': 'true'\n",
    'script: |\n  a\n   b\n',
    'z: 1\na: 2\nm:\n  - x\n  - q: 1\n',
    // Somebody fills it in later.
    `a: '\${COUNT}'\nb: \${REST}\n`,
  ])('come out as they went in: %j', (text) => {
    expect(rewritten(text)).toBe(text);
  });

  test.each([
    ...['20261127_1', '2026_11_27', '10_000', '1_0.5', '0x1_F', '1_', '.1_0', '+1_0', '0b1_0', '1__0', '+.5'],
    ...['2001-1-1 1:1:1', '2026-1-1', '2001-12-14t21:59:43.1-05:00', '1_0e3', '4_2e1_0', '0X1F', '190:20:30'],
  ])('keep the quotes of a text that YAML 1.1 takes for a number or a date: %s', (text) => {
    expect(rewritten(`a: "${text}"\n`)).toBe(`a: '${text}'\n`);
  });

  test('keep the quotes of every text that looks like a number', () => {
    const like = fc.stringMatching(/^[-+.0-9][0-9_.:eE+xXa-fA-F -]*$/);
    fc.assert(fc.property(like, (text) => rewritten(`a: "${text}"\n`) === `a: '${text}'\n`));
  });

  test('keep the last of two values for one key, as kubectl does', () => {
    expect(rewritten('a: 1\nb: { c: 2, c: 3 }\na: 4\n')).toBe('a: 4\nb:\n  c: 3\n');
  });

  test('resolve what YAML merges', () => {
    expect(rewritten('a: &a\n  x: 1\nb:\n  <<: *a\n  q: 2\n')).toBe('a:\n  x: 1\nb:\n  x: 1\n  q: 2\n');
  });

  test('are several in one file; empty ones are left out', () => {
    const found = parseManifests('---\n# none\n---\na: 1\n---\n\n  b: 2\n');
    expect(found.map(({ document }) => writeManifest(document))).toEqual(['a: 1\n', 'b: 2\n']);
  });

  test.each([
    ['a: 1', ['a: 1\n']],
    ['\uFEFF# x\na: "1" # y\n\n', ['# x\na: "1" # y\n\n']],
    ['%YAML 1.1\n---\n  a: 1\n# x\n---\n# none\n--- # y\nb: 2\n', ['  a: 1\n# x\n', '# y\nb: 2\n']],
    [
      '--- {a: "---"} # x\n...\nb: |+\n  ---\n\n---\r\nc: 1\r\n',
      ['{a: "---"} # x\n', 'b: |+\n  ---\n\n', 'c: 1\r\n'],
    ],
  ])('have their sources, with comments and quotes: %j', (text, sources) => {
    expect(parseManifests(text).map(({ source }) => source)).toEqual(sources);
  });

  test.each([
    ['a: b\n c: d\n', /^line 2, column 3: bad indentation/],
    ['a: [1\n', /^line 2, column 1: /],
    ['%YAML 1.1\n---\na: 1\n... # x\n--- [1\n', /^line 6, column 1: /],
    ['a: "x\n%Y\n  z"\n', /^line 2, column 1: deficient indentation/],
    ['a: !!js/function x\n', /^line 1, column \d+: unknown scalar tag/],
  ])('name line and column of what is no YAML: %j', (text, why) => {
    expect(() => parseManifests(text)).toThrow(why);
  });
});
