import type { TailSource } from './core/fluent-conf/tail.ts';
import type { Chunk, ChunkListing } from './core/fluentd/buffers.ts';
import type { ProcessIdentity, ProcessRow } from './core/fluentd/processes.ts';
import type { FileLook, FollowedFile, StopRequest } from './core/look/snapshot.ts';
import type { PositionEntry } from './core/pos-file/pos-file.ts';
import type { Millis } from './core/text/units.ts';
import type { Testimony } from './core/witness/testimony.ts';

/**
 * All that the daemon may ask of the outside world: facts out, orders in. What is not there is `undefined`; what is broken
 * rejects with an Error whose message says so. Real: node/node-host.ts. Fake: test/support/fake-host.ts; both pass one contract.
 */
export interface Host extends Clock, Files, Processes, Witnesses {
  /** Calls for the end so far. */
  requests(): readonly StopRequest[];
}

interface Clock {
  /** Monotonic. */
  now(): Millis;
  /** Until the instant, or sooner when there is a call for the end or, with `wakeOnChange`, when a pos file may have changed. */
  sleep(until: Millis, options?: { readonly wakeOnChange: boolean }): Promise<void>;
  /** Lets signals and calls come in, between two portions of work. */
  nextTurn(): Promise<void>;
  /** What comes of the work; undefined: it has not ended at the instant, or soon after something may have changed. */
  within<T extends object>(work: Promise<T>, until: Millis): Promise<T | undefined>;
}

interface Files {
  /** The paths that a pos file argument stands for now: itself, or what its glob matches. */
  expand(pattern: string): Promise<readonly string[]>;
  /** `alreadyKept`: entries of other pos files that share the memory. */
  readFile(path: string, alreadyKept?: number): Promise<FileContent | undefined>;
  /** Cheaper than its content; undefined: it is not there, or cannot be looked at. */
  fileStamp(path: string): Promise<FileStamp | undefined>;
  /** Looks at the log file of each entry, one after the other, and hands over what it finds. */
  lookAt<Entry extends PositionEntry>(
    entries: Iterable<Entry>,
    found: (entry: Entry, look: FileLook) => void,
  ): Promise<void>;
  /** The files that an in_tail source takes, by its own rules. `alreadyKept`: files of other sources that share the memory. Rejects with `PartlyListed` where there may be more. */
  listFollowed(source: TailSource, alreadyKept?: number): Promise<readonly FollowedFile[]>;
  listChunks(globs: readonly string[]): Promise<ChunkListing>;
  /** The chunks that Fluentd has put aside, at these globs. */
  listBackups(globs: readonly string[]): Promise<readonly Chunk[]>;
  /** Ends the last line of a file that is still as long as it was. */
  appendNewline(path: string, size: number): Promise<void>;
}

export class PartlyListed extends Error {
  readonly files: readonly FollowedFile[];

  constructor(message: string, files: readonly FollowedFile[]) {
    super(message);
    this.files = files;
  }
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** How long ago it was last written, by the wall clock. */
  readonly writtenAgo: Millis;
}

export interface FileStamp {
  /** Changes with the content: at the latest with the second write after it was taken, for two writes may get the same time. */
  readonly id: string;
  readonly writtenAgo: Millis;
}

interface Processes {
  readonly self: number;
  listProcesses(): Promise<readonly ProcessRow[]>;
  /** At least the process and its children, without a look at all others where the system allows that. */
  listFamily(pid: number): Promise<readonly ProcessRow[]>;
  maySignal(pid: number): boolean;
  /** Whether a process holds one of these files open; undefined: its open files may not be looked at. */
  holdsOpen(pid: number, paths: readonly string[]): boolean | undefined;
  /** Checks the identity right before the signal. */
  signal(target: ProcessIdentity, signal: string): Promise<'sent' | 'gone' | 'not-permitted'>;
}

/** `end` is a stop that is over half a second earlier, once the asker has ended; a last word may be missing then. */
export type WitnessOrder = 'flush' | 'stop' | 'end';

/** The probes inside Fluentd's workers, by the directory of their sockets. None of these rejects. */
interface Witnesses {
  /** Whether there is, or was, any. */
  hasWitness(dir: string): Promise<boolean>;
  isWitnessAlive(dir: string): Promise<boolean>;
  askWitnesses(dir: string): Promise<Testimony>;
  /** Why the order was not carried out; undefined: it was. `worker`: as the testimony names it. */
  tellWitness(dir: string, worker: string, word: WitnessOrder): Promise<string | undefined>;
}
