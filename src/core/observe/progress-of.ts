import { joined, type Left, type Progress } from '../progress/progress.ts';
import { isAnswered, isAnyAlive, type Testimony } from '../witness/testimony.ts';
import { doubtOfDeparted, givenUpIn, ofLooks } from './looks.ts';
import type { Departed, Limits, Observation, ObservedFile } from './observation.ts';

/** A cache, because gates, flushes, status and outcome need the same Progress. */
const made = new WeakMap<Observation, { readonly limits: Limits; readonly progress: Progress }>();

/** Uses the witnesses if all have answered, else both they and the looks from outside. Chunks that Fluentd put aside always count. */
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
  // If all witnesses have ended but Fluentd runs, it is another Fluentd.
  if (!isAnswered(testimony) || (isLast && fluentd.kind !== 'absent'))
    return joined(progress, looksToAdd(progress, ofLooks(seen, limits)));
  const left = [...progress.left, ...givenUpIn(seen), ...(isLast ? writtenLater(progress, seen) : [])];
  const departed = [...seen.memory.departed.values()];
  const missed = departed.filter((file) => file.how !== 'left' && !isKnown(file, testimony));
  const gone = isLast ? goneLater(progress, departed, seen) : [];
  return { ...progress, left, doubts: [...progress.doubts, ...[...missed, ...gone].map(doubtOfDeparted)] };
}

/** Drops `no-witness` if a worker's doubt already says that. If all workers ended properly, nobody looked inside the Fluentd that runs now. */
function looksToAdd({ doubts }: Progress, looks: Progress): Progress {
  if (!doubts.some(({ kind }) => kind === 'no-answer' || kind === 'worker-died')) return looks;
  return { ...looks, doubts: looks.doubts.filter(({ kind }) => kind !== 'no-witness') };
}

/** Whether a witness saw that in_tail followed this file or noticed the cut, or reports the loss itself. */
function isKnown({ path, inode, how, size }: Departed, { witnesses }: Testimony): boolean {
  const said = witnesses.flatMap((one) => (one.kind === 'silent' ? [] : (one.said ?? [])));
  return said.some(({ files, closed, cuts, lost }) => {
    const sights = how === 'gone' ? [...files, ...closed, ...cuts] : cuts.filter(({ had }) => had >= size);
    return sights.some((file) => file.inode === inode) || lost.some((file) => file.path === path);
  });
}

/** Bytes that were written after the last word, to the same files or to new ones at their paths. */
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

/** A witness's position counts more than the pos file's, where in_tail may have written another file's position (in_tail.rb:1035). */
function laterIn({ position, size, lag, state }: ObservedFile, seen: number | undefined): number {
  if (position === null) return 0;
  const reached = seen ?? position;
  const own = size === null ? 0 : size >= reached ? size - reached : size;
  return own + (state === 'rotated' ? (lag ?? 0) - Math.max(0, (size ?? 0) - position) : 0);
}

/** Files that went away after the last word with bytes that no worker had read. */
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
