import { heldIn } from '../fluentd/buffer-contents.ts';
import type { Depth } from '../look/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import type { Millis } from '../text/units.ts';
import { describeEnd, describeTrigger, describeUnproven } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, DrainResult, End, Gate, State, Trigger } from './state.ts';

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
  /** Look again at this instant at the latest; undefined: whenever. */
  readonly wakeAt: Millis | undefined;
  /** How much the next look has to take in. */
  readonly depth: Depth;
  /** Why the state changed; undefined: it did not. */
  readonly moved: string | undefined;
}

const FLUSH: Action = { do: 'flush' };

export const KILL: Action = { do: 'signal', target: 'all', signal: 'SIGKILL' };

// A worker whose supervisor is gone ignores SIGINT, and ends well on SIGTERM (supervisor.rb:997-1006).
export const TERM_WORKERS: Action = { do: 'signal', target: 'workers', signal: 'SIGTERM' };

export function drain(trigger: Trigger, seen: Observation, policy: Policy): Step {
  const nothingYet = { completed: false, flush: undefined, emptyAt: undefined, closingAt: undefined };
  const state: Draining = { name: 'draining', since: seen.at, trigger, ...nothingYet };
  return move(state, describeTrigger(trigger, seen, policy));
}

/** Asks for a flush; what the buffers hold now is remembered. `isEmpty`: everything is read, and they hold nothing. */
export function flush(state: Draining, seen: Observation, wakeAt: Millis, isEmpty = false): Step {
  const emptyAt = isEmpty ? seen.at : undefined;
  const flushed = { ...state, flush: { at: seen.at, buffers: seen.buffers }, emptyAt };
  return stay(flushed, wakeAt, [FLUSH]);
}

export function unfinishedLines(seen: Observation): readonly Action[] {
  return seen.files
    .filter(({ state }) => state === 'partial-line')
    .map(({ path, size }) => ({ do: 'end-line', path, size: size ?? 0 }));
}

/** Ends the drain: Fluentd is told to stop. */
export function stop(state: Draining, gate: Gate | undefined, seen: Observation, policy: Policy): Step {
  const result = resultOf(state, gate, seen);
  if (policy.dryRun) return finish({ kind: 'dry-run' }, seen, result);
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
    [isOrphaned ? TERM_WORKERS : stopAction(policy)],
  );
}

export function resultOf(
  { trigger, flush }: Draining,
  gate: Gate | undefined,
  seen: Observation,
): DrainResult {
  return { trigger, gate, held: heldIn(seen.buffers), flush };
}

export function stopAction({ stopSignal }: Policy): Action {
  return { do: 'signal', target: 'supervisor', signal: stopSignal };
}

export function finish(end: End, seen: Observation, result: DrainResult | undefined): Step {
  return move({ name: 'stopped', since: seen.at, end, result }, describeEnd(end));
}

export function move(state: State, why: string, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt: undefined, depth: depthIn(state), moved: why };
}

export function stay(state: State, wakeAt?: Millis, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt, depth: depthIn(state), moved: undefined };
}

/** At rest positions and new files are enough; a drain looks at everything. */
function depthIn({ name }: State): Depth {
  return name === 'draining' ? 'all' : 'rest';
}
