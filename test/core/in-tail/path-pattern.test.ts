import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  expandDates,
  globBase,
  isGlob,
  matcher,
  sourceMatcher,
} from '../../../src/core/in-tail/path-pattern.ts';

const INSTANT = Date.UTC(2026, 0, 1, 20, 4, 5, 123);

describe('dates in a path', () => {
  it.each([
    ['/logs/app-%Y%m%d.log', 'UTC', '/logs/app-20260101.log'],
    ['/logs/app-%Y%m%d.log', 'Asia/Tokyo', '/logs/app-20260102.log'],
    ['/logs/app-%Y%m%d-%H.log', '+09:00', '/logs/app-20260102-05.log'],
    ['/logs/%H%M', '-0330', '/logs/1634'],
    ['/logs/%-m.%e.%j.%L.%y', '+00', '/logs/1. 1.001.123.26'],
    ['/logs/100%%', 'UTC', '/logs/100%'],
    ['/logs/%q %E.log', 'UTC', '/logs/%q %E.log'],
    ['/logs/*.log', 'UTC', '/logs/*.log'],
    ['/%H', 'No/Such_Zone', '/20'],
  ])('are filled in: %s in %s', (pattern, zone, path) => {
    expect(expandDates(pattern, INSTANT, zone)).toBe(path);
  });
});

describe('a path', () => {
  it.each([
    ['/a/*.log', 'backward_compatible', true],
    ['/a/?.log', 'backward_compatible', false],
    ['/a/[ab].log', 'backward_compatible', false],
    ['/a/?.log', 'extended', true],
    ['/a/[ab].log', 'extended', true],
    ['/a/{a,b}.log', 'extended', false],
    ['/a/{a,b}.log', 'always', true],
    ['/a/{a}.log', 'always', false],
  ] as const)('%s under %s is a glob: %s', (pattern, policy, expected) => {
    expect(isGlob(pattern, policy)).toBe(expected);
  });

  it.each([
    ['/a/x.log', '/a/x.log', true],
    ['/a/?.log', '/a/?.log', true],
    ['/a/?.log', '/a/x.log', false],
    ['/a/*.log', '/a/x.log', true],
    ['/a/*.log', '/a/.x.log', false],
    ['/a/*.log', '/a/b/x.log', false],
    ['/a/.*.log', '/a/.x.log', true],
    ['/a/**/x*.log', '/a/x.log', true],
    ['/a/**/x*.log', '/a/b/c/x1.log', true],
    ['/a/**/x*.log', '/a/.b/x.log', false],
    ['/a/**.log', '/a/b/x.log', false],
    ['/a/*/x?.log', '/a/b/xé.log', true],
    ['/a/*[0-9].log', '/a/x7.log', true],
    ['/a/*[^0-9].log', '/a/x7.log', false],
    ['/a/{b,c}/*.log', '/a/c/x.log', true],
    ['/a/{b*', '/a/{b', false],
    ['/a/\\**', '/a/*x', true],
    ['/a/\\**', '/a/xx', false],
    ['/a/*.(log)+', '/a/x.(log)+', true],
    ['/a/*\udcff', '/a/x\udcff', true],
  ])('%s takes %s: %s', (pattern, path, expected) => {
    expect(matcher(pattern)(path)).toBe(expected);
  });

  it.each([
    ['/a/b/x.log', [{ directory: '/a/b', recursive: false }]],
    ['/a/b/*.log', [{ directory: '/a/b', recursive: false }]],
    ['/a/*/b/*.log', [{ directory: '/a', recursive: true }]],
    ['/a/**/*.log', [{ directory: '/a', recursive: true }]],
    ['/*.log', [{ directory: '/', recursive: false }]],
    ['*.log', [{ directory: '.', recursive: false }]],
    ['logs/*.log', [{ directory: 'logs', recursive: false }]],
    [
      '/a/{b,c/d}/*.log',
      [
        { directory: '/a/b', recursive: false },
        { directory: '/a/c/d', recursive: false },
      ],
    ],
  ])('%s is reached from its fixed directories', (pattern, bases) => {
    expect(globBase(pattern)).toEqual(bases);
  });

  it('is taken unless it is left out, with the dates of now', () => {
    const rules = {
      paths: ['/a/*-%Y.log', '/b.log'],
      excludePaths: ['/a/x-*.log'],
      globPolicy: 'backward_compatible' as const,
    };
    const takes = sourceMatcher(rules, { instant: INSTANT, timeZone: 'UTC' });
    expect(['/a/y-2026.log', '/b.log', '/a/x-2026.log', '/a/y-2025.log'].map(takes)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('can be any text', () => {
    const glob = fc.array(
      fc.constantFrom(
        '*',
        '**/',
        '?',
        '[',
        ']',
        '{',
        '}',
        ',',
        '\\',
        '-',
        '^',
        '!',
        '/',
        'a',
        '.',
        '\udc80',
        '😀',
        '%',
        '%Y',
      ),
    );
    fc.assert(
      fc.property(glob, fc.string({ unit: 'binary' }), (parts, path) => {
        const pattern = expandDates(parts.join(''), INSTANT, 'UTC');
        matcher(pattern, 'always')(path);
        globBase(pattern, 'always');
      }),
      { numRuns: 2_000 },
    );
  });
});
