import type { Millis } from './units.ts';

const UNITS: readonly (readonly [Millis, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** `0s`, `42s`, `5m`, `3h`, `12d`: for a narrow column. */
export function formatAge(span: Millis): string {
  for (const [unit, letter] of UNITS) if (span >= unit) return `${Math.floor(span / unit)}${letter}`;
  return `${Math.max(0, Math.floor(span / 1_000))}s`;
}
