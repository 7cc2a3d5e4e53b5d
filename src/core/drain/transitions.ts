import { ignoringOwnEvents, mayEmitAtStop } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { describeTrigger, describeUnproven, ENDED_BY_ITSELF, LEFT_TO_KUBELET } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, DrainResult, End, Gate, Of, State, Trigger } from './state.ts';
import { hasMainEnded } from './trigger.ts';

/** `To`: the states that it may lead to. */
export interface Step<To extends State = State> {
  readonly state: To;
  readonly actions: readonly Action[];
  /** Look again no later than this. Without it the usual interval applies. */
  readonly wakeAt: Millis | undefined;
  /** The scope of the next look. */
  readonly depth: 'light' | 'all';
  readonly whyChanged: string | undefined;
}

export function drain(trigger: Trigger, seen: Seen, policy: Policy): Step<Draining> {
  const mainHasEnded = hasMainEnded(trigger, seen, policy);
  const state: Draining = { name: 'draining', since: seen.at, trigger, mainHasEnded, pending: undefined };
  return changeTo(state, describeTrigger(trigger, seen, policy));
}

export function flush(state: Draining, seen: Seen, wakeAt: Millis): Step<Draining> {
  return stay({ ...state, flushedAt: seen.at }, wakeAt, [{ do: 'flush' }]);
}

export function resultOf({ trigger, pending }: Draining | DrainResult): DrainResult {
  return { trigger, pending };
}

export function endWith(end: End, seen: Seen, result: DrainResult | undefined): Step<Of<'stopped'>> {
  return changeTo({ name: 'stopped', since: seen.at, end, result }, end.why);
}

/**
 * Ends the drain. Stops Fluentd, unless posidle may not signal it. In an ending Pod the kubelet stops a Fluentd with nothing left: posidle
 * alone may have been restarted, and then Fluentd runs on.
 */
export function stop(
  state: Draining,
  gate: Gate | undefined,
  seen: Seen,
  policy: Policy,
): Step<Of<'stopping' | 'stopped'>> {
  const result = resultOf(state);
  if (seen.fluentd.kind === 'absent') return endWith(ENDED_BY_ITSELF, seen, result);
  if (policy.podEnds && !mayStopHelp(state, seen)) return endWith(LEFT_TO_KUBELET, seen, result);
  if (seen.fluentd.kind === 'running' && seen.fluentd.proof === 'none')
    return endWith({ kind: 'not-proven', why: describeUnproven(seen.fluentd.supervisor.pid) }, seen, result);
  const why =
    gate === undefined
      ? `everything is read${state.flushedAt === undefined ? '' : ' and flushed'}`
      : `not drained, ${gate.name}: ${gate.why}`;
  return changeTo(
    {
      name: 'stopping',
      since: seen.at,
      toldAt: seen.at,
      told: seen.fluentd.kind === 'running' ? [seen.fluentd.supervisor.pid] : [],
      ...result,
    },
    why,
    [{ do: 'stop' }],
  );
}

/** Fluentd's stop sends the records that it keeps, and with `flush_at_shutdown` its chunks. Only posidle can stop one that ignores SIGTERM. */
function mayStopHelp({ pending }: Draining, { progress }: Seen): boolean {
  return (
    progress.ignoresSigterm || mayEmitAtStop(progress) || ignoringOwnEvents(progress, pending).left.length > 0
  );
}

export function changeTo<To extends State>(
  state: To,
  why: string,
  actions: readonly Action[] = [],
): Step<To> {
  return { state, actions, wakeAt: undefined, depth: depthIn(state), whyChanged: why };
}

export function stay<To extends State>(
  state: To,
  wakeAt?: Millis,
  actions: readonly Action[] = [],
): Step<To> {
  return { state, actions, wakeAt, depth: depthIn(state), whyChanged: undefined };
}

function depthIn({ name }: State): Step['depth'] {
  return name === 'draining' ? 'all' : 'light';
}
