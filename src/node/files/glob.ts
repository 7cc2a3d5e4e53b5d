import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { hasWildcard, nameMatcher, patternOfArgument } from '../../core/in-tail/path-glob.ts';

/**
 * The user's name for `path` if `pattern` means it: the same place written differently (relative, through a symlink), or a match of the glob.
 * Undefined if not. The files need not exist.
 */
export async function nameUnder(pattern: string, path: string): Promise<string | undefined> {
  const [wanted, own] = await Promise.all([canonical(pattern), canonical(path)]);
  if (wanted === own) return pattern;
  const parts = patternOfArgument(wanted).split('/');
  const names = own.split('/');
  const fits = parts.length === names.length && parts.every((part, at) => nameMatcher(part)(names[at] ?? ''));
  if (!hasWildcard(pattern) || !fits) return undefined;
  return hasWildcard(dirname(pattern)) ? path : join(dirname(pattern), basename(path));
}

/** Resolves symlinks of the directory, if it exists. Keeps the name. */
async function canonical(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}
