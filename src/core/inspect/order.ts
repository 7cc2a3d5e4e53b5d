import type { FileState } from '../look/file-state.ts';
import type { ShownFile } from './found.ts';

export const SORT_KEYS = ['lag', 'file', 'state', 'read', 'size', 'position', 'age'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** States, the worst first. */
const GRAVITY: readonly FileState[] = [
  'blocked',
  'truncated',
  'missing',
  'unreadable',
  'rotated',
  'undiscovered',
  'behind',
  'partial-line',
  'caught-up',
  'unwatched',
];
export const STATES = GRAVITY.toReversed();

export interface Which {
  /** Only these states; undefined: all. */
  readonly states: readonly FileState[] | undefined;
  /** undefined: as in the file. */
  readonly sort: SortKey | undefined;
}

export function ordered(files: readonly ShownFile[], { states, sort }: Which): readonly ShownFile[] {
  const wanted =
    states === undefined ? files : files.filter(({ state }) => state !== null && states.includes(state));
  if (sort === undefined) return wanted;
  if (sort === 'file') return wanted.toSorted((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
  return wanted.toSorted((a, b) => weightOf(b, sort) - weightOf(a, sort));
}

const LAST = Number.MAX_VALUE;

/** Share that is read; 1 for an empty file. */
export function shareRead(size: number, lag: number): number {
  return size === 0 ? 1 : Math.max(0, 1 - lag / size);
}

/** The largest comes first; what is not known comes before all that is. */
function weightOf(file: ShownFile, sort: Exclude<SortKey, 'file'>): number {
  const { state, size, lag, position, movedAt } = file;
  switch (sort) {
    case 'lag':
      return lag ?? LAST;
    case 'state':
      return state === null ? 0 : STATES.indexOf(state) + 1;
    case 'read':
      return size === null || lag === null ? LAST : 1 - shareRead(size, lag);
    case 'size':
      return size ?? LAST;
    case 'position':
      return position ?? -1;
    case 'age':
      return Math.min(LAST, -movedAt);
  }
}
