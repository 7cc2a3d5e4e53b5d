import { type BigIntStats, type Dirent, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
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
import type { Millis } from '../../core/text/units.ts';
import type { PlaceOf } from './files.ts';
import { inPortions, memoryOf, roomIn, toBytes } from './files.ts';
import { type NameBudget, nameBudget, readNames } from './names.ts';

/** So many files of one source are looked at, where there is room for them. */
const MOST_FILES = 50_000;

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
export async function listFollowed(
  rules: FollowRules,
  clock: WallClock,
  { placeOf = ourPlace, mostFiles = MOST_FILES, room = roomIn(), besides = 0 }: ListOptions = {},
): Promise<FollowedFile[]> {
  const walk = { look: ifThere, placeOf };
  const excluded = new Set(await expandAll(currentExcludes(rules, clock), rules, walk));
  const left = room - besides * memoryOf(0);
  const listing = { rules, clock, walk, excluded, mostFiles, room: left, files: new Map() };
  for (const path of currentPaths(rules, clock)) await addFiles(path, listing);
  return [...listing.files.values()].sort(byPath);
}

interface ListOptions extends Partial<Pick<View, 'placeOf'>> {
  readonly mostFiles?: number;
  readonly room?: number;
  /** Files of other sources that are kept already. */
  readonly besides?: number | undefined;
}

/** Ruby's Dir.glob: every path, of whatever kind, that the pattern names and that is there, in no order. */
export async function rubyGlob(pattern: string, options: Partial<Walk> = {}): Promise<string[]> {
  const walk = { look: ifThere, placeOf: ourPlace, budget: nameBudget(), ...options };
  const found = new Set<string>();
  for (const { base, parts } of parseGlob(pattern)) await descend(base, parts, walk, found);
  return [...found];
}

async function expandAll(patterns: readonly string[], rules: PathRules, walk: View): Promise<string[]> {
  return (await Promise.all(patterns.map((pattern) => pathsOf(pattern, rules.globPolicy, walk)))).flat();
}

async function pathsOf(pattern: string, policy: GlobPolicy, walk: View): Promise<string[]> {
  return isGlob(pattern, policy) ? rubyGlob(pattern, walk) : [pattern];
}

interface Listing {
  readonly rules: FollowRules;
  readonly clock: WallClock;
  readonly walk: View;
  readonly excluded: ReadonlySet<string>;
  readonly mostFiles: number;
  /** Bytes of memory. */
  room: number;
  readonly files: Map<string, FollowedFile>;
}

async function addFiles(pattern: string, listing: Listing): Promise<void> {
  const { rules, clock, walk, excluded, mostFiles, files } = listing;
  const isAged = rules.limitRecentlyModified !== undefined && isGlob(pattern, rules.globPolicy);
  const since = isAged ? clock.instant - (rules.limitRecentlyModified ?? 0) : Number.NEGATIVE_INFINITY;
  await inPortions(await pathsOf(pattern, rules.globPolicy, walk), (path) => {
    const file = excluded.has(path) ? undefined : regularFile(path, walk);
    if (file === undefined || file.modified < since || files.has(path)) return;
    listing.room -= memoryOf(path.length);
    if (files.size >= mostFiles || listing.room < 0)
      throw new Error(
        `more than ${files.size} files match, and the memory limit has room for no more: raise it, or use a narrower path`,
      );
    files.set(path, file);
  });
}

/** Without a promise each: of 100,000 files they take ten times as long. */
function regularFile(path: string, { placeOf }: View): FollowedFile | undefined {
  const found = statIfThere(placeOf(path));
  if (!found?.isFile()) return undefined;
  const [inode, size, modified] = [String(found.ino), Number(found.size), Number(found.mtimeMs)];
  return { path, inode, size, modified };
}

function statIfThere(path: string): BigIntStats | undefined {
  try {
    return statSync(toBytes(path), { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** What the file system tells; undefined: nothing. */
type Look = <T>(told: Promise<T>) => Promise<T | undefined>;

interface View {
  readonly look: Look;
  readonly placeOf: PlaceOf;
}

interface Walk extends View {
  readonly budget: NameBudget;
}

const ourPlace: PlaceOf = (path) => path;

/**
 * Adds what the parts name below `prefix`, which is empty or ends with a slash. One directory is open at a time: there may be more
 * of them than a process may open.
 */
async function descend(
  prefix: string,
  parts: readonly GlobPart[],
  walk: Walk,
  found: Set<string>,
): Promise<void> {
  const [part, ...rest] = parts;
  if (part === undefined) return;
  if (part.kind === 'plain') return step(prefix + part.name, rest, walk, found);
  const wanted = part.kind === 'names' ? part.matches : isNoDotDirectory;
  const entries = await namesIn(prefix, wanted, walk);
  if (part.kind === 'directories') {
    await descend(prefix, rest, walk, found);
    for (const { name } of entries) await descend(`${prefix}${name}/`, parts, walk, found);
    return;
  }
  if (part.matches('.')) await step(`${prefix}.`, rest, walk, found);
  // Dir.glob leaves out links that lead nowhere. Nothing else needs a look of its own: there may be a hundred thousand.
  for (const { name, isLink } of entries)
    if (rest.length > 0 || isLink) await step(prefix + name, rest, walk, found);
    else found.add(prefix + name);
}

interface Name {
  readonly name: string;
  readonly isLink: boolean;
}

async function namesIn(prefix: string, isWanted: Wanted, walk: Walk): Promise<readonly Name[]> {
  const names: Name[] = [];
  const read = async () =>
    readNames(walk.placeOf(prefix || '.'), walk.budget, (name, entry) => {
      const isKept = isWanted(name, entry);
      if (isKept) names.push({ name, isLink: entry.isSymbolicLink() });
      return isKept;
    });
  await walk.look(read());
  return names;
}

type Wanted = (name: string, entry: Dirent) => boolean;

const isNoDotDirectory: Wanted = (name, entry) => entry.isDirectory() && !name.startsWith('.');

async function step(path: string, rest: readonly GlobPart[], walk: Walk, found: Set<string>): Promise<void> {
  if (rest.length > 0) return descend(`${path}/`, rest, walk, found);
  const told = async () => stat(toBytes(walk.placeOf(path)));
  if ((await walk.look(told())) !== undefined) found.add(path);
}

/** What may not be looked at is not known to be missing. */
async function ifThere<T>(told: Promise<T>): Promise<T | undefined> {
  try {
    return await told;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function byPath(left: FollowedFile, right: FollowedFile): number {
  return left.path < right.path ? -1 : 1;
}
