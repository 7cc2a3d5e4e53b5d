import { bytesLeft } from '../drain/gates.ts';
import type { Policy } from '../drain/policy.ts';
import type { State, StateName } from '../drain/state.ts';
import type { Observation, ObservedFile } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { renderMetrics } from './exposition.ts';
import { countBy, metricsOfFiles, seconds } from './of-files.ts';

const STATES: readonly StateName[] = ['waiting', 'watching', 'draining', 'stopping', 'killing', 'stopped'];

export interface Watched {
  readonly state: State;
  readonly seen: Observation;
  readonly policy: Policy;
  readonly drains: number;
}

/** What `watch` and `run` tell Prometheus; `perFile`: of so many files one by one. */
export function metricsOfWatch({ state, seen, policy, drains }: Watched, perFile: number): string {
  const { files, undiscovered, movedAt, at, fluentd } = seen;
  const byState = countBy(files, (file) => file.state);
  byState.set('undiscovered', undiscovered.length);
  const standing = files.filter((file) => !file.read).map((file) => at - file.movedAt);
  return renderMetrics({
    ...metricsOfFiles({
      lag: bytesLeft(seen),
      unknown: files.filter(({ lag }) => lag === null).length,
      byState,
      undiscovered,
      unreadablePosFiles: seen.unknown.length,
      stoodStill: standing.reduce((longest, age) => Math.max(longest, age), 0),
      progress: progressOf(seen, policy),
      single: furthestBehind(files, perFile),
    }),
    posidle_last_movement_age_seconds: movedAt === undefined ? null : seconds(at - movedAt),
    posidle_state: STATES.map((name) => [{ state: name }, Number(name === state.name)]),
    posidle_fluentd_running: Number(fluentd.kind !== 'absent'),
    posidle_drains_total: drains,
  });
}

/** An unknown lag is the worst. */
function furthestBehind(files: readonly ObservedFile[], count: number): readonly ObservedFile[] {
  if (count === 0) return [];
  const lagOf = ({ lag }: ObservedFile) => lag ?? Number.MAX_VALUE;
  const there = files.filter(({ state, read }) => state !== 'unwatched' && !(state === 'missing' && read));
  return there.toSorted((a, b) => lagOf(b) - lagOf(a)).slice(0, count);
}
