import type { ObservedFile } from '../look/observation.ts';
import type { UnparsableLine } from '../pos-file/pos-file.ts';
import { type Listed, listed } from '../progress/describe.ts';
import type { Doubt, Left } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import type { Found } from './found.ts';
import type { Finding } from './pos-file-diagnosis.ts';
import type { Rates } from './rates.ts';

/** The JSON of `posidle inspect --json`, which is a contract. Byte counts are null if unknown. */
export interface Inspection {
  readonly posFiles: readonly InspectedPosFile[];
  readonly undiscovered: readonly Pick<ObservedFile, 'path' | 'size'>[];
  /** Bytes left in all files: the lags of the entries plus the sizes of the undiscovered files. */
  readonly lag: number | null;
  /** The sum of the known lags, and the number of files with an unknown lag. */
  readonly knownLag: number;
  readonly unknownFiles: number;
  /** Every line is read, and nothing is unknown. */
  readonly caughtUp: boolean;
  readonly left: Listed<Left>;
  readonly doubts: Listed<Doubt>;
}

interface InspectedPosFile {
  readonly path: string;
  readonly entries: readonly InspectedEntry[];
  readonly unparsable: readonly UnparsableLine[];
  readonly findings?: readonly Finding[];
  readonly error?: string;
}

type InspectedEntry = Pick<ObservedFile, 'path' | 'position' | 'inode' | 'size' | 'lag' | 'state'> & {
  /** Only of repeated looks. */
  readonly oldestUnreadMs?: Millis | null;
};

export function inspectionOf(found: Found): Inspection {
  const { totals, lag, caughtUp } = found;
  const { left, doubts } = found.seen.progress;
  return {
    posFiles: found.posFiles.map(({ path, files, unparsable, findings, error }) => ({
      path,
      entries: files.map((file) => inspectedEntry(file, found.rates)),
      unparsable,
      ...(findings.length > 0 && { findings }),
      ...(error !== undefined && { error }),
    })),
    undiscovered: found.undiscovered.map(({ path, size }) => ({ path, size })),
    ...{ lag, knownLag: totals.lag, unknownFiles: totals.unknown, caughtUp },
    ...{ left: listed(left), doubts: listed(doubts) },
  };
}

function inspectedEntry(
  { key, path, position, inode, size, lag, state }: ObservedFile,
  rates: Rates | undefined,
): InspectedEntry {
  const entry = { path, position, inode, size, lag, state };
  return rates === undefined ? entry : { ...entry, oldestUnreadMs: rates.oldestUnread(key) };
}
