import { statSync } from 'node:fs';
import type { Millis } from '../../core/text/units.ts';

/** What changes when a file is made anew, written or touched. */
export interface Stamp {
  readonly identity: string;
  /** Since the epoch, by the clock of whoever wrote it. */
  readonly mtime: Millis;
}

/** undefined: the file is not there, or cannot be looked at. */
export function stampOf(path: string): Stamp | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat && { identity: `${stat.ino} ${stat.mtimeNs}`, mtime: Number(stat.mtimeMs) };
  } catch {
    return undefined;
  }
}
