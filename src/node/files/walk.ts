import { readdir, stat } from 'node:fs/promises';
import { type GlobPart, parseGlob } from '../../core/in-tail/path-glob.ts';
import {
  currentExcludes,
  currentPaths,
  type GlobPolicy,
  isGlob,
  type PathRules,
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
export async function rubyGlob(pattern: string, look: Look = ifThere): Promise<string[]> {
  const found = await Promise.all(parseGlob(pattern).map(({ base, parts }) => descend(base, parts, look)));
  return [...new Set(found.flat())].sort();
}

async function expandAll(patterns: readonly string[], { globPolicy }: PathRules): Promise<string[]> {
  return (await Promise.all(patterns.map((pattern) => pathsOf(pattern, globPolicy)))).flat();
}

async function pathsOf(pattern: string, policy: GlobPolicy): Promise<string[]> {
  return isGlob(pattern, policy) ? rubyGlob(pattern) : [pattern];
}

async function filesOf(pattern: string, rules: FollowRules, clock: WallClock): Promise<FollowedFile[]> {
  const paths = await pathsOf(pattern, rules.globPolicy);
  const files = (await Promise.all(paths.map(regularFile))).filter((file) => file !== undefined);
  const { limitRecentlyModified } = rules;
  if (limitRecentlyModified === undefined || !isGlob(pattern, rules.globPolicy)) return files;
  return files.filter(({ modified }) => modified >= clock.instant - limitRecentlyModified);
}

async function regularFile(path: string): Promise<FollowedFile | undefined> {
  const found = await ifThere(stat(toBytes(path), { bigint: true }));
  if (!found?.isFile()) return undefined;
  return { path, inode: String(found.ino), size: Number(found.size), modified: Number(found.mtimeMs) };
}

/** What the file system tells; undefined: nothing. */
type Look = <T>(told: Promise<T>) => Promise<T | undefined>;

/** `prefix` is empty or ends with a slash. */
async function descend(prefix: string, parts: readonly GlobPart[], look: Look): Promise<string[]> {
  const [part, ...rest] = parts;
  if (part === undefined) return [];
  if (part.kind === 'plain') return step(prefix + part.name, rest, look);
  const directory = readdir(toBytes(prefix || '.'), { withFileTypes: true, encoding: 'buffer' });
  const entries = ((await look(directory)) ?? []).map((entry) => ({ name: decodePath(entry.name), entry }));
  if (part.kind === 'directories') {
    const inner = entries.filter(({ name, entry }) => entry.isDirectory() && !name.startsWith('.'));
    const deeper = inner.map(({ name }) => descend(`${prefix}${name}/`, parts, look));
    return (await Promise.all([descend(prefix, rest, look), ...deeper])).flat();
  }
  const taken = ['.', ...entries.map(({ name }) => name)].filter(part.matches);
  return (await Promise.all(taken.map((name) => step(prefix + name, rest, look)))).flat();
}

async function step(path: string, rest: readonly GlobPart[], look: Look): Promise<string[]> {
  if (rest.length > 0) return descend(`${path}/`, rest, look);
  return (await look(stat(toBytes(path)))) === undefined ? [] : [path];
}

/** What may not be looked at is not known to be missing. */
async function ifThere<T>(told: Promise<T>): Promise<T | undefined> {
  try {
    return await told;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return undefined;
    throw error;
  }
}

function toBytes(path: string): Buffer {
  return Buffer.from(encodePath(path));
}

function byPath(left: FollowedFile, right: FollowedFile): number {
  return left.path < right.path ? -1 : 1;
}
