import { hasWildcard, patternOfArgument } from '../core/in-tail/path-glob.ts';
import { COARSEST_TICK, type PosFileReading, type ReadPosFile } from '../core/look/snapshot.ts';
import { flawOf, latestIn, parsePosFile } from '../core/pos-file/pos-file.ts';
import type { Millis } from '../core/text/units.ts';
import type { Followed, Host } from '../host.ts';

/** The most pos files that one glob may match. */
const MOST_FILES = 1_000;
const NONE: Followed = { files: [] };

/** The pos files that the arguments name: the matches of a glob, else the argument itself. With the reason if a glob cannot be listed whole. */
export async function expandAll(
  host: Host,
  names: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const found = new Map<string, string | undefined>();
  for (const name of names) {
    const { files, unknown } = hasWildcard(name) ? await matchesOf(host, name) : NONE;
    const areKnown = files.length > 0 && unknown === undefined;
    for (const path of areKnown ? files.map((file) => file.path) : [name]) found.set(path, unknown);
  }
  return found;
}

async function matchesOf(host: Host, name: string): Promise<Followed> {
  // in_tail would fill in a date.
  const pattern = patternOfArgument(name).replaceAll('%', '%%');
  const rules = { paths: [pattern], excludePaths: [], globPolicy: 'extended' } as const;
  const found = await host.listFollowed(rules);
  const { length } = found.files;
  const tooMany =
    length > MOST_FILES ? `${length} files match, and at most ${MOST_FILES} are read` : undefined;
  return { ...found, unknown: found.unknown ?? tooMany };
}

/** Reads pos files, each one again only if it may have changed. */
export class PosFiles {
  readonly #host: Host;
  #cache = new Map<string, CachedPosFile>();
  /** Of the look before. */
  #before = this.#cache;

  constructor(host: Host) {
    this.#host = host;
  }

  async read(patterns: readonly string[]): Promise<readonly PosFileReading[]> {
    const readings: PosFileReading[] = [];
    this.#before = this.#cache;
    this.#cache = new Map();
    let alreadyKept = 0;
    // Sequential, because a process can open only a limited number of files.
    for (const [path, error] of await expandAll(this.#host, patterns)) {
      const reading =
        error === undefined
          ? await this.#read(path, alreadyKept)
          : ({ path, kind: 'unreadable', error } as const);
      if (reading.kind === 'read') alreadyKept += reading.entries.length;
      readings.push(reading);
    }
    return readings;
  }

  /** `alreadyKept`: entries of other pos files, which share the memory. */
  async #read(path: string, alreadyKept: number): Promise<PosFileReading> {
    const at = this.#host.now();
    const before = this.#before.get(path);
    const known = before?.isSure ? before.stamp : undefined;
    try {
      const content = await this.#host.readFile(path, { known, alreadyKept });
      if (content === undefined) return { path, kind: 'missing' };
      const { stamp, file, bytes, writtenAgo } = content;
      if (bytes === undefined && before !== undefined) {
        this.#cache.set(path, before);
        return { ...before.reading, writtenAgo };
      }
      const reading = readingOf(path, bytes ?? new Uint8Array());
      if (reading.kind !== 'read') return reading;
      const since = stamp === before?.stamp ? before.since : at;
      const dated = { ...reading, file, writtenAgo };
      this.#cache.set(path, { stamp, since, isSure: at - since >= COARSEST_TICK, reading: dated });
      return dated;
    } catch (error) {
      return { path, kind: 'unreadable', error: (error as Error).message };
    }
  }
}

/** The last reading of a pos file, valid while its stamp stays the same. */
interface CachedPosFile {
  readonly stamp: string;
  /** The first look that found this stamp. */
  readonly since: Millis;
  /** The stamp was old enough at the reading. A newer one may hide a later write. */
  readonly isSure: boolean;
  readonly reading: ReadPosFile;
}

function readingOf(
  path: string,
  bytes: Uint8Array,
): Omit<ReadPosFile, 'writtenAgo' | 'file'> | Exclude<PosFileReading, ReadPosFile> {
  if (bytes.length === 0) return { path, kind: 'empty' };
  const parsed = parsePosFile(bytes);
  const why = flawOf(bytes, parsed);
  if (why !== undefined) return { path, kind: 'foreign', why };
  return { path, kind: 'read', ...latestIn(path, parsed.entries), unparsable: parsed.unparsable };
}
