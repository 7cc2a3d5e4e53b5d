import type { ObservedFile } from '../look/observation.ts';

/** Sorts by lag, the largest first. Files with an unknown lag come before all others. */
export function byLag<File extends Pick<ObservedFile, 'lag'>>(files: readonly File[]): readonly File[] {
  const lagOf = ({ lag }: File) => lag ?? Number.MAX_VALUE;
  return files.toSorted((a, b) => lagOf(b) - lagOf(a));
}

export function shareRead(size: number, lag: number): number {
  return size === 0 ? 1 : Math.max(0, 1 - lag / size);
}
