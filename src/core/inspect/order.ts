import type { FileState } from '../look/file-state.ts';
import type { ShownFile } from './found.ts';

/** The worst last. */
export const STATES: readonly FileState[] = [
  'unwatched',
  'caught-up',
  'partial-line',
  'behind',
  'undiscovered',
  'rotated',
  'unreadable',
  'missing',
  'truncated',
  'blocked',
];

/** Those in these states; undefined: all. */
export function inStates(
  files: readonly ShownFile[],
  states: readonly FileState[] | undefined,
): readonly ShownFile[] {
  return states === undefined ? files : files.filter(({ state }) => states.includes(state));
}

/** What is furthest behind comes first, and what is not known before all that is. */
export function byLag<File extends Pick<ShownFile, 'lag'>>(files: readonly File[]): readonly File[] {
  const lagOf = ({ lag }: File) => lag ?? Number.MAX_VALUE;
  return files.toSorted((a, b) => lagOf(b) - lagOf(a));
}

/** Share that is read; 1 for an empty file. */
export function shareRead(size: number, lag: number): number {
  return size === 0 ? 1 : Math.max(0, 1 - lag / size);
}
