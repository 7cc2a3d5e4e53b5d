import type { FileState } from '../look/file-state.ts';
import type { ObservedFile } from '../look/observation.ts';
import type { UnparsableLine } from '../pos-file/pos-file.ts';
import { type Listed, listed } from '../progress/describe.ts';
import type { Doubt, Left } from '../progress/progress.ts';
import type { Found } from './found.ts';
import { inStates } from './order.ts';
import type { Finding } from './pos-file-diagnosis.ts';
import { type Verdict, verdictOf, verdictsOf } from './verdict.ts';

/** The JSON of `posidle inspect --json`, which is a contract. Byte counts are null if unknown. */
export interface Inspection {
  readonly posFiles: readonly InspectedPosFile[];
  readonly undiscovered: readonly (About & Pick<ObservedFile, 'path' | 'size'>)[];
  /** Bytes left in all files: the lags of the entries plus the sizes of the undiscovered files. */
  readonly lag: number | null;
  /** The sum of the known lags, and the number of files with an unknown lag. */
  readonly knownLag: number;
  readonly unknownFiles: number;
  /** All bytes are read, and nothing is unknown. */
  readonly caughtUp: boolean;
  readonly left: Listed<Left>;
  readonly doubts: Listed<Doubt>;
  /** How many seconds the oldest unread byte has waited; null if unknown. Only with repeated looks. */
  readonly lagSeconds?: number | null;
  /** The verdict of all looks, and one sentence why. Only with repeated looks. */
  readonly verdict?: Verdict['is'];
  readonly why?: string;
}

interface InspectedPosFile {
  readonly path: string;
  readonly entries: readonly InspectedEntry[];
  readonly unparsable: readonly UnparsableLine[];
  readonly findings?: readonly Finding[];
  readonly error?: string;
}

interface InspectedEntry
  extends Pick<ObservedFile, 'path' | 'position' | 'inode' | 'size' | 'lag' | 'state'>,
    About {}

interface About {
  /** The verdict about this file, and why. Only with repeated looks, and only if it is not `ok`. */
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
