import { type BigIntStats, statSync } from 'node:fs';
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
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import type { Millis } from '../../core/text/units.ts';
import type { PlaceOf } from './files.ts';
import { inPortions, toBytes } from './files.ts';

/** A look at 200,000 files took minutes on a busy machine, and a signal waits for the look. */
const MOST_NAMES = 100_000;

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
  placeOf: PlaceOf = ourPlace,
  mostNames = MOST_NAMES,
): Promise<FollowedFile[]> {
  const walk = { look: ifThere, placeOf, mostNames };
  const excluded = new Set(await expandAll(currentExcludes(rules, clock), rules, walk));
  const found = await Promise.all(
    currentPaths(rules, clock).map((path) => filesOf(path, { rules, clock, walk })),
  );
  const files = new Map(found.flat().map((file) => [file.path, file]));
  return [...files.values()].filter(({ path }) => !excluded.has(path)).sort(byPath);
}

/** Ruby's Dir.glob: every path, of whatever kind, that the pattern names and that is there. */
export async function rubyGlob(pattern: string, options: Partial<Walk> = {}): Promise<string[]> {
  const walk = { look: ifThere, placeOf: ourPlace, mostNames: Number.POSITIVE_INFINITY, ...options };
  const found = await Promise.all(parseGlob(pattern).map(({ base, parts }) => descend(base, parts, walk)));
  return [...new Set(found.flat())].sort();
}

async function expandAll(patterns: readonly string[], rules: PathRules, walk: Walk): Promise<string[]> {
  return (await Promise.all(patterns.map((pattern) => pathsOf(pattern, rules.globPolicy, walk)))).flat();
}

async function pathsOf(pattern: string, policy: GlobPolicy, walk: Walk): Promise<string[]> {
  return isGlob(pattern, policy) ? rubyGlob(pattern, walk) : [pattern];
}

interface Listing {
  readonly rules: FollowRules;
  readonly clock: WallClock;
  readonly walk: Walk;
}

async function filesOf(pattern: string, { rules, clock, walk }: Listing): Promise<FollowedFile[]> {
  const paths = await pathsOf(pattern, rules.globPolicy, walk);
  const files: FollowedFile[] = [];
  await inPortions(paths, (path) => {
    const file = regularFile(path, walk);
    if (file !== undefined) files.push(file);
  });
  const { limitRecentlyModified } = rules;
  if (limitRecentlyModified === undefined || !isGlob(pattern, rules.globPolicy)) return files;
  return files.filter(({ modified }) => modified >= clock.instant - limitRecentlyModified);
}

/** Without a promise each: of 100,000 files they take ten times as long. */
function regularFile(path: string, { placeOf }: Walk): FollowedFile | undefined {
  const found = statIfThere(placeOf(path));
  if (!found?.isFile()) return undefined;
  return { path, inode: String(found.ino), size: Number(found.size), modified: Number(found.mtimeMs) };
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

interface Walk {
  readonly look: Look;
  readonly placeOf: PlaceOf;
  /** Of one directory. */
  readonly mostNames: number;
}

const ourPlace: PlaceOf = (path) => path;

/** `prefix` is empty or ends with a slash. */
async function descend(prefix: string, parts: readonly GlobPart[], walk: Walk): Promise<string[]> {
  const [part, ...rest] = parts;
  if (part === undefined) return [];
  if (part.kind === 'plain') return step(prefix + part.name, rest, walk);
  const directory = async () =>
    readdir(toBytes(walk.placeOf(prefix || '.')), { withFileTypes: true, encoding: 'buffer' });
  const found = (await walk.look(directory())) ?? [];
  if (found.length > walk.mostNames)
    throw new Error(
      `${prefix || '.'} holds ${found.length} names, and at most ${walk.mostNames} are looked at`,
    );
  const entries = found.map((entry) => ({
    name: decodePath(entry.name),
    entry,
  }));
  if (part.kind === 'directories') {
    const inner = entries.filter(({ name, entry }) => entry.isDirectory() && !name.startsWith('.'));
    const deeper = inner.map(({ name }) => descend(`${prefix}${name}/`, parts, walk));
    return (await Promise.all([descend(prefix, rest, walk), ...deeper])).flat();
  }
  const taken = entries.filter(({ name }) => part.matches(name));
  // Dir.glob leaves out links that lead nowhere. Nothing else needs a look of its own: there may be a hundred thousand.
  const needsLook = ({ entry }: (typeof taken)[number]) => rest.length > 0 || entry.isSymbolicLink();
  const own = part.matches('.') ? ['.'] : [];
  const names = [...own, ...taken.filter(needsLook).map(({ name }) => name)];
  const there = await Promise.all(names.map((name) => step(prefix + name, rest, walk)));
  const surely = taken.filter((one) => !needsLook(one)).map(({ name }) => prefix + name);
  return [...surely, ...there.flat()];
}

async function step(path: string, rest: readonly GlobPart[], walk: Walk): Promise<string[]> {
  if (rest.length > 0) return descend(`${path}/`, rest, walk);
  const told = async () => stat(toBytes(walk.placeOf(path)));
  return (await walk.look(told())) === undefined ? [] : [path];
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
