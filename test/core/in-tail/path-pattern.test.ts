import { describe, expect, it } from 'vitest';
import { dated, isGlob } from '../../../src/core/in-tail/path-pattern.ts';

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
    ['/a/{a},.log', 'always', false],
    ['/a/]a[.log', 'extended', false],
  ] as const)('%s under %s is a glob: %s', (pattern, policy, expected) => {
    expect(isGlob(pattern, policy)).toBe(expected);
  });

  it('is meant as it was written, but for the dates of now', () => {
    const rules = {
      paths: ['/a/*-%Y.log', '/b.log'],
      excludePaths: ['/a/x-%m*'],
      pathTimezone: '+09:00',
      globPolicy: 'backward_compatible' as const,
    };
    const clock = { instant: Date.UTC(2025, 11, 31, 20), minutesEast: 0 };
    expect(dated(rules.paths, rules, clock)).toEqual(['/a/*-2026.log', '/b.log']);
    expect(dated(rules.excludePaths, rules, clock)).toEqual(['/a/x-01*']);
  });
});
