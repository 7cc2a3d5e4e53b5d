/** Turns what the witnesses say about files into doubts. */
import type { Doubt, DoubtKind } from '../progress/progress.ts';
import { groupedBy } from '../text/lists.ts';
import type { FileReport, Report, WorkerReport } from './answer.ts';
import type { FileHistory, Reached } from './file-history.ts';

const LOST: ReadonlyMap<string, readonly [DoubtKind, string]> = new Map([
  ['closed', ['closed-unread', 'Fluentd closed it before all of it was read']],
  ['written anew', ['written-anew', 'what Fluentd had read or seen of it is no longer there']],
]);
const NEVER = ['never-followed', 'Fluentd never followed it'] as const;

/** `workers`: the oldest worker first. */
export function doubtsOfFiles(workers: readonly WorkerReport[], history: FileHistory): readonly Doubt[] {
  /** By file and input, the last report of earlier workers. */
  const before = new Map<string, FileReport>();
  const unread = unreadSiblings(workers, history);
  const ofSiblings = new Set(unread.map(({ identity }) => identity));
  const doubts = workers.flatMap((one) => {
    const own = [...doubtsOfWorkersFiles(one, before), ...doubtsOfLost(one, ofSiblings, history)];
    for (const file of [...one.report.closed, ...one.report.files]) before.set(file.key, file);
    return own;
  });
  return [
    ...doubts,
    ...doubtsOfGaps(workers),
    ...unread.map(({ path, size }) => doubt('nobody-saw-it-read', path, 'nobody saw Fluentd read it', size)),
  ];
}

/** Files that disappeared between two workers. One that was renamed is a sibling. */
function doubtsOfGaps(workers: readonly WorkerReport[]): readonly Doubt[] {
  const later = { readers: new Set<string>(), files: new Set<string>(), siblings: new Set<string>() };
  return workers.toReversed().flatMap(({ kind, report }) => {
    const gone = report.closed
      .filter(({ wasFollowed }) => kind === 'gone' && wasFollowed)
      .filter(({ key, reader }) => later.readers.has(reader) && !later.files.has(key))
      .filter(({ identity }) => !later.siblings.has(identity));
    if (kind === 'gone' || report.isReady) {
      for (const reader of report.readers) later.readers.add(reader);
      for (const { key } of [...report.files, ...report.closed, ...report.unfound]) later.files.add(key);
      for (const { identity } of report.siblings) later.siblings.add(identity);
    }
    return gone.map(({ path }) =>
      doubt('closed-unread', path, 'it went away while no worker of Fluentd followed it'),
    );
  });
}

function doubtsOfStart(
  { path, key, position, size, print, isOld }: Report['starts'][number],
  before: ReadonlyMap<string, FileReport>,
): readonly Doubt[] {
  if (size !== undefined && size < position) return [cutShort(path, 'while Fluentd did not follow it', size)];
  const known = before.get(key);
  if (known?.position !== position)
    return isOld && known === undefined
      ? []
      : [doubt('read-from', path, `Fluentd began at byte ${position}`, position)];
  return known.print === print
    ? []
    : [doubt('written-anew', path, `what a worker had read before byte ${position} is no longer there`)];
}

function doubtsOfWorkersFiles(
  { report }: WorkerReport,
  before: ReadonlyMap<string, FileReport>,
): readonly Doubt[] {
  return [
    ...report.cuts
      .filter(
        ({ position, sizeBefore, lines, unfinished }) => position < sizeBefore || lines > 0 || unfinished > 0,
      )
      .map(({ path, position, sizeBefore, unfinished }) =>
        cutShort(path, 'before it was read', Math.max(unfinished, sizeBefore - position)),
      ),
    ...report.closed
      .filter(({ position, size }) => size !== undefined && size < position)
      .map(({ path, size }) => cutShort(path, 'and Fluentd let go of it without noticing that', size)),
    ...[...report.files, ...report.closed]
      .filter(({ size, inode }) => size === undefined && inode !== '0')
      .map(({ path }) => doubt('closed-unread', path, GONE)),
    ...report.starts.flatMap((start) => doubtsOfStart(start, before)),
    ...report.denied.map((path) => doubt('directory-closed', path, path.endsWith('/') ? CLOSED : ASTRAY)),
  ];
}

const CLOSED = 'Fluentd may not list or enter it';
const ASTRAY = 'it is a link that Fluentd cannot follow';
const GONE = 'it is gone, and nobody knows how much of it was left';

