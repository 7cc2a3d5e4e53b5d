import type { ChunkListing } from './core/fluentd/buffers.ts';
import type { PathRules } from './core/in-tail/path-pattern.ts';
import type { FileLook, FollowedReading } from './core/look/snapshot.ts';
import type { KeyedEntry } from './core/pos-file/pos-file.ts';
import type { DrainRequest } from './core/progress/drain-request.ts';
import type { ProcessIdentity, ProcessRow } from './core/progress/fluentd-reading.ts';
import type { Question } from './core/progress/question.ts';
import type { Millis } from './core/text/units.ts';
import type { Reports } from './core/witness/reports.ts';

/**
 * The daemon's only access to the outside world. A missing thing gives `undefined`; a broken one rejects with an Error whose message says
 * why. node/node-host.ts implements it, and so does test/support/fake-host.ts. Both pass one contract test.
 */
export interface Host {
  requests(): readonly DrainRequest[];

  /** Monotonic; 0 is the start of Node. */
  now(): Millis;
  /** Sleeps until the instant. A request ends it earlier and, with `wakeOnChange`, a possible change of a pos file. */
  sleep(until: Millis, wakeOnChange: boolean): Promise<void>;
  /** The result of the work; undefined if it has not ended at the instant, or soon after a request or a change. */
  within<T extends object>(work: Promise<T>, until: Millis): Promise<T | undefined>;

  /** Without its bytes if it still has the stamp `known`. `alreadyKept`: entries of other pos files, which share the memory. */
  readFile(path: string, options?: ReadOptions): Promise<FileContent | undefined>;
  /** Calls `found` with the log file of each entry. */
  lookAt(entries: Iterable<KeyedEntry>, found: (entry: KeyedEntry, look: FileLook) => void): Promise<void>;
  /** The files that match the paths of a source. `alreadyKept`: files of other sources, which share the memory. Never rejects. */
  listFollowed(rules: PathRules, alreadyKept?: number): Promise<Followed>;
  /** The files that match; a chunk that is renamed meanwhile counts once. The first glob names the directory. */
  listChunks(globs: readonly string[]): Promise<ChunkListing>;

  /** All processes; of a family at least the process and its children. Rejects if nobody knows which processes there are. */
  listProcesses(family?: number): Promise<readonly ProcessRow[]>;
  /** Whether a process holds one of these files open; undefined if posidle may not see its open files. */
  holdsOpen(pid: number, paths: readonly string[]): Promise<boolean | undefined>;
  /** Checks the identity again right before the signal. Rejects if it cannot. Signal 0 only asks whether it is permitted (kill(2)). */
  signal(target: ProcessIdentity, signal: string | 0): Promise<'sent' | 'gone' | 'not-permitted'>;

  /** The last three ask the witnesses in Fluentd's workers, and never reject. `dir`: the directory of their sockets. */
  lookForFluentd(dir: string): Promise<FluentdSign>;
  /** `patience`: how long it waits for the first byte, at most 2 s. */
  askWitnesses(dir: string, question: Question, patience?: Millis): Promise<Reports>;
  /** Whether the order was done. `worker`: its name in the reports. */
  tellWitness(dir: string, worker: string, word: WitnessOrder, patience?: Millis): Promise<boolean>;
}

/** Files, sorted by path, and why there may be more. */
export type Followed = Pick<FollowedReading, 'files' | 'unknown'>;

export interface ReadOptions {
  readonly known?: string | undefined;
  readonly alreadyKept?: number;
}

export interface FileContent {
  /** Changes with the content. A write within COARSEST_TICK after the last one may leave it unchanged. */
  readonly stamp: string;
  /** Identifies the file, whatever its name and content. */
  readonly file: string;
  readonly bytes: Uint8Array | undefined;
  /** How long ago the file was last written, by the wall clock. */
  readonly writtenAgo: Millis;
}

export type WitnessOrder = 'flush' | 'stop';

/**
 * What the witness's directory shows of Fluentd. `listening`: a worker's witness takes orders. `starting`: a Ruby process of Fluentd's
 * container lives, but no witness listens. `ended`: such a process ran, and none runs now. `unknown`: nothing was ever there.
 */
export type FluentdSign = 'listening' | 'starting' | 'ended' | 'unknown';
