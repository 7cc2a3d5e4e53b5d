import { progressSummary } from '../progress/describe.ts';
import type { Seen } from '../progress/seen.ts';
import type { State } from './state.ts';

/** The body of GET /status: the outcome as it is now. `why` is the reason of the last state change. Null if unknown. */
export function statusOf(state: State, seen: Seen, why: string) {
  const { fluentd } = seen;
  return {
    state: state.name,
    /** How long it has been in this state, in milliseconds. */
    since: Math.round(seen.at - state.since),
    why,
    trigger: ('trigger' in state && state.trigger?.by) || null,
    ...progressSummary(seen.progress),
    fluentd: {
      kind: fluentd.kind,
      pid: fluentd.kind === 'running' ? fluentd.supervisor.pid : null,
      workers: 'workers' in fluentd ? fluentd.workers.map(({ pid }) => pid) : [],
    },
  };
}
