import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { exists } from './files.ts';

const WILDCARDS = /[*?]/;

/**
 * What a path or glob (`*`, `?` in any part of it) stands for now. A path that exists is itself, whatever is in its name; a
 * glob without a match is itself too, so that what is missing can be named.
 */
export async function expandGlob(pattern: string): Promise<readonly string[]> {
  if (!WILDCARDS.test(pattern) || (await exists(pattern))) return [pattern];
  const start = pattern.startsWith('/') ? '/' : '';
  const matches = await matchParts(start, pattern.split('/').filter(Boolean));
  return matches.length === 0 ? [pattern] : matches.toSorted();
}

/**
 * How `path` is called where a user named `pattern`: the same place in other words (relative, through a symlink), or a match of
 * the glob; undefined: it is not meant. Neither has to exist yet.
 */
export async function nameUnder(pattern: string, path: string): Promise<string | undefined> {
  const [wanted, own] = await Promise.all([canonical(pattern), canonical(path)]);
  if (wanted === own) return pattern;
  const parts = wanted.split('/');
  const names = own.split('/');
  const fits = parts.length === names.length && parts.every((part, at) => matcherOf(part)(names[at] ?? ''));
  if (!WILDCARDS.test(pattern) || !fits) return undefined;
  return WILDCARDS.test(dirname(pattern)) ? path : join(dirname(pattern), basename(path));
}

/** The directory without symlinks, as far as it exists; the name as it is. */
async function canonical(path: string): Promise<string> {
  const whole = resolve(path);
  const directory = await realpath(dirname(whole)).catch(() => dirname(whole));
  return join(directory, basename(whole));
}

async function matchParts(base: string, [part, ...rest]: readonly string[]): Promise<readonly string[]> {
  if (part === undefined) return [base];
  const names = WILDCARDS.test(part) ? (await namesIn(base)).filter(matcherOf(part)) : [part];
  const paths = names.map((name) => (base === '' || base === '/' ? `${base}${name}` : `${base}/${name}`));
  if (rest.length === 0) {
    const there = await Promise.all(paths.map(exists));
    return paths.filter((_, index) => there[index]);
  }
  return (await Promise.all(paths.map((path) => matchParts(path, rest)))).flat();
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory === '' ? '.' : directory).catch(() => []);
}

function matcherOf(part: string): (name: string) => boolean {
  const source = part
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const whole = new RegExp(`^${source}$`);
  return (name) => whole.test(name) && (part.startsWith('.') || !name.startsWith('.'));
}
