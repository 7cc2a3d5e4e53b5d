import type { BigIntStats, Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import {
  currentExcludes,
  currentPaths,
  type Glob,
  type GlobPart,
  type PathRules,
  parseGlob,
  pathPattern,
  type WallClock,
} from '../../core/in-tail/path-pattern.ts';
import type { FileStat } from '../../core/look/snapshot.ts';
import { decodePath, encodePath } from '../../core/pos-file/path-bytes.ts';
import type { Millis } from '../../core/text/units.ts';

/** What decides which files a source follows. */
export interface FollowRules extends PathRules {
  /** Counts only where the path is a glob (`expand_paths` in `lib/fluent/plugin/in_tail.rb`). */
  readonly limitRecentlyModified?: Millis | undefined;
}

/** A file that in_tail follows, or will follow once it looks again. */
export interface FollowedFile extends FileStat {
  readonly path: string;
  readonly modified: Millis;
}

/**
 * The regular files that a source takes now, sorted by path. in_tail leaves out those that Fluentd may not read; what this process
 * may read says nothing of that.
 */
export async function listFollowed(rules: FollowRules, clock: WallClock): Promise<FollowedFile[]> {
  const excluded = new Set(await expandAll(currentExcludes(rules, clock), rules));
  const found = await Promise.all(currentPaths(rules, clock).map((path) => filesOf(path, rules, clock)));
  const files = new Map(found.flat().map((file) => [file.path, file]));
  return [...files.values()].filter(({ path }) => !excluded.has(path)).sort(byPath);
}

/** Ruby's Dir.glob: every path, of whatever kind, that the pattern names and that is there. */
export async function rubyGlob(pattern: string): Promise<string[]> {
  const found = await Promise.all(parseGlob(pattern).map(walk));
  return [...new Set(found.flat())].sort();
}

async function expandAll(patterns: readonly string[], { globPolicy }: PathRules): Promise<string[]> {
  const found = await Promise.all(
    patterns.map(async (pattern) =>
      pathPattern(pattern, globPolicy).kind === 'file' ? [pattern] : await rubyGlob(pattern),
    ),
  );
  return found.flat();
}

async function filesOf(pattern: string, rules: FollowRules, clock: WallClock): Promise<FollowedFile[]> {
  const { kind } = pathPattern(pattern, rules.globPolicy);
  const paths = kind === 'file' ? [pattern] : await rubyGlob(pattern);
  const files = (await Promise.all(paths.map(regularFile))).filter((file) => file !== undefined);
  const { limitRecentlyModified } = rules;
  if (kind === 'file' || limitRecentlyModified === undefined) return files;
  return files.filter(({ modified }) => modified >= clock.instant - limitRecentlyModified);
}

async function regularFile(path: string): Promise<FollowedFile | undefined> {
  const found = await statOf(path);
  if (!found?.isFile()) return undefined;
  return { path, inode: String(found.ino), size: Number(found.size), modified: Number(found.mtimeMs) };
}

function walk({ base, parts }: Glob): Promise<string[]> {
  return descend(base, parts);
}

/** `prefix` is empty or ends with a slash. */
async function descend(prefix: string, [part, ...rest]: readonly GlobPart[]): Promise<string[]> {
  if (part === undefined) return [];
  if (part.kind === 'plain') return step(prefix + part.name, rest);
  const entries = await entriesOf(prefix);
  if (part.kind === 'directories') {
    const inner = entries.filter(({ name, entry }) => entry.isDirectory() && !name.startsWith('.'));
    const deeper = inner.map(({ name }) => descend(`${prefix}${name}/`, [part, ...rest]));
    return (await Promise.all([descend(prefix, rest), ...deeper])).flat();
  }
  const taken = ['.', ...entries.map(({ name }) => name)].filter(part.matches);
  return (await Promise.all(taken.map((name) => step(prefix + name, rest)))).flat();
}

async function step(path: string, rest: readonly GlobPart[]): Promise<string[]> {
  if (rest.length > 0) return descend(`${path}/`, rest);
  return (await statOf(path)) === undefined ? [] : [path];
}

interface Entry {
  readonly name: string;
  readonly entry: Dirent<Buffer>;
}

async function entriesOf(prefix: string): Promise<Entry[]> {
  try {
    const entries = await readdir(toBytes(prefix === '' ? '.' : prefix), {
      withFileTypes: true,
      encoding: 'buffer',
    });
    return entries.map((entry) => ({ name: decodePath(entry.name), entry }));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(toBytes(path), { bigint: true });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** What may not be looked at is not known to be missing. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function toBytes(path: string): Buffer {
  return Buffer.from(encodePath(path));
}

function byPath(left: FollowedFile, right: FollowedFile): number {
  return left.path < right.path ? -1 : 1;
}
