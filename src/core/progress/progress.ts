import type { Millis } from '../text/units.ts';

/** What is left to do, and what nobody can prove. Bytes are undefined where nobody knows them. */
export interface Progress {
  readonly at: Millis;
  readonly left: readonly Left[];
  readonly doubts: readonly Doubt[];
  /** Changes whenever lines may have come into a buffer anew. */
  readonly mark: string;
  /** Files that Fluentd follows, or has followed. */
  readonly files: number;
  /** By inode, how far a witness saw each of them read. */
  readonly reached: ReadonlyMap<string, number>;
  readonly outputs: readonly string[];
  /** Buffers that nobody can look into: all that helps is a flush. */
  readonly unseen: readonly string[];
  /** Until then lines may be on their way where nobody sees them. */
  readonly inFlightUntil: Millis;
}

/** One thing that plainly lies there. */
export type Left =
  /** A file that in_tail has not found, or may not read; lines that it has not read; a last line without its newline; what in_tail let go unread; a chunk that an output gave up. */
  | { readonly kind: LeftFile; readonly path: string; readonly bytes: number | undefined }
  /** Records outside any buffer: Fluentd emits them by itself after a while, or when it stops. */
  | { readonly kind: 'kept'; readonly where: string; readonly records: number }
  | Held;

export type LeftFile = 'unfound' | 'unreadable' | 'unread' | 'unfinished' | 'let-go' | 'given-up';

/** Chunks of a buffer, by their ids where these are known. */
export interface Held {
  readonly kind: 'held';
  readonly output: string;
  readonly chunks: number;
  readonly bytes: number;
  readonly ids: readonly string[] | undefined;
  /** The output waits for its next try. */
  readonly isRetrying: boolean;
}

/** One thing that nobody can prove, with the fact that shows it. */
export interface Doubt {
  readonly kind: DoubtKind;
  /** The file, output or worker; undefined: all of Fluentd. */
  readonly about?: string;
  readonly bytes?: number | undefined;
  readonly why: string;
}

export type DoubtKind =
  | 'no-witness'
  | 'not-looked-at'
  | 'pos-file'
  | 'empty-pos-file'
  | 'unlisted'
  | 'unseen'
  | 'no-answer'
  | 'not-started'
  | 'worker-died'
  | 'reloaded'
  | 'not-heard'
  | 'heard'
  | 'not-looked'
  | 'forgotten'
  | 'closed-unread'
  | 'cut-short-unread'
  | 'written-anew'
  | 'never-followed'
  | 'read-from'
  | 'nobody-saw-it-read'
  | 'directory-closed'
  | 'may-hold'
  | 'no-ack'
  | 'main-may-run'
  | 'kept'
  | 'killed';

/** The chunks that have to go, as of a look that found all files read. */
export interface Owed {
  readonly mark: string;
  /** undefined: not all have an id. */
  readonly ids: ReadonlySet<string> | undefined;
}

export function owedIn({ mark, left }: Progress): Owed {
  const ids = heldIn(left).map((held) => held.ids);
  return { mark, ids: ids.includes(undefined) ? undefined : new Set(ids.flatMap((list) => list ?? [])) };
}

/** The same without the chunks that came later: they hold no line of the files that were read then. */
export function withoutLater(progress: Progress, owed: Owed | undefined): Progress {
  const due = owed?.mark === progress.mark ? owed.ids : undefined;
  if (due === undefined) return progress;
  const left = progress.left.flatMap((one) => {
    if (one.kind !== 'held' || one.ids === undefined) return [one];
    const ids = one.ids.filter((id) => due.has(id));
    return ids.length === 0 ? [] : [{ ...one, ids, chunks: ids.length }];
  });
  return { ...progress, left };
}

export function heldIn(left: readonly Left[]): readonly Held[] {
  return left.flatMap((one) => (one.kind === 'held' ? [one] : []));
}

export function isLeft(progress: Progress, ...kinds: readonly Left['kind'][]): boolean {
  return progress.left.some(({ kind }) => kinds.includes(kind));
}

/** What the looks tell beside witnesses of whom not all have answered. */
export function joined(one: Progress, other: Progress): Progress {
  return {
    at: Math.min(one.at, other.at),
    left: [...one.left, ...other.left],
    doubts: [...one.doubts, ...other.doubts],
    mark: `${one.mark} ${other.mark}`,
    files: Math.max(one.files, other.files),
    reached: one.reached,
    outputs: [...new Set([...one.outputs, ...other.outputs])],
    unseen: [...one.unseen, ...other.unseen],
    inFlightUntil: Math.max(one.inFlightUntil, other.inFlightUntil),
  };
}
