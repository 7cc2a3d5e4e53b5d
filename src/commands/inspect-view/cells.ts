import type { ShownFile } from '../../core/inspect/found.ts';
import { shareRead } from '../../core/inspect/order.ts';
import { LARGEST_POSITION } from '../../core/pos-file/pos-file.ts';
import { formatAge } from '../../core/text/age.ts';
import { podNameOf } from '../../core/text/container-log.ts';
import { printable } from '../../core/text/printable.ts';
import { formatBytes, type Millis } from '../../core/text/units.ts';
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

/** `at`: when the look was taken. */
export function cellsOf(file: ShownFile, at: Millis): Cells {
  const { state, lag, size, position, inode, path } = file;
  const age = ageOf(file, at);
  const cells = [
    state ?? '-',
    lag === null ? '?' : formatBytes(lag),
    percentOf(file),
    position === null ? '-' : positionText(position),
    String(size ?? '?'),
    inode || '-',
    state === 'undiscovered' ? '-' : age === undefined ? '?' : formatAge(age),
  ];
  return { cells, ...nameOf(path), state };
}

/** How long ago the position moved; undefined: not known. */
function ageOf({ movedAt }: ShownFile, at: Millis): Millis | undefined {
  return Number.isFinite(movedAt) ? at - movedAt : undefined;
}

/** A log on a Kubernetes node goes by its Pod. */
function nameOf(path: string): Pick<Cells, 'name' | 'keep'> {
  const name = printable(path);
  return podNameOf(name) ?? { name };
}

export function rawCellsOf({ position, inode, path }: ShownFile): Cells {
  const cells = [position === null ? 'unwatched' : positionText(position), inode];
  return { cells, name: printable(path), state: null };
}

function positionText(position: number): string {
  return `${position >= LARGEST_POSITION ? '≥' : ''}${position}`;
}

/** Never 100% as long as a byte is left. */
function percentOf({ size, lag, state }: Pick<ShownFile, 'size' | 'lag' | 'state'>): string {
  if (state === 'unwatched') return '-';
  return size === null || lag === null ? '?' : `${Math.floor(shareRead(size, lag) * 100)}%`;
}
