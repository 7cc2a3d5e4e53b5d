import { readGate } from '../drain/gates.ts';
import type { TailSource } from '../fluent-conf/tail.ts';
import type { Observation, ObservedFile } from '../look/observation.ts';
import type { Snapshot } from '../look/snapshot.ts';
import { NOT_THERE } from '../look/unknown-pos-file.ts';
import { brokenIn, type UnparsableLine } from '../pos-file/pos-file.ts';
import { describeLeft, listed } from '../progress/describe.ts';
import { type DoubtKind, heldIn } from '../progress/progress.ts';
import { groupedBy } from '../text/lists.ts';
import type { Millis } from '../text/units.ts';
import { isAnyAlive } from '../witness/reports.ts';
import { diagnose, type Finding } from './pos-file-diagnosis.ts';
import type { Rates } from './rates.ts';

/** The result of one look of `inspect`. */
export interface Found {
  readonly posFiles: readonly FoundPosFile[];
  readonly totals: Totals;
  /** Bytes left in all files; null if unknown. */
  readonly lag: number | null;
  /** Every line is read, and nothing is unknown, by the Progress that the drain uses. */
  readonly caughtUp: boolean;
  readonly seen: Observation;
  /** Why waiting helps; undefined if it does not. */
  readonly waitsFor: string | undefined;
  /** undefined for a single look. */
  readonly rates: Rates | undefined;
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

/** `sources`: of fluent.conf, as far as it is known. `rates`: of repeated looks, which would find the same in pos files again. */
export function foundBy(
  { posFiles, looks }: Pick<Snapshot, 'posFiles' | 'looks'>,
  seen: Observation,
  sources: readonly TailSource[] = [],
  rates?: Rates,
): Found {
  const files = groupedBy(seen.files, ({ posFile }) => posFile);
  const totals = totalsOf([...seen.files, ...seen.undiscovered]);
  const gate = readGate(seen);
  const lost = lostIn(seen);
  const shown = posFiles.map((reading): FoundPosFile => {
    const { path } = reading;
    const own = files.get(path) ?? [];
    const doubt = seen.unknown.find(({ about }) => about === path);
    const unreadable = own.filter(({ state }) => state === 'unreadable');
    const lines = reading.kind === 'read' ? reading : undefined;
    const source = sources.find(({ posFile }) => posFile === path);
    return {
      ...{ path, files: own, unparsable: lines?.unparsable ?? [] },
      findings: lines && rates === undefined ? diagnose(lines, source?.followInodes, own) : [],
      age: lines?.writtenAgo ?? Number.POSITIVE_INFINITY,
      error: doubt && sentenceOf(path, doubt.why),
      isEmpty: doubt?.kind === 'empty-pos-file',
      troubles: unreadable.map(({ path, key }) => ({ path, error: looks.get(key)?.error ?? '' })),
    };
  });
  const isWhole = shown.every(({ unparsable }) => brokenIn(unparsable).length === 0);
  const isKnown = totals.unknown === 0 && isWhole && (gate === undefined || gate.name === 'unread');
  return {
    posFiles: shown,
    totals,
    lag: isKnown ? totals.lag : null,
    caughtUp: isKnown && gate === undefined && lost.left.length + lost.doubts.length === 0,
    seen,
    waitsFor: gate?.why ?? held(seen),
    rates,
  };
}

export function filesIn({ posFiles }: Pick<Found, 'posFiles'>): readonly ObservedFile[] {
  return posFiles.flatMap(({ files }) => files);
}

/** A glob that matches nothing counts as one missing pos file. */
function sentenceOf(path: string, why: string): string {
  return why === NOT_THERE && /[*?]/.test(path) ? 'no file matches it' : `it ${why}`;
}

/** Sorts by lag, the largest first. Files with an unknown lag come before all others. */
export function byLag<File extends Pick<ObservedFile, 'lag'>>(files: readonly File[]): readonly File[] {
  const lagOf = ({ lag }: File) => lag ?? Number.MAX_VALUE;
  return files.toSorted((a, b) => lagOf(b) - lagOf(a));
}

export function shareRead(size: number, lag: number): number {
  return size === 0 ? 1 : Math.max(0, 1 - lag / size);
}

export type Totals = Readonly<ReturnType<typeof totalsOf>>;

/** Doubts whether a file was read to its end. */
const OF_READING: readonly DoubtKind[] = [
  'closed-unread',
  'cut-short-unread',
  'written-anew',
  'never-followed',
  'read-from',
  'nobody-saw-it-read',
];

/** What waiting does not help. */
export function lostIn({ progress: { left, doubts } }: Observation) {
  return {
    left: left.filter(({ kind }) => kind === 'let-go' || kind === 'unreadable'),
    doubts: doubts.filter(({ kind }) => OF_READING.includes(kind)),
  };
}

/** An unwatched file counts neither as read nor as left, because its entry has no position. */
function totalsOf(files: readonly ObservedFile[]) {
  const totals = {
    files: files.length,
    /** `lag`: known unread bytes. `left`: files with unread or unknown bytes. `unknown`: files with an unknown lag. */
    ...{ lag: 0, left: 0, unknown: 0 },
    /** The known bytes of all watched files. */
    size: 0,
  };
  for (const { state, size, lag } of files) {
    if (state !== 'unwatched') totals.size += size ?? 0;
    totals.lag += lag ?? 0;
    if (lag === null) totals.unknown += 1;
    if (lag !== 0) totals.left += 1;
  }
  return totals;
}

/** The chunks of workers that run: those of others wait for no Fluentd. One that is not believed may hold some. */
function held({ reports, progress }: Observation): string | undefined {
  const refused = progress.doubts.find(({ kind }) => kind === 'not-believed');
  if (refused !== undefined) return `${refused.about}: ${refused.why}`;
  if (reports === undefined || !isAnyAlive(reports)) return undefined;
  const chunks = heldIn(progress.left).filter(({ next }) => next !== 'none');
  return chunks.length === 0 ? undefined : describeLeft(listed(chunks));
}
