import type { UnparsableLine } from '../pos-file/pos-line.ts';
import { type ContainerLog, containerLogOf } from '../text/container-log.ts';
import { rowsOf, undiscoveredOf, type Which } from './order.ts';
import type { Overview, PosFileOverview, Verdict } from './overview.ts';
import type { Finding } from './pos-file-diagnosis.ts';
import type { ShownEntry } from './rows.ts';

/** What `inspect` tells programs; its JSON form is a contract. Byte counts are numbers, null where unknown. */
export interface Inspection<Entries = readonly InspectedEntry[]> {
  readonly posFiles: readonly InspectedPosFile<Entries>[];
  /** Files that in_tail should read and has no entry for yet. */
  readonly undiscovered: readonly UndiscoveredEntry[];
  /** Bytes left in all files: the sum of the entries' lags and of the undiscovered sizes. */
  readonly lag: number | null;
  /** The sum of those that are known, and of how many files it is not. */
  readonly knownLag: number;
  readonly unknownFiles: number;
  /** Everything is read, and nothing is unknown. */
  readonly caughtUp: boolean;
  /** How many seconds the oldest unread byte has waited; null: not known; only where looks follow one another. */
  readonly lagSeconds?: number | null;
  /** What the looks say together, and one sentence why; only where looks follow one another. */
  readonly verdict?: Verdict['is'];
  readonly why?: string;
}

interface UndiscoveredEntry extends Pick<InspectedEntry, 'path' | 'kubernetes' | 'verdict' | 'why'> {
  readonly size: number;
}

export interface InspectedPosFile<Entries = readonly InspectedEntry[]> {
  readonly path: string;
  readonly entries: Entries;
  readonly unparsable: readonly UnparsableLine[];
  /** What is odd in the pos file itself; only where there is something. */
  readonly findings?: readonly Finding[];
  readonly error?: string;
}

export interface InspectedEntry extends Omit<ShownEntry, 'age'> {
  /** Whose log it is, on a Kubernetes node. */
  readonly kubernetes?: ContainerLog;
  /** What the looks say of it, and why; only where looks follow one another, and where it is not `ok`. */
  readonly verdict?: Verdict['is'];
  readonly why?: string;
}

const ALL: Which = { states: undefined, sort: undefined };

/** The contract's form of an overview, made entry by entry: a million objects at once take half a GiB. */
export function inspectionOf(found: Overview, which: Which = ALL): Inspection<Iterable<InspectedEntry>> {
  return {
    posFiles: found.posFiles.map((posFile) => ({
      path: posFile.path,
      entries: inspected(posFile, which, found),
      unparsable: posFile.unparsable.map(({ line, text }) => ({ line, text })),
      ...((posFile.findings ?? []).length > 0 && { findings: posFile.findings }),
      ...(posFile.error !== undefined && { error: posFile.error }),
    })),
    undiscovered: undiscoveredOf(found, which).map((file) => ({
      ...{ path: file.path, size: file.size },
      ...aboutOf(file.path, found.verdictOf?.(file)),
    })),
    lag: found.lag,
    knownLag: found.totals.lag,
    unknownFiles: found.totals.unknown,
    caughtUp: found.caughtUp,
    ...(found.late !== undefined && { lagSeconds: found.late && Math.round(found.late / 100) / 10 }),
    ...(found.verdict && { verdict: found.verdict.is, why: found.verdict.why }),
  };
}

/** The same with all entries at hand. */
export function whole(inspection: Inspection<Iterable<InspectedEntry>>): Inspection {
  const posFiles = inspection.posFiles.map((posFile) => ({ ...posFile, entries: [...posFile.entries] }));
  return { ...inspection, posFiles };
}

function* inspected(
  posFile: PosFileOverview,
  which: Which,
  { verdictOf }: Overview,
): Generator<InspectedEntry> {
  for (const row of rowsOf(posFile.entries, which)) {
    const { path, position, inode, size, lag, state } = posFile.entries.at(row);
    yield { path, position, inode, size, lag, state, ...aboutOf(path, verdictOf?.({ posFile, row })) };
  }
}

export function aboutOf(
  path: string,
  verdict?: Verdict,
): Pick<InspectedEntry, 'kubernetes' | 'verdict' | 'why'> {
  const kubernetes = containerLogOf(path);
  return {
    ...(kubernetes && { kubernetes }),
    ...(verdict && verdict.is !== 'ok' && { verdict: verdict.is, why: verdict.why }),
  };
}
