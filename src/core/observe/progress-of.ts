import { joined, type Left, type Progress } from '../progress/progress.ts';
import { isAnswered, isAnyAlive, type Testimony } from '../witness/testimony.ts';
import { doubtOfDeparted, givenUpIn, ofLooks } from './looks.ts';
import type { Departed, Limits, Observation, ObservedFile } from './observation.ts';

/** Gates, flushes, status and outcome ask for the same one. */
const made = new WeakMap<Observation, { readonly limits: Limits; readonly progress: Progress }>();

/** What is known now: by the witnesses where all of them answer, else by the looks from outside, or by both. A chunk that was put aside lies there, whoever answers. */
export function progressOf(seen: Observation, limits: Limits): Progress {
  const known = made.get(seen);
  if (known?.limits === limits) return known.progress;
  const progress = combined(seen, limits);
  made.set(seen, { limits, progress });
  return progress;
}

function combined(seen: Observation, limits: Limits): Progress {
  const { witness, fluentd } = seen;
  if (witness === undefined) return ofLooks(seen, limits);
  const { testimony, progress } = witness;
  const isLast = !isAnyAlive(testimony);
  // A Fluentd that is there without its witness is another one than that which said its last word.
  if (!isAnswered(testimony) || (isLast && fluentd.kind !== 'absent'))
    return joined(progress, supplementing(progress, ofLooks(seen, limits)));
  const left = [...progress.left, ...givenUpIn(seen), ...(isLast ? writtenLater(progress, seen) : [])];
  const departed = [...seen.memory.departed.values()];
  const missed = departed.filter((file) => file.how !== 'left' && !isKnown(file, testimony));
  const gone = isLast ? goneLater(progress, departed, seen) : [];
  return { ...progress, left, doubts: [...progress.doubts, ...[...missed, ...gone].map(doubtOfDeparted)] };
}

/** A worker that does not answer, or died without a last word, is a doubt already. Where all ended well, nobody looked inside this Fluentd. */
function supplementing({ doubts }: Progress, looks: Progress): Progress {
  if (!doubts.some(({ kind }) => kind === 'no-answer' || kind === 'worker-died')) return looks;
  return { ...looks, doubts: looks.doubts.filter(({ kind }) => kind !== 'no-witness') };
}

/** A witness saw that in_tail followed this file, or noticed that it was cut short, or it tells of the loss itself. */
function isKnown({ path, inode, how, size }: Departed, { witnesses }: Testimony): boolean {
  const said = witnesses.flatMap((one) => (one.kind === 'silent' ? [] : (one.said ?? [])));
  return said.some(({ files, closed, cuts, lost }) => {
    const sights = how === 'gone' ? [...files, ...closed, ...cuts] : cuts.filter(({ had }) => had >= size);
    return sights.some((file) => file.inode === inode) || lost.some((file) => file.path === path);
  });
}

/** What came to the files after the last word, and to those that have taken their places since. */
function writtenLater({ left, reached }: Progress, { files, undiscovered }: Observation): readonly Left[] {
  const told = new Set(left.map((one) => ('path' in one ? one.path : undefined)));
  const later = (kind: 'unread' | 'unfound', path: string, bytes: number): readonly Left[] =>
    bytes > 0 && !told.has(path) ? [{ kind, path, bytes }] : [];
  return [
    ...files.flatMap((file) => later('unread', file.path, laterIn(file, reached.get(file.inode)))),
    ...undiscovered.flatMap(({ path, inode, size }) =>
      later('unfound', path, size - (reached.get(inode) ?? 0)),
    ),
  ];
}

/** What a witness tells of a position counts more than a pos file: in_tail may have written there for another file (in_tail.rb:1035). */
function laterIn({ position, size, lag, state }: ObservedFile, seen: number | undefined): number {
  if (position === null) return 0;
  const reached = seen ?? position;
  const own = size === null ? 0 : size >= reached ? size - reached : size;
  return own + (state === 'rotated' ? (lag ?? 0) - Math.max(0, (size ?? 0) - position) : 0);
}

/** Files that went away after the last word with more in them than any worker had read. */
function goneLater(
  { reached }: Progress,
  departed: readonly Departed[],
  { goneSince = 0 }: Observation,
): readonly Departed[] {
  return departed
    .filter(({ how, since }) => how === 'left' && since >= goneSince)
    .map((file) => ({ ...file, unreadBytes: file.size - (reached.get(file.inode) ?? 0) }))
    .filter(({ unreadBytes }) => unreadBytes > 0);
}
