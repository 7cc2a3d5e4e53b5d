import type { ObservedFile } from '../look/observation.ts';
import { listed } from '../progress/describe.ts';
import { printableJson } from '../text/printable.ts';
import type { Witness } from '../witness/reports.ts';
import type { Found } from './found.ts';
import type { Rates } from './rates.ts';

/** The JSON of `posidle inspect --json`, in one line. inspection.schema.json says what each field means. */
export function jsonOf(found: Found): string {
  const { totals, lag, caughtUp } = found;
  const { progress, reports, undiscovered } = found.seen;
  return printableJson({
    posFiles: found.posFiles.map(({ path, files, unparsable, findings, error }) => ({
      path,
      entries: files.map((file) => inspectedEntry(file, found.rates)),
      unparsable,
      ...(findings.length > 0 && { findings }),
      ...(error !== undefined && { error }),
    })),
    undiscovered: undiscovered.map(({ path, size }) => ({ path, size })),
    ...{ lag, knownLag: totals.lag, unknownFiles: totals.unknown, caughtUp },
    ...{ left: listed(progress.left), doubts: listed(progress.doubts) },
    ...(reports && { witness: { workers: reports.witnesses.map(inspectedWorker) } }),
  });
}

function inspectedWorker({ worker, ...one }: Witness) {
  if (one.kind !== 'alive') return { worker, kind: one.kind };
  const { pid, files, lines, outputs } = one.report;
  return { worker, kind: one.kind, pid, files, lines, outputs };
}

/** `oldestUnreadMs`: only of repeated looks. */
function inspectedEntry(
  { key, path, position, inode, size, lag, state }: ObservedFile,
  rates: Rates | undefined,
) {
  const entry = { path, position, inode, size, lag, state };
  return rates === undefined ? entry : { ...entry, oldestUnreadMs: rates.oldestUnread(key) };
}
