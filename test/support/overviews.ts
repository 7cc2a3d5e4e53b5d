import { type Overview, overview, type PosFileOverview } from '../../src/core/inspect/overview.ts';
import { InspectedRows } from '../../src/core/inspect/rows.ts';
import { lagOf } from '../../src/core/look/file-state.ts';
import { EntryRows } from '../../src/core/pos-file/entry-rows.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { bytesOf } from './arbitraries.ts';
import { fileOf, inspectedPosFile, NO_CONTEXT, posText } from './builders.ts';

export interface Written {
  /** null: there is no such file. */
  readonly size: number | null;
  /** null: in_tail let it go. */
  readonly position: number | null;
  readonly age?: Millis;
  /** false: what is left is an unfinished last line. */
  readonly newlineLeft?: boolean;
}

/** What a look found of these log files, by path; one pos file has them all. */
export function overviewOf(
  files: Readonly<Record<string, Written>>,
  changes: Partial<PosFileOverview> = {},
): Overview {
  const lines = Object.entries(files).map(([path, { position }]) => ({ path, position, inode: 7 }));
  const entries = new InspectedRows(new EntryRows(bytesOf(posText(lines))));
  for (const [row, { size, age = 0, position: _, ...left }] of Object.values(files).entries()) {
    const entry = entries.rows.entry(row);
    entries.record(
      row,
      lagOf(entry, size === null ? {} : { ...fileOf(entry, size), ...left }, NO_CONTEXT),
      age,
    );
  }
  const posFile = inspectedPosFile(entries, { path: '/pos', ...changes });
  return overview({ posFiles: [posFile], undiscovered: [], unlisted: [], buffers: undefined });
}
