import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { nameMatcher } from '../../core/in-tail/path-glob.ts';
import type { PlaceOf } from './files.ts';
import { exists } from './files.ts';
import { nameBudget } from './names.ts';
import { rubyGlob } from './walk.ts';

const WILDCARDS = /[*?]/;

/**
 * Expands a path or glob (`*` and `?` in any part). An existing path stays as it is, even with wildcards in its name. A glob without a match
 * stays, too, so that messages can name it.
 */
export async function expandGlob(
  pattern: string,
  placeOf: PlaceOf = (path) => path,
): Promise<readonly string[]> {
  if (!WILDCARDS.test(pattern) || (await exists(pattern, placeOf))) return [pattern];
  const look = <T>(told: Promise<T>) => told.catch(() => undefined);
  const budget = nameBudget();
  // It rejects only a pattern that is longer than any path.
  const found = await rubyGlob(toRubyGlob(pattern), { look, placeOf, budget }).catch(() => []);
  const matches = found.filter((path) => basename(path) !== '.').sort();
  // Never only a part of the matches: that would hide the others.
  return matches.length === 0 || Math.min(budget.left, budget.bytes) < 0 ? [pattern] : matches;
}

/** Only `*` and `?` are wildcards here, and `**` means `*`. */
function toRubyGlob(pattern: string): string {
  return pattern
    .replace(/[\\[\]{}]/g, '\\$&')
    .replace(/\*+/g, '*')
    .replace(/\/+/g, '/');
}

/**
 * The user's name for `path` if `pattern` means it: the same place written differently (relative, through a symlink), or a match of the glob.
 * Undefined if not. The files need not exist.
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

/** Resolves symlinks of the directory, if it exists. Keeps the name. */
async function canonical(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}
