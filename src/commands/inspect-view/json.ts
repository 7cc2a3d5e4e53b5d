import type { Found } from '../../core/inspect/found.ts';
import { inspectionOf } from '../../core/inspect/inspection.ts';
import { printableJson } from '../../core/text/printable.ts';

/** One JSON object in one line: the inspection and, if asked, the answers of Fluentd's workers. */
export function jsonOf(found: Found): string {
  const { witness } = found.seen;
  const workers = witness?.reports.witnesses.map((one) => {
    const { worker, kind } = one;
    if (one.kind !== 'alive') return { worker, kind };
    const { pid, files, lines, outputs } = one.report;
    return { worker, kind, pid, files, lines, outputs };
  });
  return printableJson({ ...inspectionOf(found), ...(workers && { witness: { workers } }) });
}
