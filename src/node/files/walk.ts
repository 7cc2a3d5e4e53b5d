import { type Dirent, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { type GlobPart, parseGlob } from '../../core/in-tail/path-glob.ts';
import { dated, isGlob, type PathRules, type WallClock } from '../../core/in-tail/path-pattern.ts';
import type { FollowedFile } from '../../core/look/snapshot.ts';
import { decodePath } from '../../core/pos-file/path-bytes.ts';
import type { Followed } from '../../host.ts';
import { whileRunning } from '../processes/end.ts';
import type { PlaceOf } from './files.ts';
import { inPortions, memoryOf, roomIn, toBytes } from './files.ts';
import { isAbsence } from './in-words.ts';
import { fileStatOf } from './log-files.ts';

/** One look reads at most this many names: a directory may have millions. */
const MOST_NAMES = 100_000;
/** The process can do other work between two batches. */
const BATCH = 1_024;
/** The memory for a name, in addition to two bytes for each character of its path. */
const NAME_MEMORY = 100;

interface ListOptions extends Partial<Pick<Walk, 'placeOf' | 'missed'>> {
  /** Bytes of memory. */
  readonly room?: number;
  /** How many files of other sources are in memory. */
  readonly alreadyKept?: number | undefined;
}

/** The regular files that match a source now. It includes files that Fluentd has no permission to read: posidle cannot know. */
export async function listFollowed(
  rules: PathRules,
  clock: WallClock,
  options: ListOptions = {},
): Promise<Followed> {
  const { placeOf = ourPlace, missed = () => {}, room = roomIn(), alreadyKept = 0 } = options;
  const { globPolicy, limitRecentlyModified: age = Number.POSITIVE_INFINITY } = rules;
  const pathsOf = async (pattern: string) =>
    isGlob(pattern, globPolicy) ? rubyGlob(pattern, { placeOf, missed }) : [pattern];
  const files = new Map<string, FollowedFile>();
  let left = room - alreadyKept * memoryOf(0);
  const excluded = new Set<string>();
  const add = (pattern: string) => (path: string) => {
    if (excluded.has(path)) return;
    const file = regularFile(path, placeOf);
    if (file === undefined) return missed(path);
    if ((isGlob(pattern, globPolicy) && Number(file.writtenAgo) > age) || files.has(path)) return;
    left -= memoryOf(path.length);
    if (left < 0)
      throw new Error(
        `more than ${files.size} files match, and the memory limit has room for no more: raise it, or use a narrower path`,
      );
    files.set(path, file);
  };
  let unknown: string | undefined;
  try {
    for (const pattern of dated(rules.excludePaths, rules, clock))
      for (const path of await pathsOf(pattern)) excluded.add(path);
    for (const pattern of dated(rules.paths, rules, clock))
      await inPortions(await pathsOf(pattern), add(pattern));
  } catch (error) {
    unknown = (error as Error).message;
  }
  const byPath = [...files.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files: byPath, unknown };
}

/** Synchronous, because promises take ten times as long for 100,000 files. */
function regularFile(path: string, placeOf: PlaceOf): FollowedFile | undefined {
  try {
    const place = placeOf(path);
    const found = statSync(toBytes(place), { throwIfNoEntry: false });
    return found?.isFile() ? { path, ...fileStatOf(place, found) } : undefined;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** The number of names that a look may still read, and the memory that the kept ones may still take. */
export function nameBudget(most = MOST_NAMES, bytes = roomIn() / 2) {
  return { most, left: most, bytes };
}

interface Walk {
  readonly placeOf: PlaceOf;
  /** Gets each path at which nothing is: a name of the configuration, a directory or a link. */
  readonly missed: (path: string) => void;
  readonly budget: ReturnType<typeof nameBudget>;
}

const ourPlace: PlaceOf = (path) => path;

/** Ruby's Dir.glob: all existing paths that match the pattern, in no order. */
export async function rubyGlob(pattern: string, options: Partial<Walk> = {}): Promise<string[]> {
  const walk = { placeOf: ourPlace, missed: () => {}, budget: nameBudget(), ...options };
  const found = new Set<string>();
  for (const { base, parts } of parseGlob(pattern)) await descend(base, parts, walk, found);
  return [...found];
}

/**
 * Adds the paths that match `parts` below `prefix`, which is empty or ends with a slash. It opens one directory at a time, because a process can
 * open only a limited number.
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
  // Dir.glob omits dangling links. Only links need a stat: there may be 100,000 files.
  for (const { name, isLink } of entries)
    if (rest.length > 0 || isLink) await step(prefix + name, rest, walk, found);
    else found.add(prefix + name);
}

/** Reads the wanted names of a directory, in no order. An empty prefix is the working directory. */
async function namesIn(prefix: string, isWanted: Wanted, { placeOf, missed, budget }: Walk) {
  const names: { readonly name: string; readonly isLink: boolean }[] = [];
  const read = async () => {
    const directory = placeOf(prefix || '.');
    const entries = await opendir(toBytes(directory), { encoding: 'latin1', bufferSize: BATCH });
    for await (const entry of entries) {
      budget.left -= 1;
      if (budget.left < 0) throw new Error(`more than ${budget.most} names to look at, in ${directory}`);
      const name = nameOf(entry);
      if (!isWanted(name, entry)) continue;
      names.push({ name, isLink: entry.isSymbolicLink() });
      budget.bytes -= NAME_MEMORY + 2 * (directory.length + name.length);
      if (budget.bytes < 0)
        throw new Error(`its names need more memory than the limit allows, in ${directory}`);
    }
  };
  if (!(await isThere(read))) missed(prefix);
  return names;
}

/** Latin-1 keeps every byte, and takes half the time of a Buffer for each name. */
function nameOf({ name }: Dirent): string {
  return /^[\0-\x7f]*$/.test(name) ? name : decodePath(Buffer.from(name, 'latin1'));
}

type Wanted = (name: string, entry: Dirent) => boolean;

const isNoDotDirectory: Wanted = (name, entry) => entry.isDirectory() && !name.startsWith('.');

async function step(path: string, rest: readonly GlobPart[], walk: Walk, found: Set<string>): Promise<void> {
  if (rest.length > 0) return descend(`${path}/`, rest, walk, found);
  if (await isThere(async () => stat(toBytes(walk.placeOf(path))))) found.add(path);
  else walk.missed(path);
}

/** Whether the look succeeds. An error that does not mean absence, such as a missing permission, is thrown. */
async function isThere(look: () => Promise<unknown>): Promise<boolean> {
  await whileRunning();
  try {
    await look();
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}
