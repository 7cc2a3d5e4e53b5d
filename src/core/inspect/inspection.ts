import type { ObservedFile } from '../look/observation.ts';
import { listed } from '../progress/describe.ts';
import type { Found } from './found.ts';
import type { Rates } from './rates.ts';

/** The JSON of `posidle inspect --json`. inspection.schema.json says what each field means. */
export function inspectionOf(found: Found) {
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

/** `oldestUnreadMs`: only of repeated looks. */
function inspectedEntry(
  { key, path, position, inode, size, lag, state }: ObservedFile,
  rates: Rates | undefined,
) {
  const entry = { path, position, inode, size, lag, state };
  return rates === undefined ? entry : { ...entry, oldestUnreadMs: rates.oldestUnread(key) };
}
