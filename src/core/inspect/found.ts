import { readGate } from '../drain/gates.ts';
import type { Observation, ObservedFile } from '../look/observation.ts';
import type { PosFileReading, Snapshot } from '../look/snapshot.ts';
import { NOT_THERE } from '../look/unknown-pos-file.ts';
import { entryOf, posFileOf, type UnparsableLine } from '../pos-file/pos-file.ts';
import { describeLeft, listed } from '../progress/describe.ts';
import { heldIn, type Progress } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { isAnswered } from '../witness/testimony.ts';
import type { Paces } from './paces.ts';
import type { Finding } from './pos-file-diagnosis.ts';

/** The result of one look of `inspect`. */
export interface Found {
  readonly posFiles: readonly FoundPosFile[];
  readonly undiscovered: readonly ObservedFile[];
  readonly refreshInterval: Millis;
  readonly totals: Totals;
  /** Bytes left in all files; null if unknown. */
  readonly lag: number | null;
  /** All bytes are read, and nothing is unknown. */
  readonly caughtUp: boolean;
  readonly seen: Observation;
  readonly progress: Progress;
  readonly waitsFor: string | undefined;
  /** undefined for a single look. */
  readonly paces: Paces | undefined;
}

export interface FoundPosFile {
  readonly path: string;
  readonly files: readonly ObservedFile[];
  readonly findings: readonly Finding[];
  readonly unparsable: readonly UnparsableLine[];
  /** How long ago it was written; Infinity for a pipe. */
  readonly age: Millis;
  readonly error: string | undefined;
  /** `error` says only that the file is empty. */
  readonly isEmpty: boolean;
  readonly troubles: readonly { readonly path: string; readonly error: string }[];
}

export function foundBy(
  { posFiles, looks }: Pick<Snapshot, 'posFiles' | 'looks'>,
  seen: Observation,
  findingsIn: (posFile: PosFileReading) => readonly Finding[],
  paces: Paces | undefined,
): Found {
  const { progress } = seen;
  const files = byPosFile(seen.files);
  const troubles = byPosFile(troublesIn(looks));
  const undiscovered = seen.undiscovered.map(asFile);
  const totals = totalsOf([...seen.files, ...undiscovered]);
  const isKnown = totals.unknown + seen.unlisted.length + seen.unknown.length === 0;
  return {
    posFiles: posFiles.map((reading) => ({
      ...shownOf(reading, files.get(reading.path) ?? []),
      findings: findingsIn(reading),
      ...errorOf(seen, reading.path),
      troubles: troubles.get(reading.path) ?? [],
    })),
    undiscovered,
    refreshInterval: Math.max(0, ...seen.undiscovered.map(({ refreshInterval }) => refreshInterval)),
    totals,
    lag: isKnown ? totals.lag : null,
    caughtUp: isKnown && totals.unread === 0,
    seen,
    progress,
    waitsFor: waitsFor(seen),
    paces,
  };
}

export function filesIn({ posFiles }: Pick<Found, 'posFiles'>): readonly ObservedFile[] {
  return posFiles.flatMap(({ files }) => files);
}

function byPosFile<One extends { readonly posFile: string }>(
  all: readonly One[],
): ReadonlyMap<string, readonly One[]> {
  const groups = new Map<string, One[]>();
  for (const one of all) {
    const group = groups.get(one.posFile);
    if (group === undefined) groups.set(one.posFile, [one]);
    else group.push(one);
  }
  return groups;
}

function shownOf(reading: PosFileReading, files: readonly ObservedFile[]) {
  const { path } = reading;
  if (reading.kind !== 'read') return { path, files, unparsable: [], age: Number.POSITIVE_INFINITY };
  return { path, files, unparsable: reading.unparsable, age: reading.writtenAgo };
}

function errorOf({ unknown }: Observation, path: string): Pick<FoundPosFile, 'error' | 'isEmpty'> {
  const doubt = unknown.find((one) => one.path === path);
  return { error: doubt && sentenceOf(path, doubt.why), isEmpty: doubt?.empty === true };
}

/** A glob that matches nothing counts as one missing pos file. */
function sentenceOf(path: string, why: string): string {
  return why === NOT_THERE && /[*?]/.test(path) ? 'no file matches it' : `it ${why}`;
}

function troublesIn(looks: Snapshot['looks']) {
  const troubles = [];
  for (const [key, { error }] of looks)
    if (error !== undefined) troubles.push({ ...entryOf(key), posFile: posFileOf(key), error });
  return troubles;
}

function asFile({ path, size }: Observation['undiscovered'][number]): ObservedFile {
  const entry = {
    posFile: '',
    key: path,
    path,
    position: null,
    inode: '',
    movedAt: Number.NEGATIVE_INFINITY,
  };
  return { ...entry, state: 'undiscovered', size, lag: size, read: size === 0 };
}

export type Totals = Readonly<ReturnType<typeof totalsOf>>;

/** An unwatched file counts neither as read nor as left, because its entry has no position. */
function totalsOf(files: readonly ObservedFile[]) {
  const totals = {
    files: files.length,
    /** `lag`: known unread bytes. `left`: files with unread or unknown bytes. `unknown`: files with an unknown lag. */
    ...{ lag: 0, left: 0, unknown: 0 },
    /** `unread`: files of which Fluentd will emit more. `toRead`: the known bytes of that. Unfinished last lines do not count. */
    ...{ unread: 0, toRead: 0 },
    /** The known bytes of all watched files. */
    size: 0,
  };
  for (const { state, size, lag, read } of files) {
    if (state !== 'unwatched') totals.size += size ?? 0;
    totals.lag += lag ?? 0;
    if (lag === null) totals.unknown += 1;
    if (lag !== 0) totals.left += 1;
    if (read) continue;
    totals.unread += 1;
    totals.toRead += lag ?? 0;
  }
  return totals;
}

function waitsFor(seen: Observation): string | undefined {
  const unread = readGate(seen)?.why;
  if (unread !== undefined || seen.witness === undefined || !isAnswered(seen.witness.testimony))
    return unread;
  const held = heldIn(seen.progress.left);
  return held.length === 0 ? undefined : describeLeft(listed(held));
}
