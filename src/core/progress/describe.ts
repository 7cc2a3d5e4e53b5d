import { counted, formatBytes } from '../text/units.ts';
import type { Doubt, Left, LeftFile, Progress, Receipt } from './progress.ts';

/** A list that shows only its largest items. */
export interface Listed<One> {
  readonly count: number;
  readonly bytes: number;
  /** Ten at most: records that were counted, then the largest. */
  readonly worst: readonly One[];
}

const MOST_LISTED = 10;
const MOST_IN_WORDS = 3;

export function listed<One extends Left | Doubt>(all: readonly One[]): Listed<One> {
  const largest = all.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, MOST_LISTED);
  // The ids of chunks, and what follows from them, are internal.
  const worst = largest.map((one) => ('ids' in one ? { ...one, ids: undefined, isOwn: undefined } : one));
  return { count: all.length, bytes: all.reduce((sum, one) => sum + bytesOf(one), 0), worst };
}

/** What an outcome and GET /status tell of a progress: how many files Fluentd followed, the lines that it read, the records of outputs. */
export function progressSummary({ left, doubts, files, lines, outputs }: Progress) {
  return { left: listed(left), doubts: listed(doubts), files, lines, outputs };
}

/** Records that were counted come first: they have no size, and what is counted as lost is lost. */
function weightOf(one: Left | Doubt): number {
  return one.kind === 'undelivered' ? Number.MAX_VALUE : bytesOf(one);
}

function bytesOf(one: Left | Doubt): number {
  return ('bytes' in one ? one.bytes : undefined) ?? 0;
}

/** The three largest in words, each with its `kind`, which LIMITS.md explains, and the number of the others. */
export function describeLeft(left: Listed<Left>): string {
  return inWords(left, (one) => `${leftInWords(one)} [${one.kind}]`);
}

export function describeDoubts(doubts: Listed<Doubt>): string {
  return inWords(
    doubts,
    ({ kind, about, why }) => `${about === undefined ? '' : `${about}: `}${why} [${kind}]`,
  );
}

function inWords<One>({ count, worst }: Listed<One>, text: (one: One) => string): string {
  const more = count > MOST_IN_WORDS ? `; and ${count - MOST_IN_WORDS} more` : '';
  return worst.slice(0, MOST_IN_WORDS).map(text).join('; ') + more;
}

const OF_FILES: Readonly<Record<LeftFile, string>> = {
  unfound: 'Fluentd has not found it',
  unreadable: 'Fluentd has no permission to read it',
  unread: 'not read to its end',
  unfinished: 'its last line has no newline',
  'let-go': 'Fluentd closed it before all of it was read',
  'given-up': 'Fluentd gave up this chunk',
};

function leftInWords(one: Left): string {
  if (one.kind === 'kept') return `${one.where} keeps ${counted(one.records, 'record')}`;
  if (one.kind === 'moving')
    return `records are on their way to a buffer (${counted(one.threads, 'thread')})`;
  if (one.kind === 'unstarted') return `${one.where} has not started its inputs, so nothing was read`;
  if (one.kind === 'held') {
    const why = one.next === 'retry' ? ', because sending failed' : '';
    return `${one.output} holds ${counted(one.chunks, 'chunk')} (${formatBytes(one.bytes)})${why}`;
  }
  const size = one.bytes === undefined ? '' : ` (${formatBytes(one.bytes)})`;
  return `${one.path}: ${OF_FILES[one.kind]}${size}`;
}

const WAYS = [
  ['took', 'taken'],
  ['left', 'left over from before'],
  ['delivered', 'delivered'],
  ['secondary', 'given to its secondary'],
  ['aside', 'set aside'],
  ['dropped', 'dropped'],
  ['held', 'held'],
] as const;

/** `20 taken, 20 delivered`; empty if nobody counted. */
export function describeReceipt(receipt: Receipt): string {
  const isTold = (way: (typeof WAYS)[number][0]) =>
    receipt[way] !== undefined && (receipt[way] > 0 || way === 'took' || way === 'delivered');
  const own = receipt.own ? ` (${receipt.own} of Fluentd's own log)` : '';
  return WAYS.filter(([way]) => isTold(way))
    .map(([way, word]) => `${receipt[way]} ${word}${way === 'took' ? own : ''}`)
    .join(', ');
}

export function describeReceipts(receipts: readonly Receipt[]): string {
  const worst = receipts.map((one) => `${one.output}: ${describeReceipt(one)}`);
  return inWords({ count: worst.length, bytes: 0, worst }, (one) => one);
}
