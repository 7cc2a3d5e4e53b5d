import type { TailFacts } from '../fluent-conf/facts.ts';
import type { ProcessIdentity } from '../fluentd/processes.ts';
import type { Lag } from '../look/file-state.ts';
import type { FollowedFile, Snapshot } from '../look/snapshot.ts';
import type { Role } from '../look/subject.ts';
import type { UndiscoveredFile } from '../look/undiscovered.ts';
import type { KeyedEntry, PositionEntry } from '../pos-file/pos-file.ts';
import type { Progress } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import type { Testimony } from '../witness/testimony.ts';

/** What the looks so far mean: the snapshot held against the observation before it. */
export interface Observation
  extends Pick<Snapshot, 'lookedAt' | 'at' | 'source' | 'buffers' | 'fluentd' | 'requests'> {
  readonly files: readonly ObservedFile[];
  /** Why a pos file cannot be believed for now; empty: all of them can. */
  readonly unknown: readonly UnknownPosFile[];
  /** Every pos file exists: Fluentd's start is over, signals are safe. */
  readonly started: boolean;
  /** Fluentd has read something, in this look or before. */
  readonly logged: boolean;
  readonly movedAt: Millis | undefined;
  /** Since when every look has found everything read; undefined: not now. */
  readonly readSince: Millis | undefined;
  /** How much the look took in. `late`: it has not ended in time, and this is what was seen before it. */
  readonly extent: 'all' | 'light' | 'overdue';
  readonly undiscovered: readonly UndiscoveredFile[];
  readonly unlisted: readonly string[];
  /** What the witnesses said, and what it means; undefined: not asked this time. */
  readonly witness: { readonly testimony: Testimony; readonly progress: Progress } | undefined;
  readonly goneSince: Millis | undefined;
  readonly memory: Memory;
  /** The look, where everything was read and nothing was amiss: one that finds the very same means the same. */
  readonly atRest: Snapshot | undefined;
}

export interface ObservedFile extends Lag, KeyedEntry {
  readonly posFile: string;
  /** As far as it was seen: at the latest when the first look was taken. */
  readonly movedAt: Millis;
}

export interface UnknownPosFile {
  readonly path: string;
  readonly why: string;
  /** Nothing but an empty file: Fluentd runs and has found no log file yet, or is just rewriting it. */
  readonly empty: boolean;
}

/** Work that says from time to time how many items it has gone through since: other things can happen then. */
export type Portions<Result> = Generator<number, Result>;

export interface Memory {
  /** By `entryKeyIn`. */
  readonly entries: ReadonlyMap<string, KnownEntry>;
  /** Files that went away, or were cut short, before they were seen read: in_tail may still be reading them, and no pos file shows it. */
  readonly departed: ReadonlyMap<string, Departed>;
  /** By inode, the files with bytes that in_tail had still to find, as of the last look that could be believed. */
  readonly awaited: ReadonlyMap<string, FollowedFile>;
  readonly posFiles: ReadonlyMap<string, KnownPosFile>;
  readonly fluentdSeen: boolean;
  /** The supervisor that runs, and since when it has been seen. */
  readonly supervisor: { readonly identity: ProcessIdentity; readonly since: Millis } | undefined;
  /** The workers that run, and since when the last of them has been seen; undefined: none ever was. */
  readonly workers: readonly ProcessIdentity[];
  readonly workersSince: Millis | undefined;
  readonly main: MainProcess;
  readonly began: Millis;
}

export interface MainProcess {
  readonly sightings: ReadonlyMap<string, Millis>;
  readonly seen: boolean;
  /** Since when it has been gone, after it was seen. */
  readonly goneSince: Millis | undefined;
}

export interface KnownPosFile {
  readonly count: number;
  readonly emptySince: Millis | undefined;
}

/** What has to be remembered of an entry, so that the next look can be judged. */
export interface KnownEntry extends PositionEntry {
  /** The last size that was seen, unless the file was cut short. */
  readonly size: number | null;
  readonly movedAt: Millis;
  readonly leftSince: Millis | undefined;
  readonly isAtPath: boolean;
}

export interface Departed extends Omit<PositionEntry, 'position'> {
  /** It left the path of its entry; or it was gone, or cut short, before in_tail had an entry for it. */
  readonly how: 'left' | 'gone' | 'cut short';
  readonly size: number;
  readonly since: Millis;
  /** Bytes that no position has shown as read, as far as its entry tells. */
  readonly unreadBytes: number;
}

/** What observing has to know: the settle time, and how in_tail reads. */
export interface Limits {
  readonly settle: Millis;
  readonly role: Role;
  readonly tail: TailFacts;
}
