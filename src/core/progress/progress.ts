import type { Millis } from '../text/units.ts';

/** Everything that is left or doubted. Bytes are undefined if unknown. */
export interface Progress {
  /** It says nothing of what came later. */
  readonly at: Millis;
  /** Fluentd may have read no line that came later. */
  readonly followedUntil: Millis;
  readonly source: 'witness' | 'files';
  /** How many workers do not run. */
  readonly away: number;
  readonly left: readonly Left[];
  readonly doubts: readonly Doubt[];
  /** Changes when new lines may have reached a buffer, and when a worker has started. */
  readonly version: string;
  /** When a line may last have reached a buffer; undefined if none did. */
  readonly movedAt: Millis | undefined;
  /** How many files Fluentd follows or has followed. */
  readonly files: number;
  /** How many lines in_tail read; undefined if nobody counted. */
  readonly lines: number | undefined;
  readonly outputs: readonly Receipt[];
  /** How many records buffers took, without events of Fluentd's own log; undefined if nobody counted. */
  readonly taken: number | undefined;
  /** Buffers that posidle cannot see. It can only flush them. */
  readonly unseen: readonly string[];
  /** The kubelet's SIGTERM does not stop Fluentd: PID 1 of its container, such as a shell, has no handler. */
  readonly ignoresSigterm: boolean;
  /** Until then lines may be on their way where posidle cannot see them. */
  readonly busyUntil: Millis;
}

/** Numbers of records of one output; undefined if nobody counted. took + left = all others, if the output has a buffer. */
export type Receipt = { readonly output: string } & { readonly [way in Way]?: number | undefined };

/** `own`: so many of `took` are events of Fluentd's own log. `left`: left over from an earlier worker, of which no witness knows. */
export const WAYS = ['took', 'own', 'left', 'delivered', 'secondary', 'aside', 'dropped', 'held'] as const;
export type Way = (typeof WAYS)[number];

/** One thing that is certainly left. */
export type Left =
  /** A file or chunk on disk; `LeftFile` says what is wrong with it. */
  | {
      readonly kind: LeftFile;
      readonly path: string;
      readonly bytes: number | undefined;
    }
  /** Records outside of buffers. Fluentd emits them this long after the last line, or, if undefined, only when it stops. */
  | {
      readonly kind: 'kept';
      readonly where: string;
      readonly records: number;
      readonly emitsAfter?: Millis | undefined;
    }
  /** Records that a thread emits, and that are in no buffer yet. */
  | { readonly kind: 'moving'; readonly threads: number }
  /** No worker has started its inputs. */
  | { readonly kind: 'unstarted'; readonly where: string }
  | Held;

export type LeftFile = 'unfound' | 'unreadable' | 'unread' | 'unfinished' | 'let-go' | 'given-up';

/** Chunks in a buffer. `ids` is undefined if not all are known. */
export interface Held {
  readonly kind: 'held';
  readonly output: string;
  readonly chunks: number;
  readonly bytes: number;
  readonly ids: readonly string[] | undefined;
  /** Only events of Fluentd's own log ever came into the buffer. */
  readonly isOwn?: boolean | undefined;
  /** `flush`: a flush helps. `retry`: the output tries again by itself. `none`: their worker has ended, and nobody will send them. */
  readonly next: 'flush' | 'retry' | 'none';
}

/** One fact that keeps the outcome from being "drained". */
export interface Doubt {
  readonly kind: DoubtKind;
  /** The file, output or worker; undefined for Fluentd as a whole. */
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
  | 'not-believed'
  | 'not-started'
  | 'worker-died'
  | 'reloaded'
  | 'witness-failed'
  | 'logged'
  | 'not-looked'
  | 'forgotten'
  | 'closed-unread'
  | 'cut-short-unread'
  | 'written-anew'
  | 'never-followed'
  | 'read-from'
  | 'nobody-saw-it-read'
  | 'directory-closed'
  | 'undelivered'
  | 'unbalanced'
  | 'unwitnessed'
  | 'may-hold'
  | 'no-ack'
  | 'main-may-run'
  | 'no-drain'
  | 'ended-early'
  | 'kept'
  | 'killed';

/** The chunks that must go: those that existed when a look found all files read. */
export interface PendingChunks {
  readonly version: string;
  /** undefined if a chunk has no known id. */
  readonly ids: ReadonlySet<string> | undefined;
  readonly taken: number | undefined;
}

export function pendingChunks({ version, left, taken }: Progress): PendingChunks {
  const ids = heldIn(left).map((held) => held.ids);
  const known = ids.includes(undefined) ? undefined : new Set(ids.flatMap((list) => list ?? []));
  return { version, ids: known, taken };
}

/** Without the chunks that came later. To wait for them would never end: other inputs may go on. */
export function ignoringNewer(
  progress: Progress,
  pending: PendingChunks | undefined,
  counts: (held: Held) => boolean = () => false,
): Progress {
  const due = pending?.version === progress.version ? pending.ids : undefined;
  if (due === undefined) return progress;
  const left = progress.left.flatMap((one) => {
    if (one.kind !== 'held' || one.ids === undefined || counts(one)) return [one];
    const ids = one.ids.filter((id) => due.has(id));
    return ids.length === 0 ? [] : [{ ...one, ids, chunks: ids.length }];
  });
  return { ...progress, left };
}

/** Without the later chunks that can hold only events of Fluentd's own log. */
export function ignoringOwnEvents(progress: Progress, pending: PendingChunks | undefined): Progress {
  const tookMore = progress.taken === undefined || progress.taken !== pending?.taken;
  return ignoringNewer(progress, pending, ({ isOwn }) => tookMore && isOwn !== true);
}

/** Whether a plugin may keep records that come out only when Fluentd stops, in a chunk that did not exist before. */
export function mayEmitAtStop({ doubts }: Progress): boolean {
  return doubts.some(({ kind }) => kind === 'may-hold');
}

export function heldIn(left: readonly Left[]): readonly Held[] {
  return left.flatMap((one) => (one.kind === 'held' ? [one] : []));
}

export function isLeft(progress: Progress, ...kinds: readonly Left['kind'][]): boolean {
  return progress.left.some(({ kind }) => kinds.includes(kind));
}

/** The unread bytes of all files, as far as they are known. */
export function bytesToRead({ left }: Pick<Progress, 'left'>): number {
  return left.reduce(
    (sum, one) => sum + (one.kind === 'unread' || one.kind === 'unfound' ? (one.bytes ?? 0) : 0),
    0,
  );
}
