/** Turns what the witnesses say about files into doubts. */
import type { Doubt, DoubtKind } from '../progress/progress.ts';
import type { FileSight, Said } from './answer.ts';
import { firstNot, groupedBy } from './lists.ts';

/** One worker's answer (`alive`) or last word (`gone`). */
export type Statement = { readonly worker: string; readonly kind: 'alive' | 'gone'; readonly said: Said };

const LOST: Readonly<Record<string, DoubtKind>> = {
  closed: 'closed-unread',
  'written anew': 'written-anew',
  'never followed': 'never-followed',
};

/** `statements`: the oldest worker first. `reached`: by inode, how far Fluentd has read. */
export function doubtsOfSights(
  statements: readonly Statement[],
  reached: ReadonlyMap<string, number>,
): readonly Doubt[] {
  /** By file and input, the last statement of earlier workers. */
  const before = new Map<string, FileSight>();
  const doubts = statements.flatMap((one) => {
    const own = doubtsOfSight(one, before);
    for (const file of [...one.said.closed, ...one.said.files]) before.set(file.key, file);
    return own;
  });
  const unread = unreadSiblings(statements, reached);
  return [
    ...doubts,
    ...doubtsOfGaps(statements),
    ...unread.map(({ path, size }) => doubt('nobody-saw-it-read', path, 'nobody saw Fluentd read it', size)),
  ];
}

/** Files that disappeared between two workers. */
function doubtsOfGaps(statements: readonly Statement[]): readonly Doubt[] {
  const later = { readers: new Set<string>(), files: new Set<string>() };
  return statements.toReversed().flatMap(({ kind, said }) => {
    const gone = said.closed
      .filter(({ wasFollowed }) => kind === 'gone' && wasFollowed)
      .filter(({ key, reader }) => later.readers.has(reader) && !later.files.has(key));
    if (kind === 'gone' || said.isReady) {
      for (const reader of said.readers) later.readers.add(reader);
      for (const { key } of [...said.files, ...said.closed]) later.files.add(key);
    }
    return gone.map(({ path }) =>
      doubt('closed-unread', path, 'it went away while no worker of Fluentd followed it'),
    );
  });
}

function doubtsOfStart(
  { path, key, position, size, print, isOld }: Said['starts'][number],
  before: ReadonlyMap<string, FileSight>,
): readonly Doubt[] {
  if (size !== undefined && size < position)
    return [doubt('cut-short-unread', path, 'it was cut short while Fluentd did not follow it', size)];
  const known = before.get(key);
  if (known?.position !== position)
    return isOld && known === undefined
      ? []
      : [doubt('read-from', path, `Fluentd began at byte ${position}`, position)];
  return known.print === print
    ? []
    : [doubt('written-anew', path, `what a worker had read before byte ${position} is no longer there`)];
}

function doubtsOfSight(
  { worker, said }: Statement,
  before: ReadonlyMap<string, FileSight>,
): readonly Doubt[] {
  return [
    ...said.cuts
      .filter(({ position, had, lines, unfinished }) => position < had || lines > 0 || unfinished > 0)
      .map(({ path, position, had, unfinished }) =>
        doubt(
          'cut-short-unread',
          path,
          'it was cut short before it was read',
          Math.max(unfinished, had - position),
        ),
      ),
    ...said.closed
      .filter(({ position, size }) => size !== undefined && size < position)
      .map(({ path, size }) =>
        doubt(
          'cut-short-unread',
          path,
          'it was cut short, and Fluentd let go of it without noticing that',
          size,
        ),
      ),
    ...[...said.files, ...said.closed]
      .filter(({ size, inode }) => size === undefined && inode !== '0')
      .map(({ path }) =>
        doubt('closed-unread', path, 'it is gone, and nobody knows how much of it was left'),
      ),
    ...said.lost.map(({ path, why }) =>
      doubt(LOST[why] ?? 'never-followed', path, `Fluentd lost sight of it (${why})`),
    ),
    ...said.starts.flatMap((start) => doubtsOfStart(start, before)),
    ...said.denied.map((path) => doubt('directory-closed', path, `${worker} may not list or enter it`)),
  ];
}

type Sibling = Said['siblings'][number];

/**
 * The siblings that nothing explains. Two conclusions are drawn only here: a gzip file of the same size is the compressed form of a closed
 * file that was read, and a fitting file is a copytruncate copy. An explanation holds for later workers, too.
 */
function unreadSiblings(
  statements: readonly Statement[],
  reached: ReadonlyMap<string, number>,
): readonly Sibling[] {
  /** By size, the number of closed files that were read. */
  const packed = new Map<number, number>();
  const explained = new Set<string>();
  return statements.flatMap(({ said: { siblings, closed, cuts } }) => {
    for (const { position, size } of closed)
      if (size === position) packed.set(size, (packed.get(size) ?? 0) + 1);
    const shortestFirst = cuts.toSorted((one, other) => one.position - other.position);
    const copied = groupedBy(shortestFirst, ({ at }) => String(at));
    const isRead = (sibling: Sibling) =>
      // By any worker.
      (reached.get(sibling.inode) ?? -1) >= (sibling.size ?? Number.POSITIVE_INFINITY) ||
      takePacked(packed, sibling) ||
      takeCut(copied, sibling);
    const open = siblings.filter((sibling) => !explained.has(identityOf(sibling)));
    const unread = new Set(open.filter((sibling) => !isRead(sibling)));
    for (const sibling of open) if (!unread.has(sibling)) explained.add(identityOf(sibling));
    return [...unread];
  });
}

function identityOf({ inode, size, at }: Sibling): string {
  return `${inode} ${size} ${at}`;
}

/** Removes the closed file, because each one explains only one sibling. */
function takePacked(packed: Map<number, number>, { plain }: Sibling): boolean {
  if (plain === undefined) return false;
  const count = packed.get(plain) ?? 0;
  if (count > 0) packed.set(plain, count - 1);
  return count > 0;
}

/**
 * Removes the cut that made a copy, because each one explains only one sibling. A copy was written just before the cut, is not longer than
 * what was read, and has the same bytes.
 */
function takeCut(
  copied: ReadonlyMap<string, Said['cuts'][number][]>,
  { size, plain, cuts, at }: Sibling,
): boolean {
  const bytes = plain ?? size ?? Number.POSITIVE_INFINITY;
  return cuts.some((time) => {
    const age = Number(time) - at;
    if (age < -1_000 || age > 60_000) return false;
    const sameTime = copied.get(time) ?? [];
    return (
      sameTime.splice(
        firstNot(sameTime, ({ position }) => position < bytes),
        1,
      ).length > 0
    );
  });
}

export function doubt(kind: DoubtKind, about: string, why: string, bytes?: number): Doubt {
  return { kind, about, why, ...(bytes !== undefined && { bytes }) };
}
