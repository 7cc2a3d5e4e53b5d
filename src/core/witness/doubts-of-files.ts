/** Turns what the witnesses say about files into doubts. */
import type { Doubt, DoubtKind } from '../progress/progress.ts';
import type { FileSight, Said } from './answer.ts';

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
  const doubts = statements.flatMap((one, index) => {
    const own = [...doubtsOfSight(one, before), ...doubtsOfGap(one, statements.slice(index + 1))];
    for (const file of [...one.said.closed, ...one.said.files]) before.set(file.key, file);
    return own;
  });
  const unread = unreadSiblings(statements, reached);
  return [
    ...doubts,
    ...unread.map(({ path, size }) => doubt('nobody-saw-it-read', path, 'nobody saw Fluentd read it', size)),
  ];
}

/** Files that disappeared between two workers. */
function doubtsOfGap({ kind, said }: Statement, later: readonly Statement[]): readonly Doubt[] {
  if (kind === 'alive') return [];
  const next = later.flatMap((one) => (one.kind === 'gone' || one.said.isReady ? [one.said] : []));
  const readers = new Set(next.flatMap((one) => one.readers));
  const seen = new Set(next.flatMap(({ files, closed }) => [...files, ...closed].map(({ key }) => key)));
  return said.closed
    .filter(({ key, reader, wasFollowed }) => wasFollowed && readers.has(reader) && !seen.has(key))
    .map(({ path }) => doubt('closed-unread', path, 'it went away while no worker of Fluentd followed it'));
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

/**
 * The siblings that nothing explains. Two conclusions are drawn only here: a gzip file of the same size is the compressed form of a closed
 * file that was read, and a fitting file is a copytruncate copy. An explanation holds for later workers, too.
 */
function unreadSiblings(
  statements: readonly Statement[],
  reached: ReadonlyMap<string, number>,
): readonly Said['siblings'][number][] {
  const packed: FileSight[] = [];
  const explained = new Set<string>();
  return statements.flatMap(({ said: { siblings, closed, cuts } }) => {
    const copied = [...cuts];
    packed.push(...closed);
    const unread = siblings.filter(
      (sibling) =>
        !explained.has(identityOf(sibling)) &&
        // Not read by any worker.
        (reached.get(sibling.inode) ?? -1) < (sibling.size ?? Number.POSITIVE_INFINITY) &&
        !takeOne(packed, ({ position, size }) => position === sibling.plain && size === position) &&
        !takeOne(copied, (cut) => isCopy(sibling, cut)),
    );
    for (const sibling of siblings) if (!unread.includes(sibling)) explained.add(identityOf(sibling));
    return unread;
  });
}

function identityOf({ inode, size, at }: Said['siblings'][number]): string {
  return `${inode} ${size} ${at}`;
}

/** Removes the item, because each one explains only one file. */
function takeOne<One>(list: One[], fits: (one: One) => boolean): boolean {
  const found = list.findIndex(fits);
  if (found >= 0) list.splice(found, 1);
  return found >= 0;
}

/** Whether a sibling is the copy of a cut file: written just before the cut, not longer than what was read, and with the same bytes. */
function isCopy({ size, plain, cuts, at }: Said['siblings'][number], cut: Said['cuts'][number]): boolean {
  const age = cut.at - at;
  const isRead = (plain ?? size ?? Number.POSITIVE_INFINITY) <= cut.position;
  return cuts.includes(String(cut.at)) && isRead && age >= -1_000 && age <= 60_000;
}

export function doubt(kind: DoubtKind, about: string, why: string, bytes?: number): Doubt {
  return { kind, about, why, ...(bytes !== undefined && { bytes }) };
}
