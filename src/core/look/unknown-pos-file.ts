import type { Limits } from '../progress/limits.ts';
import { andMore } from '../text/units.ts';
import type { Memory, ObservedFile, PosFileDoubt } from './observation.ts';
import { entriesOf, type PosFileReading, type Snapshot } from './snapshot.ts';

export const NOT_THERE = 'is not there';
/** For one look: in_tail writes it anew, as at Fluentd's start, or somebody else does. */
export const FEWER = 'has lost entries since the last look';
const EMPTY = 'is empty for now';
const REPLACED = 'was replaced while Fluentd had it open: Fluentd writes its positions elsewhere';

interface Known {
  readonly snapshot: Snapshot;
  readonly undiscovered: readonly ObservedFile[];
  readonly memory: Memory;
  readonly limits: Limits;
}

/** The pos files that say nothing certain of their files. */
export function unknownIn(known: Known): readonly PosFileDoubt[] {
  return known.snapshot.posFiles.flatMap((reading) => {
    const why = whyUnknown(reading, known);
    const kind = why === EMPTY ? 'empty-pos-file' : 'pos-file';
    return why === undefined ? [] : [{ kind, about: reading.path, why }];
  });
}

function whyUnknown(reading: PosFileReading, known: Known): string | undefined {
  const { path, kind } = reading;
  const { file, count = 0 } = known.memory.posFiles.get(path) ?? {};
  switch (kind) {
    case 'missing':
      return NOT_THERE;
    case 'unreadable':
      return `cannot be read: ${reading.error}`;
    case 'foreign':
      return reading.why;
    case 'read':
      if (file !== undefined && reading.file !== file) return REPLACED;
      return reading.entries.length < count ? FEWER : whyLost(path, known);
    case 'empty':
      return whyLost(path, known) ?? (isTrulyEmpty(path, known) ? undefined : EMPTY);
  }
}

/** in_tail never removes the entry of a file that it still follows: somebody else has changed the pos file. */
function whyLost(posFile: string, { snapshot, undiscovered, memory }: Known): string | undefined {
  const unfound = undiscovered.filter((one) => one.posFile === posFile);
  if (unfound.length === 0) return undefined;
  const known = new Set(entriesOf(snapshot.posFiles, posFile).map(({ path }) => path));
  const before = new Set<string>();
  for (const one of memory.entries.values()) if (one.posFile === posFile) before.add(one.path);
  const lost = unfound.map(({ path }) => path).filter((path) => before.has(path) && !known.has(path));
  return lost.length === 0 ? undefined : `has lost the entry of ${andMore(lost)}`;
}

/**
 * A pos file is empty for about 80 µs when Fluentd compacts it (position_file.rb, truncate then write). A new one stays empty until
 * in_tail finds a log file, which takes at most one refresh_interval; if all files of its sources are empty, it needs no entry.
 */
function isTrulyEmpty(path: string, { snapshot, memory, limits }: Known): boolean {
  const { at, followed } = snapshot;
  const { count = 0, emptySince = at } = memory.posFiles.get(path) ?? {};
  const wait = count > 0 ? 0 : limits.tail.refreshInterval;
  const sources = followed.filter(({ posFile }) => posFile === path);
  const areAllEmpty = sources.every(
    ({ files, unknown }) => unknown === undefined && files.every(({ size }) => size === 0),
  );
  return (sources.length > 0 && areAllEmpty) || at - emptySince >= wait + limits.settle;
}
