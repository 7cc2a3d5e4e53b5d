import type { Millis } from '../text/units.ts';
import { expandDates } from './path-dates.ts';

/** in_tail's glob_policy: which characters make a path a glob. */
export type GlobPolicy = 'backward_compatible' | 'extended' | 'always';

/** The time for dates in a path, in Fluentd's own zone. path_timezone may name another one. */
export interface WallClock {
  readonly instant: Millis;
  /** A name would load 8 MB of ICU tables. */
  readonly minutesEast: number;
}

/** The parameters that select the files of a source. */
export interface PathRules {
  /** With dates not yet filled in. */
  readonly paths: readonly string[];
  readonly excludePaths: readonly string[];
  readonly pathTimezone?: string | undefined;
  readonly globPolicy: GlobPolicy;
  /** Counts only for globs (`expand_paths` in `lib/fluent/plugin/in_tail.rb`). */
  readonly limitRecentlyModified?: Millis | undefined;
}

/** Whether in_tail treats a path as a glob (`use_glob?` in `lib/fluent/plugin/in_tail.rb`). By default it must have a `*`. */
export function isGlob(pattern: string, policy: GlobPolicy = 'backward_compatible'): boolean {
  if (pattern.includes('*')) return true;
  if (policy === 'backward_compatible') return false;
  if (pattern.includes('?') || between(pattern, '[', ']') !== '') return true;
  return policy === 'always' && between(pattern, '{', '}').includes(',');
}

/** The patterns with the dates of `instant`. */
export function dated(
  patterns: readonly string[],
  { pathTimezone }: PathRules,
  { instant, minutesEast }: WallClock,
): string[] {
  return patterns.map((pattern) => expandDates(pattern, instant, pathTimezone ?? minutesEast));
}

/** The text from the first `open` to the last `close`, or an empty text. */
function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open);
  return from === -1 ? '' : text.slice(from, Math.max(from, text.lastIndexOf(close)));
}
