import type { FileState } from '../look/file-state.ts';
import type { ObservedFile } from '../observe/observation.ts';
import type { UnparsableLine } from '../pos-file/pos-file.ts';
import { type Listed, listed } from '../progress/describe.ts';
import type { Doubt, Left } from '../progress/progress.ts';
import type { Found } from './found.ts';
import { inStates } from './order.ts';
import type { Finding } from './pos-file-diagnosis.ts';
import { type Verdict, verdictOf, verdictsOf } from './verdict.ts';

/** What `inspect` tells programs; its JSON form is a contract. Byte counts are numbers, null where unknown. */
export interface Inspection {
  readonly posFiles: readonly InspectedPosFile[];
  readonly undiscovered: readonly (About & Pick<ObservedFile, 'path' | 'size'>)[];
  /** Bytes left in all files: the sum of the entries' lags and of the undiscovered sizes. */
  readonly lag: number | null;
  /** The sum of those that are known, and of how many files it is not. */
  readonly knownLag: number;
  readonly unknownFiles: number;
  /** Everything is read, and nothing is unknown. */
  readonly caughtUp: boolean;
  readonly left: Listed<Left>;
  readonly doubts: Listed<Doubt>;
  /** How many seconds the oldest unread byte has waited; null: not known; only where looks follow one another. */
  readonly lagSeconds?: number | null;
  /** What the looks say together, and one sentence why; only where looks follow one another. */
  readonly verdict?: Verdict['is'];
  readonly why?: string;
}

export interface InspectedPosFile {
  readonly path: string;
  readonly entries: readonly InspectedEntry[];
  readonly unparsable: readonly UnparsableLine[];
  readonly findings?: readonly Finding[];
  readonly error?: string;
}

export interface InspectedEntry
  extends Pick<ObservedFile, 'path' | 'position' | 'inode' | 'size' | 'lag' | 'state'>,
    About {}

interface About {
  /** What the looks say of it, and why; only where looks follow one another, and where it is not `ok`. */
  readonly verdict?: Verdict['is'];
  readonly why?: string;
}

export function inspectionOf(found: Found, states?: readonly FileState[]): Inspection {
  const { progress, totals, lag, caughtUp } = found;
  const worst = verdictsOf(found)?.worst;
  const late = found.paces?.late;
  return {
    posFiles: found.posFiles.map(({ path, files, unparsable, findings, error }) => ({
      path,
      entries: inStates(files, states).map((file) => inspectedEntry(file, found)),
      unparsable,
      ...(findings.length > 0 && { findings }),
      ...(error !== undefined && { error }),
    })),
    undiscovered: inStates(found.undiscovered, states).map((file) => ({
      ...{ path: file.path, size: file.size },
      ...aboutOf(file, found),
    })),
    ...{ lag, knownLag: totals.lag, unknownFiles: totals.unknown, caughtUp },
    ...{ left: listed(progress.left), doubts: listed(progress.doubts) },
    ...(late !== undefined && { lagSeconds: late && Math.round(late / 100) / 10 }),
    ...(worst && { verdict: worst.is, why: worst.why }),
  };
}

function inspectedEntry(file: ObservedFile, found: Found): InspectedEntry {
  const { path, position, inode, size, lag, state } = file;
  return { path, position, inode, size, lag, state, ...aboutOf(file, found) };
}

function aboutOf(file: ObservedFile, found: Found): About {
  const { is, why } = verdictOf(file, found);
  return is === 'ok' ? {} : { verdict: is, why };
}
