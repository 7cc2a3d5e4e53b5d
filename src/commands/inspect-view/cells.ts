import { shareRead } from '../../core/inspect/order.ts';
import type { UndiscoveredOverview } from '../../core/inspect/overview.ts';
import type { ShownEntry } from '../../core/inspect/rows.ts';
import { LARGEST_POSITION } from '../../core/pos-file/pos-line.ts';
import { formatAge } from '../../core/text/age.ts';
import { podNameOf } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { formatBytes } from '../../core/text/units.ts';
import type { Cells, Column } from './columns.ts';

export const COLUMNS: readonly Column[] = [
  { title: 'STATE', align: 'left' },
  { title: 'LAG', align: 'right' },
  { title: 'READ', align: 'right', givesWay: 5 },
  { title: 'POSITION', align: 'right', givesWay: 2 },
  { title: 'SIZE', align: 'right', givesWay: 3 },
  { title: 'INODE', align: 'right', givesWay: 1 },
  { title: 'AGE', align: 'right', givesWay: 4 },
];

/** What stands in the file, and no more. */
export const RAW_COLUMNS: readonly Column[] = [
  { title: 'POSITION', align: 'right' },
  { title: 'INODE', align: 'right' },
];

export function cellsOf(entry: ShownEntry): Cells {
  const { state, lag, size, position, inode, age, path } = entry;
  const cells = [
    state ?? '-',
    lag === null ? '?' : formatBytes(lag),
    percentOf(entry),
    position === null ? '-' : positionText(position),
    String(size ?? '?'),
    inode,
    age === null ? '?' : formatAge(age),
  ];
  return { cells, ...nameOf(path), state };
}

/** A log on a Kubernetes node goes by its Pod. */
function nameOf(path: string): Pick<Cells, 'name' | 'keep'> {
  const name = printable(path);
  return podNameOf(name) ?? { name };
}

export function rawCellsOf({ position, inode, path }: ShownEntry): Cells {
  const cells = [position === null ? 'unwatched' : positionText(position), inode];
  return { cells, name: printable(path), state: null };
}

export function positionText(position: number): string {
  return `${position >= LARGEST_POSITION ? '≥' : ''}${position}`;
}

export function undiscoveredCells({ path, size }: UndiscoveredOverview): Cells {
  const cells = ['undiscovered', formatBytes(size), '0%', '-', String(size), '-', '-'];
  return { cells, ...nameOf(path), state: 'undiscovered' };
}

/** Never 100% as long as a byte is left. */
export function percentOf({ size, lag, state }: Pick<ShownEntry, 'size' | 'lag' | 'state'>): string {
  if (state === 'unwatched') return '-';
  return size === null || lag === null ? '?' : `${Math.floor(shareRead(size, lag) * 100)}%`;
}
