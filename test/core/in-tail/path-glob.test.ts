import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameMatcher, parseGlob } from '../../../src/core/in-tail/path-glob.ts';
import { cpuSeconds } from '../../support/cpu-seconds.ts';

describe('one part of a glob', () => {
  it.each([
    ['x?.log', 'xé.log', true],
    ['x?.log', 'x😀.log', true],
    ['*[0-9].log', 'x7.log', true],
    ['*[^0-9].log', 'x7.log', false],
    ['*[!0-9].log', 'x7.log', false],
    ['[ab', 'a', false],
    ['a[]', 'a', false],
    ['a[^]', 'ab', true],
    ['[\\]]', ']', false],
    ['\\**', '*x', true],
    ['\\**', 'xx', false],
    ['*.(log)+', 'x.(log)+', true],
    ['*', 'x\udcff', true],
  ])('%s takes %s: %s', (segment, name, expected) => {
    expect(nameMatcher(segment)(name)).toBe(expected);
  });

  /** Follows the definition, and tries everything. */
  function slowly(segment: string, name: string): boolean {
    const [first, ...rest] = segment;
    if (first === undefined) return name === '';
    if (first === '*') {
      return slowly(rest.join(''), name) || (name !== '' && slowly(segment, name.slice(1)));
    }
    return name !== '' && (first === '?' || first === name[0]) && slowly(rest.join(''), name.slice(1));
  }

  it('takes what its definition says', () => {
    const segment = fc.string({ unit: fc.constantFrom('*', '?', 'a', 'b', '-'), maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '-'), maxLength: 10 });
    fc.assert(
      fc.property(segment, name, (glob, text) => {
        expect(nameMatcher(glob)(text)).toBe(slowly(glob, text));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['*-*-*-*-*.log', '-'.repeat(250)],
    [`${'*?'.repeat(500)}x`, 'a'.repeat(250)],
    ['*a'.repeat(500), 'a'.repeat(250)],
    ['['.repeat(2_000), 'a'.repeat(250)],
  ])('is compared at once with a name that is made to take long', async (segment, name) => {
    expect(await cpuSeconds(() => expect(nameMatcher(segment)(name)).toBe(false))).toBeLessThan(5);
  });
});

describe('a glob', () => {
  it.each([
    ['/a/b/*.log', ['/a/b/']],
    ['/a/*/b/*.log', ['/a/']],
    ['*.log', ['']],
    ['/a/{b,c/d}/*.log', ['/a/b/', '/a/c/d/']],
    ['/a/{b,{c,d}}/*.log', ['/a/b/', '/a/c/', '/a/b/', '/a/d/']],
    ['/a/\\{b,c\\}/*.log', ['/a/{b,c}/']],
    ['/a/{b*', []],
    ['/a/{b,c}/{d', []],
  ])('%s starts from its fixed directories', (pattern, bases) => {
    expect(parseGlob(pattern).map(({ base }) => base)).toEqual(bases);
  });

  it.each([
    ['{a,b}'.repeat(40), 'more than 1000 alternatives'],
    ['{a,b}'.repeat(9) + '[a-z]'.repeat(800), 'more than 262144 characters in its alternatives'],
    ['x'.repeat(5_000), 'more than 4096 characters'],
  ])('that cannot be walked says so at once', async (pattern, why) => {
    expect(await cpuSeconds(() => expect(() => parseGlob(pattern)).toThrow(why))).toBeLessThan(5);
  });

  it('with a brace that is never closed is nothing at once', () => {
    expect(parseGlob(`${'{a,b}'.repeat(40)}{`)).toEqual([]);
  });
});
