import type { BuffersReading } from '../fluentd/buffers.ts';
import type { FluentdReading, ProcessIdentity } from '../fluentd/processes.ts';
import type { KeyedEntry, UnparsableLine } from '../pos-file/pos-file.ts';
import type { Millis } from '../text/units.ts';
import type { Testimony } from '../witness/testimony.ts';

/** Everything that one look at the world found: facts only, nothing concluded. */
export interface Snapshot {
  /** When the look began, and when it had ended. */
  readonly lookedAt: Millis;
  readonly at: Millis;
  readonly depth: Depth;
  readonly posFiles: readonly PosFileReading[];
  /** The log file of every entry that counts, by `entryKeyIn`. */
  readonly looks: ReadonlyMap<string, FileLook>;
  /** By source, the files that in_tail is to read; at rest as they were a moment ago. */
  readonly followed: readonly FollowedReading[];
  /** `witness`: Fluentd has, or had, one. */
  readonly source: 'witness' | 'outside';
  /** What the witnesses said; undefined: not asked this time. */
  readonly testimony: Testimony | undefined;
  /** undefined: not looked at this time. */
  readonly buffers: BuffersReading | undefined;
  readonly fluentd: FluentdReading;
  readonly mains: readonly ProcessIdentity[] | undefined;
  /** What asked for the end, in the order in which it came. */
  readonly requests: readonly StopRequest[];
}

export type PosFileReading = { readonly path: string } & (
  | {
      readonly kind: 'read';
      readonly entries: readonly KeyedEntry[];
      readonly unparsable: readonly UnparsableLine[];
      /** How long ago the pos file was last written, by the wall clock. */
      readonly writtenAgo: Millis;
    }
  | { readonly kind: 'missing' | 'empty' }
  | { readonly kind: 'unreadable'; readonly error: string }
);

export function entriesOf(posFiles: readonly PosFileReading[], path: string): readonly KeyedEntry[] {
  const reading = posFiles.find((posFile) => posFile.path === path);
  return reading?.kind === 'read' ? reading.entries : [];
}

export interface FileLook {
  readonly atPath?: FileStat;
  /** The file with the entry's inode, found beside its path; only looked for where the path has another inode. */
  readonly renamed?: { readonly path: string; readonly stat: FileStat };
  /** Whether a newline stands between the position and the end of the entry's file; only where bytes are left, and where it is known. */
  readonly newlineLeft?: boolean;
  readonly error?: string;
}

export interface FileStat {
  readonly inode: string;
  readonly size: number;
  /** How long ago it was last written, by the wall clock; not everybody asks. */
  readonly writtenAgo?: Millis;
}

/** Two changes may get the same time: within a tick of 10 ms on Linux, within 2 s on the coarsest file system (FAT). */
export const COARSEST_TICK: Millis = 2_500;

/** What one in_tail source is to read, as its `path` says. */
export interface FollowedReading {
  readonly posFile: string;
  readonly refreshInterval: Millis;
  /** follow_inodes: an entry belongs to an inode, not to a path. */
  readonly byInode: boolean;
  readonly unknown?: string;
  readonly files: readonly FollowedFile[];
}

export interface FollowedFile extends FileStat {
  readonly path: string;
}

/** What may call for the end from outside, and how that is said. */
export const CALLS = {
  SIGTERM: 'posidle got SIGTERM',
  SIGINT: 'posidle got SIGINT',
  'done-file': 'the done file is there',
  heartbeat: 'main no longer refreshes its heartbeat file',
  http: 'asked to by HTTP (/quitquitquit)',
  abort: 'asked to by the caller',
  'main-ended': 'main has ended',
  hook: 'the preStop hook began, and main may still run',
} as const;

/** A call for the end from outside: no guess, so it cannot be taken back. */
export interface StopRequest {
  readonly by: keyof typeof CALLS;
  readonly at: Millis;
}

/** How much a look takes in. `rest`: enough for a trigger, and cheap. `all`: what a drain needs. `last`: all that outlives Fluentd. */
export type Depth = 'light' | 'all' | 'last';
