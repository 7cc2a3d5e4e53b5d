import type { PosFileReading } from '../core/look/snapshot.ts';
import { type KeyedEntry, keyedEntries, parsePosFile } from '../core/pos-file/pos-file.ts';
import type { Host } from '../host.ts';
import { Kept } from './kept.ts';

/** So many pos files of one glob are read, look after look. */
const MOST_FILES = 1_000;

/** The paths that the arguments stand for; a glob with too many matches stands for itself, with the reason. */
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

/** Reads pos files, each again only when it has changed: then its entries are the very same objects. */
export class PosFiles {
  readonly #host: Pick<Host, 'expand' | 'readFile' | 'fileStamp' | 'now'>;
  readonly #kept = new Map<string, Kept<PosFileReading>>();
  readonly #entries = new Map<string, readonly KeyedEntry[]>();

  constructor(host: Pick<Host, 'expand' | 'readFile' | 'fileStamp' | 'now'>) {
    this.#host = host;
  }

  /** Every pos file that the arguments stand for. */
  async read(patterns: readonly string[]): Promise<readonly PosFileReading[]> {
    const readings: PosFileReading[] = [];
    // One after the other: a process may open no more than so many files.
    for (const [path, error] of await expandAll(this.#host, patterns))
      readings.push(
        error === undefined ? await this.#read(path, countIn(readings)) : { path, kind: 'unreadable', error },
      );
    return readings;
  }

  /** `besides`: entries of other pos files, for they share the memory. */
  async #read(path: string, besides: number): Promise<PosFileReading> {
    const at = this.#host.now();
    const stamp = await this.#host.fileStamp(path);
    const kept = this.#keptOf(path);
    const known = kept.get(stamp?.id, at);
    if (known?.kind === 'read' && stamp !== undefined) return { ...known, writtenAgo: stamp.writtenAgo };
    const reading = await readPosFile(this.#host, path, besides, this.#entries.get(path));
    if (reading.kind === 'read') this.#entries.set(path, reading.entries);
    kept.set(reading, at);
    return reading;
  }

  #keptOf(path: string): Kept<PosFileReading> {
    const kept = this.#kept.get(path) ?? new Kept();
    this.#kept.set(path, kept);
    return kept;
  }
}

async function readPosFile(
  host: Pick<Host, 'readFile'>,
  path: string,
  besides: number,
  before: readonly KeyedEntry[] | undefined,
): Promise<PosFileReading> {
  try {
    const content = await host.readFile(path, besides);
    if (content === undefined) return { path, kind: 'missing' };
    if (content.bytes.length === 0) return { path, kind: 'empty' };
    const { entries, unparsable } = parsePosFile(content.bytes);
    const { writtenAgo } = content;
    return { path, kind: 'read', entries: keyedEntries(path, entries, before), unparsable, writtenAgo };
  } catch (error) {
    return { path, kind: 'unreadable', error: error instanceof Error ? error.message : String(error) };
  }
}

function countIn(readings: readonly PosFileReading[]): number {
  return readings.reduce((sum, reading) => sum + (reading.kind === 'read' ? reading.entries.length : 0), 0);
}
