import type { BuffersReading } from '../fluentd/buffer-contents.ts';
import type { FollowedReading } from '../look/snapshot.ts';
import { type UndiscoveredFile, undiscoveredIn } from '../look/undiscovered.ts';
import type { EntryRows } from '../pos-file/entry-rows.ts';
import type { UnparsableLine } from '../pos-file/pos-line.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import type { Finding } from './pos-file-diagnosis.ts';
import { type InspectedRows, noTotals, type Totals } from './rows.ts';

/** What one look of `inspect` found. */
export interface Overview {
  readonly posFiles: readonly PosFileOverview[];
  /** Files that in_tail should read and has no entry for yet. */
  readonly undiscovered: readonly UndiscoveredOverview[];
  /** Why it is not known which files are to be read. */
  readonly unlisted: readonly string[];
  /** undefined: no configuration is known. */
  readonly buffers: BuffersReading | undefined;
  readonly totals: Totals;
  /** Bytes left in all files; null: not known. */
  readonly lag: number | null;
  /** Everything is read, and nothing is unknown. */
  readonly caughtUp: boolean;
  /** How long the oldest unread byte has waited; null: not known; undefined: a single look cannot tell. */
  readonly late?: Millis | null;
  /** undefined: only one look was taken. */
  readonly verdict?: Verdict;
  /** How many files are what by themselves. */
  readonly verdicts?: Readonly<Record<Verdict['is'], number>>;
  /** Of one file, before the next look. */
  readonly verdictOf?: (file: Place | UndiscoveredOverview) => Verdict;
}

/** One entry of an inspection. */
export interface Place {
  readonly posFile: PosFileOverview;
  readonly row: number;
}

/** What a window of looks says of all files, the worst last. */
export const VERDICTS = ['ok', 'falling behind', 'unknown', 'stalled', 'losing'] as const;

export interface Verdict {
  readonly is: (typeof VERDICTS)[number];
  /** One sentence: why, and what to do. */
  readonly why: string;
}

export interface PosFileOverview {
  readonly path: string;
  readonly entries: InspectedRows;
  readonly unparsable: readonly UnparsableLine[];
  /** How long ago it was written; null where there is none, or it came through a pipe. */
  readonly age: Millis | null;
  /** Why nothing can be said about it. */
  readonly error?: string;
  /** It is a pos file, and empty: no failure of the look. */
  readonly empty: boolean;
  /** What is odd in the pos file itself; undefined: not looked for. */
  readonly findings?: readonly Finding[];
  /** Log files that could not be looked at, and why. */
  readonly troubles: readonly Trouble[];
  /** Files in the place of a renamed one, without an entry of their own: in_tail turns to them when it has read the old one. */
  readonly successors: readonly UndiscoveredOverview[];
}

export interface Trouble {
  readonly path: string;
  readonly error: string;
}

export interface UndiscoveredOverview extends UndiscoveredFile {
  readonly posFile: string;
  readonly inode: string;
}

export interface Parts extends Pick<Overview, 'posFiles' | 'undiscovered' | 'unlisted' | 'buffers'> {}

/** The sum of what was found. */
export function overview({ posFiles, undiscovered: listed, unlisted, buffers }: Parts): Overview {
  const totals = noTotals();
  for (const { entries } of posFiles)
    for (const key of Object.keys(totals) as (keyof Totals)[]) totals[key] += entries.totals[key];
  // With follow_inodes a successor is listed as well.
  const told = new Set(listed.map(({ path }) => path));
  const successors = posFiles.flatMap((posFile) => posFile.successors).filter(({ path }) => !told.has(path));
  const undiscovered = [...listed, ...successors];
  for (const { size } of undiscovered) addUnread(totals, size);
  const isKnown = isSeen({ posFiles, unlisted }) && totals.unknown === 0;
  return {
    posFiles,
    undiscovered,
    unlisted,
    buffers,
    totals,
    lag: isKnown ? totals.lag : null,
    caughtUp: isKnown && totals.unread === 0,
  };
}

/** Everything could be looked at. */
function isSeen({ posFiles, unlisted }: Pick<Overview, 'posFiles' | 'unlisted'>): boolean {
  return unlisted.length === 0 && posFiles.every(({ error }) => error === undefined);
}

/** Of the files that the sources take, those that no entry stands for. */
export function undiscoveredFiles(
  followed: readonly FollowedReading[],
  posFiles: readonly PosFileOverview[],
): readonly UndiscoveredOverview[] {
  return followed.flatMap((source) => {
    const { posFile } = source;
    const rows = posFiles.find(({ path }) => path === posFile)?.entries.rows;
    if (rows === undefined || source.files.length === 0) return [];
    const inodes = new Map(source.files.map(({ path, inode }) => [path, inode]));
    return undiscoveredIn(source, entriesOf(rows, source)).map((file) => ({
      ...file,
      posFile,
      inode: inodes.get(file.path) ?? '',
    }));
  });
}

/** Only the entries that the source's files can belong to: a pos file may hold a million. */
function entriesOf(rows: EntryRows, { files }: FollowedReading) {
  const paths = new Set(files.map(({ path }) => path));
  const inodes = new Set(files.map(({ inode }) => inode));
  const entries = [];
  for (const entry of rows.latest())
    if (paths.has(entry.path) || inodes.has(entry.inode)) entries.push(entry);
  return entries;
}

/** Adds a file of which nothing is read. */
function addUnread(totals: Totals, size: number): void {
  totals.files += 1;
  totals.lag += size;
  totals.size += size;
  if (size === 0) return;
  totals.left += 1;
  totals.unread += 1;
  totals.toRead += size;
}

/** `behind by 12.4 MiB in 2 of 31 files`. */
export function summaryOf({ posFiles, totals, lag, caughtUp, late }: Overview): string {
  const files = counted(totals.files, 'file');
  const unknown = unjudged(posFiles)
    .map((what) => `; ${what}`)
    .join('');
  if (totals.left === 0) {
    const known = caughtUp ? `caught up: ${files}` : `nothing left in ${files}`;
    return `${lag === null ? `lag unknown${totals.files > 0 ? `; ${known}` : ''}` : known}${unknown}`;
  }
  if (totals.unknown === totals.left) return `lag unknown for ${totals.left} of ${files}${unknown}`;
  const how = caughtUp ? 'caught up, but for unfinished last lines of' : 'behind by';
  const span = caughtUp || !late ? '' : ` (${formatDuration(late)})`;
  const bytes = `${lag === null ? 'at least ' : ''}${formatBytes(totals.lag)}${span}`;
  return `${how} ${bytes} in ${totals.left} of ${files}${unknown}`;
}

function unjudged(posFiles: readonly PosFileOverview[]): readonly string[] {
  const failed = posFiles.filter(({ error }) => error !== undefined);
  const empty = failed.filter((posFile) => posFile.empty).length;
  const unread = failed.length - empty;
  return [
    ...(unread === 0 ? [] : [`could not read ${counted(unread, 'pos file')}`]),
    ...(empty === 0 ? [] : [`${counted(empty, 'pos file')} ${empty === 1 ? 'is' : 'are'} empty`]),
  ];
}
