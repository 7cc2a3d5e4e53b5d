import type { Found } from '../inspect/found.ts';
import { verdictsOf } from '../inspect/verdict.ts';
import type { Millis } from '../text/units.ts';
import { renderMetrics } from './exposition.ts';
import { isAnyLagKnown, metricsOfFiles, seconds } from './of-files.ts';

/** A look of `export`. */
export interface Inspected {
  readonly found: Found;
  readonly took: Millis;
  /** How many looks there have been. */
  readonly looks: number;
}

/** What `export` tells Prometheus; `perFile`: of so many files one by one. */
export function metricsOfInspection({ found, took, looks }: Inspected, perFile: number): string {
  const { judged } = found;
  const counts = Object.entries(verdictsOf(found)?.counts ?? {});
  const paces = judged?.paces;
  return renderMetrics({
    ...(judged && metricsOfFiles(judged.seen, judged.progress, perFile, (key) => paces?.of(key)?.waited)),
    posidle_lag_seconds: judged && isAnyLagKnown(judged.seen) ? seconds(paces?.waited ?? 0) : null,
    posidle_lag_seconds_known: Number(
      found.lag !== null && paces?.late !== null && paces?.hasUnfound !== true,
    ),
    posidle_verdict_files: counts.map(([verdict, count]) => [{ verdict }, count]),
    posidle_look_duration_seconds: seconds(took),
    posidle_looks_total: looks,
  });
}
