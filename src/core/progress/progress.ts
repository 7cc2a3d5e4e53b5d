import { counted, formatBytes, type Millis } from '../text/units.ts';

/** What is left to do, and what nobody can prove. Bytes are undefined where nobody knows them. */
export interface Progress {
  /** When the question was asked. */
  readonly at: Millis;
  readonly left: readonly Left[];
  readonly doubts: readonly Doubt[];
  /** Changes whenever lines may have come into a buffer anew. */
  readonly mark: string;
  /** Files that Fluentd follows, or has followed. */
  readonly files: number;
  readonly outputs: readonly string[];
}

/** One thing that plainly lies there. */
export type Left =
  /** A worker has not started all its inputs. */
  | { readonly kind: 'starting'; readonly worker: string }
  /** A file that in_tail has not found, or may not read; lines that it has not read; a last line without its newline; what in_tail let go unread. */
  | { readonly kind: LeftFile; readonly path: string; readonly bytes: number | undefined }
  /** Records outside any buffer: Fluentd emits them by itself after a while, or when it stops. */
  | { readonly kind: 'kept'; readonly where: string; readonly records: number }
  /** Chunks of a buffer, by their ids where these are known. */
  | {
      readonly kind: 'held';
      readonly output: string;
      readonly chunks: number;
      readonly bytes: number;
      readonly ids: readonly string[] | undefined;
    };

type LeftFile = 'unfound' | 'unreadable' | 'unread' | 'unfinished' | 'let-go';

/** One thing that nobody can prove, with the fact that shows it. */
export interface Doubt {
  readonly kind: DoubtKind;
  /** The file, output or worker. */
  readonly about: string;
  readonly bytes?: number | undefined;
  /** The fact, as a sentence. */
  readonly why: string;
}

export type DoubtKind =
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
  | 'kept';

/** The chunks that have to go, as of a look that found all files read. */
export interface Owed {
  readonly mark: string;
  /** undefined: not all have an id. */
  readonly ids: ReadonlySet<string> | undefined;
}

export function owedIn({ mark, left }: Progress): Owed {
  const ids = left.flatMap((one) => (one.kind === 'held' ? [one.ids] : []));
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

/** What waiting may help against, in the order in which a line travels. */
export function isLeft(progress: Progress, ...kinds: readonly Left['kind'][]): boolean {
  return progress.left.some(({ kind }) => kinds.includes(kind));
}

const WORST = 3;

/** The three largest, and how many more. */
export function describeLeft(left: readonly Left[]): string {
  return worst(left, (one) => ('bytes' in one ? one.bytes : undefined), textOf);
}

/** `count`: how many there are in all. */
export function describeDoubts(doubts: readonly Doubt[], count = doubts.length): string {
  return worst(
    doubts,
    ({ bytes }) => bytes,
    ({ about, why }) => `${about}: ${why}`,
    count,
  );
}

function worst<One>(
  all: readonly One[],
  bytesOf: (one: One) => number | undefined,
  text: (one: One) => string,
  count = all.length,
): string {
  const sorted = all.toSorted((a, b) => (bytesOf(b) ?? 0) - (bytesOf(a) ?? 0));
  const more = count > WORST ? `; and ${count - WORST} more` : '';
  return sorted.slice(0, WORST).map(text).join('; ') + more;
}

function textOf(one: Left): string {
  switch (one.kind) {
    case 'starting':
      return `${one.worker} has not started all its inputs`;
    case 'unfound':
      return `${one.path}: Fluentd has not found it${sized(one.bytes)}`;
    case 'unreadable':
      return `${one.path}: Fluentd may not read it${sized(one.bytes)}`;
    case 'unread':
      return `${one.path}: not read to its end${sized(one.bytes)}`;
    case 'unfinished':
      return `${one.path}: its last line has no newline${sized(one.bytes)}`;
    case 'let-go':
      return `${one.path}: Fluentd let go of it before it was read${sized(one.bytes)}`;
    case 'kept':
      return `${one.where} keeps ${counted(one.records, 'record')}`;
    case 'held':
      return `${one.output} holds ${counted(one.chunks, 'chunk')} (${formatBytes(one.bytes)})`;
  }
}

function sized(bytes: number | undefined): string {
  return bytes === undefined ? '' : ` (${formatBytes(bytes)})`;
}
