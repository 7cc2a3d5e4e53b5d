import type { Millis } from '../text/units.ts';
import { expandDates } from './path-dates.ts';
import { type Glob, parseGlob } from './path-glob.ts';

export { expandDates } from './path-dates.ts';
export { type Glob, type GlobPart, parseGlob } from './path-glob.ts';

/** in_tail's glob_policy: which characters make a path a glob. */
export type GlobPolicy = 'backward_compatible' | 'extended' | 'always';

/** The wall clock that dates in a path are filled in from: Fluentd's own zone, unless path_timezone names another. */
export interface WallClock {
  readonly instant: Millis;
  readonly timeZone: string;
}

/** What decides which paths a source takes. */
export interface PathRules {
  readonly paths: readonly string[];
  readonly excludePaths: readonly string[];
  readonly pathTimezone?: string | undefined;
  readonly globPolicy: GlobPolicy;
}

/** Where a walk over the file system has to start. */
export interface GlobBase {
  /** Without a slash at its end, except for the root; `.` for a relative pattern that starts with a wildcard. */
  readonly directory: string;
  readonly recursive: boolean;
}

/** A path after its dates: one file, or a glob. */
export type PathPattern =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'glob'; readonly globs: readonly Glob[] };

/** `use_glob?` in `lib/fluent/plugin/in_tail.rb`: without `*` the default policy takes a path as it is. */
export function isGlob(pattern: string, policy: GlobPolicy = 'backward_compatible'): boolean {
  if (pattern.includes('*')) return true;
  if (policy === 'backward_compatible') return false;
  if (/\?|\[.*\]/.test(pattern)) return true;
  return policy === 'always' && /\{.*,.*\}/.test(pattern);
}

/** A path, its dates already filled in, ready to be matched or walked. */
export function pathPattern(pattern: string, policy: GlobPolicy = 'backward_compatible'): PathPattern {
  if (!isGlob(pattern, policy)) return { kind: 'file', path: pattern };
  return { kind: 'glob', globs: parseGlob(pattern) };
}

/** Tells by its name alone whether a path is one that the pattern, its dates already filled in, stands for. */
export function matcher(
  pattern: string,
  policy: GlobPolicy = 'backward_compatible',
): (path: string) => boolean {
  const parsed = pathPattern(pattern, policy);
  if (parsed.kind === 'file') return (path) => path === parsed.path;
  return (path) => parsed.globs.some((glob) => glob.matches(path));
}

/** The fixed directories from which everything that the pattern stands for can be reached. */
export function globBase(pattern: string, policy: GlobPolicy = 'backward_compatible'): GlobBase[] {
  const parsed = pathPattern(pattern, policy);
  if (parsed.kind === 'file') return [{ directory: directoryOf(parsed.path), recursive: false }];
  const bases = parsed.globs.map(({ base, parts }) => ({
    directory: base === '' ? '.' : base.replace(/(?<=.)\/+$/, ''),
    recursive: parts.length > 1,
  }));
  return [...new Map(bases.map((base) => [`${base.directory}\0${base.recursive}`, base])).values()];
}

/** The patterns of a source with the dates of now. */
export function currentPaths(rules: PathRules, clock: WallClock): string[] {
  return rules.paths.map((path) => dated(path, rules, clock));
}

/** The patterns that a source leaves out, with the dates of now. */
export function currentExcludes(rules: PathRules, clock: WallClock): string[] {
  return rules.excludePaths.map((path) => dated(path, rules, clock));
}

/** Tells by its name alone whether a source takes a path now. */
export function sourceMatcher(rules: PathRules, clock: WallClock): (path: string) => boolean {
  const toMatcher = (pattern: string) => matcher(pattern, rules.globPolicy);
  const included = currentPaths(rules, clock).map(toMatcher);
  const excluded = currentExcludes(rules, clock).map(toMatcher);
  return (path) => included.some((takes) => takes(path)) && !excluded.some((takes) => takes(path));
}

function dated(path: string, { pathTimezone }: PathRules, { instant, timeZone }: WallClock): string {
  return expandDates(path, instant, pathTimezone ?? timeZone);
}

function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  if (slash === -1) return '.';
  return slash === 0 ? '/' : path.slice(0, slash);
}
