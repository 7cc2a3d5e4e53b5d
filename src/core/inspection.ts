import { type Lag, lagOf, NO_CONTEXT } from './lag.ts';
import { livingEntries } from './observation.ts';
import { entryKey, latestEntries, type UnparsableLine } from './pos-file.ts';
import type { FileLook, FollowedReading, PosFileReading } from './snapshot.ts';
import { undiscoveredIn } from './undiscovered.ts';

/** What `inspect` shows; its JSON form is a contract. Byte counts are numbers, null where unknown. */
export interface Inspection {
  readonly posFiles: readonly InspectedPosFile[];
  /** Files that in_tail should read and has no entry for yet. */
  readonly undiscovered: readonly { readonly path: string; readonly size: number }[];
  /** Bytes left in all files. */
  readonly lag: number | null;
  /** Everything is read, and nothing is unknown. */
  readonly caughtUp: boolean;
}

export interface InspectedPosFile {
  readonly path: string;
  readonly entries: readonly InspectedEntry[];
  readonly unparsable: readonly UnparsableLine[];
  readonly error?: string;
}

export interface InspectedEntry extends Pick<Lag, 'state' | 'size' | 'lag'> {
  readonly path: string;
  /** null: unwatched. */
  readonly position: number | null;
  readonly inode: string;
}

/** One look at pos files and their log files, without any history. */
export function inspect(
  readings: readonly PosFileReading[],
  looks: ReadonlyMap<string, FileLook>,
  followed: readonly FollowedReading[],
): Inspection {
  const undiscovered = followed
    .flatMap((source) => undiscoveredIn(source, readings))
    .map(({ path, size }) => ({ path, size }));
  const inspected = readings.map((reading) => inspectPosFile(reading, looks));
  const lags = inspected.flatMap(({ entries }) => entries.map(({ lag }) => lag));
  const isKnown = inspected.every(({ posFile }) => posFile.error === undefined) && !lags.includes(null);
  return {
    posFiles: inspected.map(({ posFile }) => posFile),
    undiscovered,
    lag: isKnown ? sum([...lags, ...undiscovered.map(({ size }) => size)]) : null,
    caughtUp: isKnown && inspected.every(({ read }) => read) && undiscovered.every(({ size }) => size === 0),
  };
}

function sum(lags: readonly (number | null)[]): number {
  return lags.reduce((total: number, lag) => total + (lag ?? 0), 0);
}

interface Inspected {
  readonly posFile: InspectedPosFile;
  readonly entries: readonly InspectedEntry[];
  readonly read: boolean;
}

function inspectPosFile(reading: PosFileReading, looks: ReadonlyMap<string, FileLook>): Inspected {
  const { path } = reading;
  if (reading.kind !== 'read') {
    const posFile = { path, entries: [], unparsable: [], error: errorOf(reading) };
    return { posFile, entries: [], read: false };
  }
  const living = livingEntries(latestEntries(reading.entries, undefined), looks);
  const owned = new Set(living.map(entryKey));
  const lags = living.map((entry) => {
    const look = looks.get(entryKey(entry)) ?? {};
    const succeeded = owned.has(entryKey({ ...entry, inode: look.atPath?.inode ?? '' }));
    return lagOf(entry, look, { ...NO_CONTEXT, succeeded });
  });
  const entries = living.map(({ path, position, inode }, index) => {
    const { size = null, lag = null, state = 'missing' } = lags[index] ?? {};
    return { path, position, inode, size, lag, state };
  });
  return {
    posFile: { path, entries, unparsable: reading.unparsable },
    entries,
    read: lags.every(({ read }) => read),
  };
}

function errorOf(reading: Exclude<PosFileReading, { kind: 'read' }>): string {
  switch (reading.kind) {
    case 'missing':
      return 'there is no such file';
    case 'empty':
      return 'it is empty: Fluentd has found no log file yet, or is just rewriting it';
    case 'unreadable':
      return reading.error;
  }
}
