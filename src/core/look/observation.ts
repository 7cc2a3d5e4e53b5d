import type { KeyedEntry } from '../pos-file/pos-file.ts';
import type { ProcessIdentity } from '../progress/fluentd-reading.ts';
import type { Doubt } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import type { Reports } from '../witness/reports.ts';
import type { Lag } from './file-state.ts';
import type { Snapshot } from './snapshot.ts';

/** The meaning of all looks so far: the last snapshot, compared with the previous observation. */
export interface Observation extends Pick<Snapshot, 'lookedAt' | 'buffers'>, Seen {
  readonly files: readonly ObservedFile[];
  /** The pos files that posidle cannot trust now. */
  readonly unknown: readonly PosFileDoubt[];
  /** Every pos file was there, so Fluentd has started and signals are safe. */
  readonly started: boolean;
  /** By the pos files. */
  readonly movedAt: Millis | undefined;
  /** Since when every look has found everything read; undefined if something is unread. */
  readonly readSince: Millis | undefined;
  /** The files that must be read, and have no entry. */
  readonly undiscovered: readonly ObservedFile[];
  readonly unlisted: readonly string[];
  /** The witnesses' answers; undefined if this look did not ask. */
  readonly reports: Reports | undefined;
  /** The reports of the last look that asked the witnesses. */
  readonly lastAnswers: Reports | undefined;
  /** posidle has pos files to look at. */
  readonly hasFiles: boolean;
  readonly memory: Memory;
  readonly main: MainProcess;
  /** This look, if everything was read and known. */
  readonly atRest?: Snapshot | undefined;
}

export interface ObservedFile extends Lag, KeyedEntry {
  readonly posFile: string;
  /** When the position last moved, or the first look. */
  readonly movedAt: Millis;
  /** Since when bytes have been left; undefined if none are. */
  readonly leftSince: Millis | undefined;
}

/** What an earlier look, or the ages of the files, tell of an entry. */
export type Known = Pick<ObservedFile, 'position' | 'state' | 'size' | 'movedAt' | 'leftSince'>;

/** Why a pos file says nothing certain. It is empty if in_tail has found no log file yet, or is rewriting it. */
export interface PosFileDoubt extends Doubt {
  readonly kind: 'pos-file' | 'empty-pos-file';
  readonly about: string;
}

export interface Memory {
  /** By `entryKeyIn`. */
  readonly entries: ReadonlyMap<string, ObservedFile>;
  /** Files that left the path of their entry, or were cut short, before their position showed that they were read. */
  readonly departed: ReadonlyMap<string, Doubt>;
  /** When a file last did that, read or not; undefined if none did. */
  readonly departedAt: Millis | undefined;
  readonly posFiles: ReadonlyMap<string, KnownPosFile>;
  readonly fluentdSeen: boolean;
  /** The running supervisor, and the first look that saw it. */
  readonly supervisor: { readonly identity: ProcessIdentity; readonly since: Millis } | undefined;
  /** The running workers, and the first look that saw the newest of them; undefined if there was none. */
  readonly workers: readonly ProcessIdentity[];
  readonly workersSince: Millis | undefined;
}

export type MainProcess = Seen['main'] & { readonly sightings: ReadonlyMap<string, Millis> };

export interface KnownPosFile {
  readonly count: number;
  /** The file that was there when the present workers were first seen: they keep it open. Undefined if posidle saw none. */
  readonly file: string | undefined;
  readonly emptySince: Millis | undefined;
}
