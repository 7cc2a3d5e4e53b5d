import type { Observation } from '../observe/observation.ts';
import { describeUnproven } from './explain.ts';
import { finish, move, resultOf, type Step } from './moves.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, Gate } from './state.ts';

export const KILL: Action = { do: 'signal', target: 'all', signal: 'SIGKILL' };

/** The supervisor stops its workers; they ignore SIGINT (supervisor.rb, install_main_process_signal_handlers). */
export const STOP: Action = { do: 'signal', target: 'supervisor', signal: 'SIGINT' };

// A worker whose supervisor is gone ignores SIGINT, and ends well on SIGTERM (supervisor.rb:997-1006).
export const TERM_WORKERS: Action = { do: 'signal', target: 'workers', signal: 'SIGTERM' };

/** Ends the drain: Fluentd is told to stop, unless nobody may tell it, or somebody else will. */
export function stop(state: Draining, gate: Gate | undefined, seen: Observation, policy: Policy): Step {
  const result = resultOf(state);
  if (seen.fluentd.kind === 'absent') return finish({ kind: 'ended-by-itself' }, seen, result);
  if (policy.leavesStop) return finish({ kind: 'left-to-kubelet' }, seen, result);
  if (seen.fluentd.kind === 'running' && !seen.fluentd.isProven)
    return finish({ kind: 'not-proven', why: describeUnproven(seen.fluentd.supervisor.pid) }, seen, result);
  const why =
    gate === undefined
      ? `everything is read${state.flush === undefined ? '' : ' and flushed'}`
      : `not drained, ${gate.name}: ${gate.why}`;
  const isOrphaned = seen.fluentd.kind === 'orphaned';
  return move(
    {
      name: 'stopping',
      since: seen.at,
      termedOrphans: isOrphaned,
      toldAt: seen.at,
      told: seen.fluentd.kind === 'running' ? [seen.fluentd.supervisor.pid] : [],
      ...result,
    },
    why,
    [isOrphaned ? TERM_WORKERS : STOP],
  );
}
