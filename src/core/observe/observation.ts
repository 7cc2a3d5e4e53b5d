import type { TailFacts } from '../fluent-conf/facts.ts';
import type { BuffersReading } from '../fluentd/buffer-contents.ts';
import type { FluentdReading, ProcessIdentity } from '../fluentd/processes.ts';
import type { FileState, Lag } from '../look/file-state.ts';
import type { Snapshot, StopRequest } from '../look/snapshot.ts';
import type { UndiscoveredFile } from '../look/undiscovered.ts';
import type { PositionEntry } from '../pos-file/pos-file.ts';
import type { Progress } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import type { Testimony } from '../witness/testimony.ts';
import type { MainProcess } from './main-process.ts';
import type { Ledger } from './output-ledger.ts';
import type { WorkerMemory } from './workers.ts';

/** What the looks so far mean: the snapshot held against the observation before it. */
export interface Observation {
  readonly at: Millis;
  readonly files: readonly ObservedFile[];
  /** Why a pos file cannot be believed for now; empty: all of them can. */
  readonly unknown: readonly UnknownPosFile[];
  /** Every pos file exists: Fluentd's start is over, signals are safe. */
  readonly started: boolean;
  /** Fluentd has read something, in this look or before. */
  readonly logged: boolean;
  /** The last movement of any entry. */
  readonly movedAt: Millis | undefined;
  /** Since when every look has found everything read; undefined: not now. */
  readonly readSince: Millis | undefined;
  /** The last time that a file was renamed, replaced or removed. */
  readonly rotatedAt: Millis | undefined;
  /** Everything was looked at, as a drain needs it. */
  readonly isWhole: boolean;
  /** Files that in_tail is to read and has no entry for yet. */
  readonly undiscovered: readonly UndiscoveredFile[];
  /** Why it is not known which files some source is to read. */
  readonly unlisted: readonly string[];
  /** A look has not ended in time: this is what was seen before it. */
  readonly isLate?: true;
  /** Fluentd has, or had, a witness. */
  readonly isWitnessed?: boolean;
  /** What the witnesses said, and what it means; undefined: not asked this time. */
  readonly witness?: Witnessed | undefined;
  /** undefined: not looked at this time. */
  readonly buffers: BuffersReading | undefined;
  readonly fluentd: FluentdReading;
  /** Since when a fluentd that was seen has been gone. */
  readonly goneSince: Millis | undefined;
  readonly requests: readonly StopRequest[];
  readonly memory: Memory;
  /** What the next look is held against: finding the very same, it means the same. */
  readonly atRest: AtRest | undefined;
}

export interface Witnessed {
  readonly testimony: Testimony;
  readonly progress: Progress;
  /** Every worker that lives has answered: nothing else need be asked. */
  readonly isWhole: boolean;
}

/** What a look found, object by object, when everything was read and nothing was amiss. */
export interface AtRest extends Pick<Snapshot, 'looks' | 'followed' | 'fluentd'> {
  readonly entries: readonly (readonly PositionEntry[])[];
}

export interface ObservedFile extends Lag {
  readonly posFile: string;
  /** Its `entryKeyIn`. */
  readonly key: string;
  readonly path: string;
  readonly position: number | null;
  readonly inode: string;
  /** As far as it was seen: at the latest when the first look was taken. */
  readonly movedAt: Millis;
  /** When its file was made, where that was seen. */
  readonly born?: number | undefined;
}

export interface UnknownPosFile {
  readonly path: string;
  readonly why: string;
  /** Nothing but an empty file: Fluentd runs and has found no log file yet, or is just rewriting it. */
  readonly empty: boolean;
}

/** Work that says from time to time how many items it has gone through since: other things can happen then. */
export type Portions<Result> = Generator<number, Result>;

