import type { BuffersReading } from '../fluentd/buffers.ts';
import type { KeyedEntry, PositionEntry, UnparsableLine } from '../pos-file/pos-file.ts';
import type { DrainRequest } from '../progress/drain-request.ts';
import type { FluentdReading, ProcessIdentity } from '../progress/fluentd-reading.ts';
import type { Millis } from '../text/units.ts';
import type { Reports } from '../witness/reports.ts';

/** The facts of one look, without conclusions. */
export interface Snapshot {
  /** When the look began (`lookedAt`) and ended (`at`). */
  readonly lookedAt: Millis;
  readonly at: Millis;
  readonly depth: Depth;
  /** If the witnesses know enough, the facts about files are those of an earlier look. */
  readonly posFiles: readonly PosFileReading[];
  /** The log file of each latest entry, by `entryKeyIn`. */
  readonly looks: ReadonlyMap<string, FileLook>;
  /** The files that each in_tail source must read. In a light look the list may be some seconds old. */
  readonly followed: readonly FollowedReading[];
  /** `witness`: there is or was a witness in Fluentd. */
  readonly source: 'witness' | 'outside';
  /** The answers of the witnesses; undefined if this look did not ask. */
  readonly reports: Reports | undefined;
  /** undefined if this look did not list them. */
  readonly buffers: BuffersReading | undefined;
  readonly fluentd: FluentdReading;
  /** undefined if nobody knows, or nobody asks. */
  readonly mains: readonly ProcessIdentity[] | undefined;
  /** In the order of arrival. */
  readonly requests: readonly DrainRequest[];
}

export type PosFileReading = { readonly path: string } & (
  | {
      readonly kind: 'read';
      /** Identifies the file, whatever its name and content. */
      readonly file?: string;
      readonly entries: readonly KeyedEntry[];
      /** Those that a later line replaces. */
      readonly replaced: readonly PositionEntry[];
      readonly unparsable: readonly UnparsableLine[];
      /** How long ago the pos file was last written, by the wall clock. */
      readonly writtenAgo: Millis;
    }
  | { readonly kind: 'missing' | 'empty' }
  | { readonly kind: 'unreadable'; readonly error: string }
  /** It is no pos file. */
  | { readonly kind: 'foreign'; readonly why: string }
);

export type ReadPosFile = Extract<PosFileReading, { kind: 'read' }>;

export function entriesOf(posFiles: readonly PosFileReading[], path: string): readonly KeyedEntry[] {
  const reading = posFiles.find((posFile) => posFile.path === path);
  return reading?.kind === 'read' ? reading.entries : [];
}

export interface FileLook {
  readonly atPath?: FileStat;
  /** Whether the unread bytes contain a newline. Missing if no bytes are left, or if a line goes on for too long. */
  readonly newlineLeft?: boolean;
  readonly error?: string;
}

export interface FileStat {
  readonly inode: string;
  readonly size: number;
  /** How long ago the file was last written, by the wall clock. */
  readonly writtenAgo?: Millis;
}

/** Two changes within this time may get the same mtime: a tick of 10 ms on Linux, 2 s on FAT. */
export const COARSEST_TICK: Millis = 2_500;

/** The files that one in_tail source must read, by its `path`. */
export interface FollowedReading {
  readonly posFile: string;
  /** With follow_inodes an entry belongs to an inode instead of a path. */
  readonly byInode: boolean;
  readonly unknown?: string | undefined;
  readonly files: readonly FollowedFile[];
}

export interface FollowedFile extends FileStat {
  readonly path: string;
}

/** The scope of a look. `light`: enough for a trigger, and cheap. `all`: everything for a drain. */
export type Depth = 'light' | 'all';
