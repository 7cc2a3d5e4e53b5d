import {
  absenceDeadline,
  drainDeadline,
  NEVER,
  startDeadline,
  stopDeadline,
} from '../../core/drain/deadlines.ts';
import { CANNOT_BE_ASKED } from '../../core/drain/explain.ts';
import { drainGate } from '../../core/drain/gates.ts';
import type { Policy } from '../../core/drain/policy.ts';
import type { State } from '../../core/drain/state.ts';
import type { Observation } from '../../core/look/observation.ts';
import { isUp } from '../../core/progress/fluentd-reading.ts';
import { bytesToRead } from '../../core/progress/progress.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';

/** One line for the log about a wait and its reason: `still draining after 20 s of 5 min: …`. */
export function describeWait(state: State, seen: Observation, policy: Policy): string {
  if (state.name === 'watching') return describeQuiet(state, seen, policy);
  const deadline = deadlineOf(state, seen, policy);
  const of = deadline === NEVER ? '' : ` of ${formatDuration(deadline - state.since)}`;
  const spent = `still ${state.name} after ${formatDuration(seen.at - state.since)}${of}`;
  return `${spent}: ${reasonOf(state, seen, policy)}`;
}

function reasonOf(state: State, seen: Observation, policy: Policy): string {
  if (state.name === 'draining') return drainGate(state, seen, policy)?.why ?? 'nothing is left';
  return state.name === 'waiting' ? missing(seen) : describeFluentd(seen);
}

function deadlineOf(state: State, seen: Observation, policy: Policy): Millis {
  if (state.name === 'draining') return drainDeadline(state.trigger, seen, policy);
  if (state.name === 'stopping') return stopDeadline(state, seen, policy);
  if (state.name !== 'waiting') return NEVER;
  if (!isUp(seen.fluentd)) return absenceDeadline(state, seen, policy);
  return policy.quiet === 'off' ? NEVER : startDeadline(state.since, policy);
}

/** `quiet for 20 s of 60 s`. */
function describeQuiet({ since }: State, seen: Observation, { quiet }: Policy): string {
  const bytes = bytesToRead(seen.progress);
  const left = bytes > 0 ? `; ${formatBytes(bytes)} left to read` : '';
  if (quiet === 'off') return `no trigger for ${formatDuration(seen.at - since)}${left}`;
  const silence = Math.max(0, seen.at - (seen.progress.movedAt ?? since));
  return `quiet for ${formatDuration(silence)} of ${formatDuration(quiet)}${left}`;
}

function missing(seen: Observation): string {
  const [doubt] = seen.unknown;
  if (!isUp(seen.fluentd)) return describeFluentd(seen);
  return doubt === undefined ? 'Fluentd has read nothing yet' : `${doubt.about} ${doubt.why}`;
}

export function describeFluentd({ fluentd }: Observation): string {
  switch (fluentd.kind) {
    case 'absent':
      return fluentd.why;
    case 'running':
      return `fluentd runs: pid ${fluentd.supervisor.pid}, ${counted(fluentd.workers.length, 'worker')}`;
    case 'wrapper':
      return `no fluentd was found below the command, pid ${fluentd.leader.pid}`;
    case 'remote':
      return fluentd.isStarting ? CANNOT_BE_ASKED : 'fluentd runs: its witness listens';
    case 'ambiguous':
      return `${fluentd.candidates.length} independent fluentds run`;
  }
}