/** What has to be remembered from look to look. */
export interface Memory extends WorkerMemory {
  /** By `entryKeyIn`. */
  readonly entries: ReadonlyMap<string, KnownEntry>;
  /** Pos files: since when empty, and whether they ever held an entry. */
  readonly emptySince: ReadonlyMap<string, Millis>;
  readonly filled: ReadonlySet<string>;
  /** How many entries each pos file had. */
  readonly counts: ReadonlyMap<string, number>;
  /** Files that went away with bytes unread, by path and inode. */
  readonly abandoned: ReadonlyMap<string, Abandoned>;
  /** Files that went away from their paths, by `entryKeyIn`. */
  readonly gone: ReadonlyMap<string, Gone>;
  /** Files that in_tail has still to find, by inode, as of the last whole look. */
  readonly awaited: ReadonlyMap<string, Awaited>;
  /** Files that Fluentd may not read, and since when. */
  readonly closedSince: ReadonlyMap<string, Millis>;
  readonly fluentdSeen: boolean;
  /** A pos file was not there yet: Fluentd had not begun to read. */
  readonly beganSeen: boolean;
  /** The supervisor that runs, and since when it has been seen. */
  readonly supervisor: { readonly identity: ProcessIdentity; readonly since: Millis } | undefined;
  readonly workersSeen: boolean;
  readonly main: MainProcess;
  readonly ledger: Ledger;
  /** The first look. */
  readonly began: Millis;
}

/** What has to be remembered of an entry, so that the next look can be judged. */
export interface EntryMemory {
  readonly position: number | null;
  /** The last size that was seen, unless the file was cut short. */
  readonly size: number | null;
  readonly movedAt: Millis;
  /** Since when bytes have been left. */
  readonly leftSince: Millis | undefined;
  /** It was away at the first look, and ever since. */
  readonly neverSeen: boolean;
}

/** What is remembered beside it, to tell what Fluentd left unread. */
export interface KnownEntry extends EntryMemory {
  readonly path: string;
  readonly inode: string;
  readonly state: FileState;
  /** The last position that was one, and all bytes of the file, wherever it lay. */
  readonly reached: number | null;
  readonly whole: number | null;
  readonly born?: number | undefined;
  /** When last seen at its path, it had stood still beside bytes for too long. */
  readonly heldUp: boolean;
}

/** A file that Fluentd will read no more, though bytes of it were seen to be left. */
export interface Abandoned {
  readonly path: string;
  readonly bytes: number;
  /** How many files it stands for, where it is a sum of several. */
  readonly files?: number;
  /** Nobody can tell whether they were read in the last moment; only a live view says so. */
  readonly unproven?: true;
}

/** A file that went away from its path, or was let go or truncated: no position tells what in_tail reads of it. */
export interface Gone {
  readonly posFile: string;
  readonly path: string;
  readonly inode: string;
  readonly born?: number | undefined;
  /** The look that first found it away, and the one before. */
  readonly since: Millis;
  readonly lastHere: Millis;
  /** Its size when in_tail was last known to read it; null: not known. */
  readonly size: number | null;
  /** Bytes that no position has shown as read. */
  readonly rest: number;
  /** Bytes that came when in_tail had stopped reading it. */
  readonly late: number;
  /** The rest was not read, or nobody can show that it was. */
  readonly isLost: boolean;
  /** A full buffer kept in_tail from reading the rest, as far as it is known. */
  readonly isHeldBack: boolean;
  /** It still has an entry, whose position counts. */
  readonly hasEntry: boolean;
  /** It was truncated. */
  readonly isCut: boolean;
  /** in_tail reads it no more. */
  readonly isClosed: boolean;
  /** It is nowhere any more; another file may have its inode. */
  readonly isOver: boolean;
  /** in_tail has it open; undefined: not known. */
  readonly isOpen: boolean | undefined;
}

/** A file that was to be read, by inode. */
export interface Awaited {
  readonly posFile: string;
  readonly path: string;
  readonly size: number;
  readonly born?: number | undefined;
  /** The inode in the entry of its path when the file was first seen; undefined: its path had none. */
  readonly before: string | undefined;
  /** The first look that listed it. */
  readonly since: Millis;
}

/** What observing has to know: the settle time, and how in_tail reads. */
export interface Limits {
  readonly settle: Millis;
  /** posidle is Fluentd's parent. */
  readonly parent: boolean;
  readonly tail: TailFacts;
}
