import { mayHold, withoutLater } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { describeTrigger, describeUnproven, ENDED_BY_ITSELF, LEFT_TO_KUBELET } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, DrainResult, End, Gate, State, Trigger } from './state.ts';
import { hasMainEnded } from './trigger.ts';

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
  /** Look again no later than this. Without it the usual interval applies. */
  readonly wakeAt: Millis | undefined;
  /** The scope of the next look. */
  readonly depth: 'light' | 'all';
  readonly whyChanged: string | undefined;
}

const FLUSH: Action = { do: 'flush' };
export const KILL: Action = { do: 'signal', target: 'all', signal: 'SIGKILL' };
/** Workers ignore SIGINT; their supervisor stops them (supervisor.rb, install_main_process_signal_handlers). */
export const STOP: Action = { do: 'signal', target: 'supervisor', signal: 'SIGINT' };
/** A worker without its supervisor ignores SIGINT, but ends properly on SIGTERM (supervisor.rb:997-1006). */
export const TERM_WORKERS: Action = { do: 'signal', target: 'workers', signal: 'SIGTERM' };

export function drain(trigger: Trigger, seen: Seen, policy: Policy): Step {
  const mainHasEnded = hasMainEnded(trigger, seen, policy);
  const state: Draining = { name: 'draining', since: seen.at, trigger, mainHasEnded, owed: undefined };
  return changeTo(state, describeTrigger(trigger, seen, policy));
}

export function flush(state: Draining, seen: Seen, wakeAt: Millis): Step {
  return stay({ ...state, flushedAt: seen.at }, wakeAt, [FLUSH]);
}

export function resultOf({ trigger, owed }: Draining | DrainResult): DrainResult {
  return { trigger, owed };
}

export function finish(end: End, seen: Seen, result: DrainResult | undefined): Step {
  return changeTo({ name: 'stopped', since: seen.at, end, result }, end.why);
}

/**
 * Ends the drain. Stops Fluentd, unless posidle may not signal it. In an ending Pod the kubelet stops a Fluentd with nothing left: posidle
 * alone may have been restarted, and then Fluentd runs on.
 */
export function stop(state: Draining, gate: Gate | undefined, seen: Seen, policy: Policy): Step {
  const result = resultOf(state);
  if (seen.fluentd.kind === 'absent') return finish(ENDED_BY_ITSELF, seen, result);
  if (policy.podEnds && !mayStopHelp(state, seen)) return finish(LEFT_TO_KUBELET, seen, result);
  if (seen.fluentd.kind === 'running' && seen.fluentd.proof === 'none')
    return finish({ kind: 'not-proven', why: describeUnproven(seen.fluentd.supervisor.pid) }, seen, result);
  const why =
    gate === undefined
      ? `everything is read${state.flushedAt === undefined ? '' : ' and flushed'}`
      : `not drained, ${gate.name}: ${gate.why}`;
  const isOrphaned = seen.fluentd.kind === 'orphaned';
  return changeTo(
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

/** Fluentd's stop sends the records that it keeps, and with `flush_at_shutdown` its chunks. Only posidle can stop one that ignores SIGTERM. */
function mayStopHelp({ owed }: Draining, { progress }: Seen): boolean {
  return progress.ignoresSigterm || mayHold(progress) || withoutLater(progress, owed).left.length > 0;
}

export function changeTo(state: State, why: string, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt: undefined, depth: depthIn(state), whyChanged: why };
}

export function stay(state: State, wakeAt?: Millis, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt, depth: depthIn(state), whyChanged: undefined };
}

function depthIn({ name }: State): Step['depth'] {
  return name === 'draining' ? 'all' : 'light';
}