function cutShort(path: string, how: string, bytes: number | undefined): Doubt {
  return doubt('cut-short-unread', path, `it was cut short ${how}`, bytes);
}

/** Several files of one name are one doubt. While SIGUSR2 replaces a worker, the old one may have read what the new one never followed. */
function doubtsOfLost(
  { report }: WorkerReport,
  ofSiblings: ReadonlySet<string>,
  history: FileHistory,
): readonly Doubt[] {
  const unread = report.lost.filter(
    (file) => LOST.has(file.why) || !(ofSiblings.has(file.identity) || history.hasRead(file)),
  );
  return [...groupedBy(unread, ({ path, why }) => `${why} ${path}`).values()].map((group) => {
    const [first] = group;
    const [kind, why] = LOST.get(first.why) ?? NEVER;
    const times = group.length === 1 ? '' : ` (${group.length} files of this name)`;
    const bytes = group.reduce((sum, one) => sum + one.bytes, 0);
    return doubt(kind, first.path, why + times, bytes || undefined);
  });
}

type Sibling = Report['siblings'][number];

/**
 * The siblings that nothing explains. Two conclusions are drawn only here: a gzip file of the same length and beginning is the compressed
 * form of a closed file that was read and has lost its name (before that the witness tells no beginning), and a fitting file is a
 * copytruncate copy. An explanation holds for later workers, too.
 */
function unreadSiblings(workers: readonly WorkerReport[], { reached }: FileHistory): readonly Sibling[] {
  /** By length and beginning, the closed files that were read. Two inputs may have read the same one. */
  const packed = new Map<string, Set<string>>();
  const explained = new Set<string>();
  return workers.flatMap(({ report: { siblings, closed, cuts, unfound } }) => {
    for (const { position, size, head, identity } of closed) {
      const key = `${size} ${head}`;
      if (size === position) packed.set(key, (packed.get(key) ?? new Set()).add(identity));
    }
    const unused = new Set(cuts);
    const isRead = (sibling: Sibling) =>
      // Only by its number is a file known that had left its path when in_tail let go of it.
      isReached(reached.get(sibling.identity) ?? reached.get(sibling.inode), sibling) ||
      takePacked(packed, sibling) ||
      takeCut(cuts, unused, sibling);
    const named = new Set(unfound.map(({ identity }) => identity));
    const other = siblings.filter(({ identity }) => !named.has(identity));
    const open = other.filter((sibling) => !explained.has(stateOf(sibling)));
    const unread = new Set(open.filter((sibling) => !isRead(sibling)));
    for (const sibling of open) if (!unread.has(sibling)) explained.add(stateOf(sibling));
    return [...unread];
  });
}

/** Whether a worker has read to its end. A file that was written later has only taken the inode number. */
function isReached(last: Reached | undefined, { size = Number.POSITIVE_INFINITY, at }: Sibling): boolean {
  return last !== undefined && last.position >= size && last.at >= at;
}

function stateOf({ identity, size, at }: Sibling): string {
  return `${identity} ${size} ${at}`;
}

/** Removes the closed file, because each one explains only one sibling. */
function takePacked(packed: ReadonlyMap<string, Set<string>>, { plain, head }: Sibling): boolean {
  if (plain === undefined || head === undefined) return false;
  const fitting = packed.get(`${plain} ${head}`);
  const [identity] = fitting ?? [];
  return identity !== undefined && fitting?.delete(identity) === true;
}

/**
 * Removes the cut that made a copy, because each one explains only one sibling. A copy was written just before the cut, is not longer than
 * what was read, and has the same bytes.
 */
function takeCut(
  cuts: Report['cuts'],
  unused: Set<Report['cuts'][number]>,
  { size, plain, cuts: numbers, at }: Sibling,
): boolean {
  const bytes = plain ?? size ?? Number.POSITIVE_INFINITY;
  const cut = numbers
    .flatMap((number) => cuts[number] ?? [])
    .find((one) => unused.has(one) && bytes <= one.position && one.at >= at - 1_000 && one.at <= at + 60_000);
  return cut !== undefined && unused.delete(cut);
}

export function doubt(kind: DoubtKind, about: string, why: string, bytes?: number): Doubt {
  return { kind, about, why, ...(bytes !== undefined && { bytes }) };
}
