import { COARSEST_TICK, type PosFileReading } from '../core/look/snapshot.ts';
import {
  flawOf,
  type KeyedEntry,
  keyedEntries,
  parsePosFile,
  replacedIn,
} from '../core/pos-file/pos-file.ts';
import type { Millis } from '../core/text/units.ts';
import type { FileStamp, Host } from '../host.ts';

/** The most pos files that one glob may match. */
const MOST_FILES = 1_000;

/** Expands the patterns to paths. A glob with too many matches stays as it is, with the reason. */
export async function expandAll(
  host: Pick<Host, 'expand'>,
  patterns: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const found = new Map<string, string | undefined>();
  for (const pattern of patterns) {
    const paths = await host.expand(pattern);
    if (paths.length > MOST_FILES)
      found.set(pattern, `${paths.length} files match, and at most ${MOST_FILES} are read`);
    else for (const path of paths) found.set(path, undefined);
  }
  return found;
}

/** Reads pos files, each one again only if it may have changed. Unchanged entries keep their objects. */
export class PosFiles {
  readonly #host: Pick<Host, 'expand' | 'readFile' | 'fileStamp' | 'now'>;
  readonly #cache = new Map<string, CachedPosFile>();

  constructor(host: Pick<Host, 'expand' | 'readFile' | 'fileStamp' | 'now'>) {
    this.#host = host;
  }

  async read(patterns: readonly string[]): Promise<readonly PosFileReading[]> {
    const readings: PosFileReading[] = [];
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
    const stamp = await this.#host.fileStamp(path);
    const before = this.#cache.get(path);
    const isSame = stamp !== undefined && stamp.id === before?.id;
    if (isSame && before.isSure) return { ...before.reading, writtenAgo: stamp.writtenAgo };
    const reading = await readPosFile(this.#host, path, alreadyKept, before?.reading.entries);
    const since = isSame ? before.since : at;
    if (reading.kind === 'read')
      this.#cache.set(path, { id: stamp?.id, since, isSure: at - since >= COARSEST_TICK, reading });
    return reading;
  }
}

/** The last reading of a pos file, valid while its stamp stays the same. */
interface CachedPosFile {
  readonly id: FileStamp['id'] | undefined;
  /** The first look that found this stamp. */
  readonly since: Millis;
  /** The stamp was old enough at the reading. A newer one may hide a later write. */
  readonly isSure: boolean;
  readonly reading: Extract<PosFileReading, { kind: 'read' }>;
}

async function readPosFile(
  host: Pick<Host, 'readFile'>,
  path: string,
  alreadyKept: number,
  before: readonly KeyedEntry[] | undefined,
): Promise<PosFileReading> {
  try {
    const content = await host.readFile(path, alreadyKept);
    if (content === undefined) return { path, kind: 'missing' };
    if (content.bytes.length === 0) return { path, kind: 'empty' };
    const parsed = parsePosFile(content.bytes);
    const flaw = flawOf(content.bytes, parsed);
    if (flaw !== undefined) return { path, kind: 'unreadable', error: flaw };
    const { unparsable } = parsed;
    const entries = keyedEntries(path, parsed.entries, before);
    const replaced = replacedIn(parsed.entries, entries);
    const { writtenAgo } = content;
    return { path, kind: 'read', entries, ...(replaced.length > 0 && { replaced }), unparsable, writtenAgo };
  } catch (error) {
    return { path, kind: 'unreadable', error: (error as Error).message };
  }
}
