import type { FileState } from '../look/file-state.ts';
import type { ObservedFile } from '../observe/observation.ts';

export function inStates(
  files: readonly ObservedFile[],
  states: readonly FileState[] | undefined,
): readonly ObservedFile[] {
  return states === undefined ? files : files.filter(({ state }) => states.includes(state));
}

/** What is furthest behind comes first, and what is not known before all that is. */
export function byLag<File extends Pick<ObservedFile, 'lag'>>(files: readonly File[]): readonly File[] {
  const lagOf = ({ lag }: File) => lag ?? Number.MAX_VALUE;
  return files.toSorted((a, b) => lagOf(b) - lagOf(a));
}

export function shareRead(size: number, lag: number): number {
  return size === 0 ? 1 : Math.max(0, 1 - lag / size);
}
