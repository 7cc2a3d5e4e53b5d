import { joined, type Left, type Progress } from '../progress/progress.ts';
import { isAnswered, isAnyAlive } from '../witness/testimony.ts';
import { givenUpIn, ofLooks } from './looks.ts';
import type { Limits, Observation } from './observation.ts';

/** What is known now: by the witnesses where all of them answer, else by the looks from outside, or by both. A chunk that was put aside lies there, whoever answers. */
export function progressOf(seen: Observation, limits: Limits): Progress {
  const { witness, fluentd } = seen;
  if (witness === undefined) return ofLooks(seen, limits);
  const { testimony, progress } = witness;
  const isLast = !isAnyAlive(testimony);
  // A Fluentd that is there without its witness is another one than that which said its last word.
  if (!isAnswered(testimony) || (isLast && fluentd.kind !== 'absent'))
    return joined(progress, ofLooks(seen, limits));
  const left = [...progress.left, ...givenUpIn(seen), ...(isLast ? writtenLater(progress, seen) : [])];
  return { ...progress, left };
}

/** What came to the files after the last word. */
function writtenLater({ left, reached }: Progress, { files, undiscovered }: Observation): readonly Left[] {
  const told = new Set(left.map((one) => ('path' in one ? one.path : undefined)));
  const unread = (path: string, inode: string, size: number, position: number): readonly Left[] => {
    const bytes = size - Math.max(position, reached.get(inode) ?? 0);
    return bytes > 0 && !told.has(path) ? [{ kind: 'unread', path, bytes }] : [];
  };
  return [
    ...files.flatMap(({ path, inode, size, position }) =>
      size === null || position === null ? [] : unread(path, inode, size, position),
    ),
    ...undiscovered.flatMap(({ path, inode, size }) => unread(path, inode, size, 0)),
  ];
}
