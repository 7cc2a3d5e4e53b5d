import type { Policy } from '../drain/policy.ts';
import type { State, StateName } from '../drain/state.ts';
import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { renderMetrics } from './exposition.ts';
import { metricsOfFiles, seconds } from './of-files.ts';

const STATES: readonly StateName[] = ['waiting', 'watching', 'draining', 'stopping', 'killing', 'stopped'];

export interface Watched {
  readonly state: State;
  readonly seen: Observation;
  readonly policy: Policy;
  readonly drains: number;
}

/** What `watch` and `run` tell Prometheus. */
export function metricsOfWatch({ state, seen, policy, drains }: Watched): string {
  const { movedAt, at, fluentd } = seen;
  return renderMetrics({
    ...metricsOfFiles(seen, progressOf(seen, policy), 0),
    posidle_last_movement_age_seconds: movedAt === undefined ? null : seconds(at - movedAt),
    posidle_state: STATES.map((name) => [{ state: name }, Number(name === state.name)]),
    posidle_fluentd_running: Number(fluentd.kind !== 'absent'),
    posidle_drains_total: drains,
  });
}
