import type { History } from '../inspect/history.ts';
import { placesOf } from '../inspect/order.ts';
import type { Overview } from '../inspect/overview.ts';
import type { FileState } from '../look/file-state.ts';
import type { Left } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import { renderMetrics } from './exposition.ts';
import { metricsOfFiles, type SingleFile, seconds } from './of-files.ts';

/** A look of `export`. */
export interface Inspected {
  readonly found: Overview;
  readonly history: History;
  readonly took: Millis;
  /** How many looks there have been. */
  readonly looks: number;
}

/** What `export` tells Prometheus; `perFile`: of so many files one by one. */
export function metricsOfInspection({ found, history, took, looks }: Inspected, perFile: number): string {
  const { posFiles, undiscovered, totals, verdicts, buffers } = found;
  const unfound = undiscovered.filter(({ size }) => size > 0);
  const waits = unfound.map(({ inode }) => history.waitedToBeFound(inode));
  return renderMetrics({
    ...metricsOfFiles({
      lag: totals.lag,
      unknown: totals.unknown,
      ...countRows(found),
      undiscovered,
      unreadablePosFiles: posFiles.filter(({ error }) => error !== undefined).length,
      progress: { left: heldBy(buffers), doubts: [] },
      single: perFile === 0 ? [] : furthestBehind(found, history, perFile),
    }),
    posidle_lag_seconds: seconds(waits.reduce((most, one) => Math.max(most, one), history.waited)),
    posidle_lag_seconds_known: Number(history.late !== null && waits.length === 0),
    posidle_verdict_files: Object.entries(verdicts ?? {}).map(([verdict, count]) => [{ verdict }, count]),
    posidle_look_duration_seconds: seconds(took),
    posidle_looks_total: looks,
  });
}

function heldBy(buffers: Overview['buffers']): readonly Left[] {
  return (buffers?.outputs ?? []).map(({ name, chunks }) => ({
    kind: 'held',
    output: name,
    chunks: chunks.length,
    bytes: chunks.reduce((sum, { size }) => sum + size, 0),
    ids: undefined,
    isRetrying: false,
  }));
}

function countRows({ posFiles, undiscovered }: Overview) {
  const byState = new Map<FileState | null, number>([['undiscovered', undiscovered.length]]);
  let stoodStill = 0;
  for (const { entries } of posFiles) {
    for (let row = 0; row < entries.rows.count; row += 1) {
      if (!entries.isShown(row)) continue;
      const state = entries.state(row);
      byState.set(state, (byState.get(state) ?? 0) + 1);
      if (entries.lag(row) > 0 && state !== 'partial-line')
        stoodStill = Math.max(stoodStill, entries.age(row) || 0);
    }
  }
  return { byState, stoodStill };
}

/** An unknown lag is the worst. What is gone gets no series. */
function furthestBehind(found: Overview, history: History, count: number): readonly SingleFile[] {
  const files: SingleFile[] = [];
  for (const { posFile, row } of placesOf(found, { states: undefined, sort: 'lag' })) {
    if (files.length === count) break;
    const { path, inode, position, size, lag, state } = posFile.entries.at(row);
    if (state === 'unwatched' || (state === 'missing' && lag === 0)) continue;
    const late =
      lag === 0 || state === 'partial-line' ? 0 : history.find(posFile.path, { path, inode })?.waited;
    files.push({ posFile: posFile.path, path, inode, position, size, lag, late });
  }
  return files;
}
