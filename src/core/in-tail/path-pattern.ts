import type { Millis } from '../text/units.ts';
import { expandDates } from './path-dates.ts';

/** in_tail's glob_policy: which characters make a path a glob. */
export type GlobPolicy = 'backward_compatible' | 'extended' | 'always';

/** The wall clock that dates in a path are filled in from: Fluentd's own zone, unless path_timezone names another. */
export interface WallClock {
  readonly instant: Millis;
  readonly timeZone: string;
}

/** What decides which paths a source takes. */
export interface PathRules {
  /** Patterns, before their dates are filled in. */
  readonly paths: readonly string[];
  readonly excludePaths: readonly string[];
  readonly pathTimezone?: string | undefined;
  readonly globPolicy: GlobPolicy;
}

/** `use_glob?` in `lib/fluent/plugin/in_tail.rb`: without `*` the default policy takes a path as it is. */
export function isGlob(pattern: string, policy: GlobPolicy = 'backward_compatible'): boolean {
  if (pattern.includes('*')) return true;
  if (policy === 'backward_compatible') return false;
  if (pattern.includes('?') || between(pattern, '[', ']') !== '') return true;
  return policy === 'always' && between(pattern, '{', '}').includes(',');
}

/** Patterns of a source, with the dates of now. */
export function dated(
  patterns: readonly string[],
  { pathTimezone }: PathRules,
  { instant, timeZone }: WallClock,
): string[] {
  return patterns.map((pattern) => expandDates(pattern, instant, pathTimezone ?? timeZone));
}

/** From the first of the one to the last of the other; empty: there is no such part. */
function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open);
  return from === -1 ? '' : text.slice(from, Math.max(from, text.lastIndexOf(close)));
}
