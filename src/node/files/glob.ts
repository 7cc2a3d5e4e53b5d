import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { nameMatcher } from '../../core/in-tail/path-glob.ts';
import type { PlaceOf } from './files.ts';
import { exists } from './files.ts';
import { nameBudget } from './names.ts';
import { rubyGlob } from './walk.ts';

const WILDCARDS = /[*?]/;

/**
 * What a path or glob (`*`, `?` in any part of it) stands for now. A path that exists is itself, whatever is in its name; a
 * glob without a match is itself too, so that what is missing can be named.
 */
export async function expandGlob(
  pattern: string,
  placeOf: PlaceOf = (path) => path,
): Promise<readonly string[]> {
  if (!WILDCARDS.test(pattern) || (await exists(pattern, placeOf))) return [pattern];
  const look = <T>(told: Promise<T>) => told.catch(() => undefined);
  const budget = nameBudget();
  const found = await rubyGlob(toRubyGlob(pattern), { look, placeOf, budget });
  const matches = found.filter((path) => basename(path) !== '.').sort();
  // A part of the matches would hide that there are more.
  return matches.length === 0 || Math.min(budget.left, budget.bytes) < 0 ? [pattern] : matches;
}

/** Only `*` and `?` are special to a user, and `**` is no more than `*`. */
function toRubyGlob(pattern: string): string {
  return pattern
    .replace(/[\\[\]{}]/g, '\\$&')
    .replace(/\*+/g, '*')
    .replace(/\/+/g, '/');
}

/**
 * How `path` is called where a user named `pattern`: the same place in other words (relative, through a symlink), or a match of
 * the glob; undefined: it is not meant. Neither has to exist yet.
 */
export async function nameUnder(pattern: string, path: string): Promise<string | undefined> {
  const [wanted, own] = await Promise.all([canonical(pattern), canonical(path)]);
  if (wanted === own) return pattern;
  const parts = toRubyGlob(wanted).split('/');
  const names = own.split('/');
  const fits = parts.length === names.length && parts.every((part, at) => nameMatcher(part)(names[at] ?? ''));
  if (!WILDCARDS.test(pattern) || !fits) return undefined;
  return WILDCARDS.test(dirname(pattern)) ? path : join(dirname(pattern), basename(path));
}

/** The directory without symlinks, as far as it exists; the name as it is. */
async function canonical(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}
