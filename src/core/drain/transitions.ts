import { ignoringOwnEvents, mayEmitAtStop } from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import type { Millis } from '../text/units.ts';
import { NEVER } from './deadlines.ts';
import { describeTrigger, describeUnproven } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, DrainResult, End, Gate, Of, State, Trigger } from './state.ts';
import { ofMainBy } from './trigger.ts';

/** `To`: the states that it may lead to. */
export interface Step<To extends State = State> {
  readonly state: To;
  readonly action: Action | undefined;
  /** Look again no later than this. The usual interval may be shorter. */
  readonly wakeAt: Millis;
  readonly whyChanged: string | undefined;
}

export function drain(trigger: Trigger, seen: Seen, policy: Policy): Step<Draining> {
  const mainEndedAt = ofMainBy(trigger, seen, policy) === 'ended' ? trigger.at : undefined;
  const state: Draining = { name: 'draining', since: seen.at, trigger, mainEndedAt, pending: undefined };
  return changeTo(state, describeTrigger(trigger, seen, policy));
}

export function flush(state: Draining, { at }: Seen): Step<Draining> {
  return stay({ ...state, flushedAt: at }, NEVER, 'flush');
}

/** A state with its drain, if one had begun. */
type Before = Pick<State, 'name'> & Partial<DrainResult>;

export function endWith(
  kind: End['kind'],
  why: string,
  { at }: Seen,
  { trigger, pending }: Before,
): Step<Of<'stopped'>> {
  return changeTo({ name: 'stopped', since: at, end: { kind, why }, trigger, pending }, why);
}

export function endedByItself(seen: Seen, before: Before): Step<Of<'stopped'>> {
  return endWith('ended-by-itself', 'Fluentd ended by itself', seen, before);
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
  const { trigger, pending, flushedAt } = state;
  const { fluentd, at } = seen;
  if (fluentd.kind === 'absent') return endedByItself(seen, state);
  if (policy.podEnds && !mayStopHelp(state, seen))
    return endWith('left-to-kubelet', 'Fluentd is left to the kubelet, which stops it next', seen, state);
  if (fluentd.kind === 'running' && fluentd.proof === 'none')
    return endWith('not-proven', describeUnproven(fluentd.supervisor.pid), seen, state);
  const why =
    gate === undefined
      ? `everything is read${flushedAt === undefined ? '' : ' and flushed'}`
      : `posidle waits no longer, ${gate.name}: ${gate.why}`;
  const told = fluentd.kind === 'running' ? [fluentd.supervisor.pid] : [];
  return changeTo({ name: 'stopping', since: at, toldAt: at, told, trigger, pending }, why, 'stop');
}

/** Fluentd's stop sends the records that it keeps, and with `flush_at_shutdown` its chunks. Only posidle can stop one that ignores SIGTERM. */
function mayStopHelp({ pending }: Draining, { progress }: Seen): boolean {
  return (
    progress.ignoresSigterm || mayEmitAtStop(progress) || ignoringOwnEvents(progress, pending).left.length > 0
  );
}

export function changeTo<To extends State>(state: To, why: string, action?: Action): Step<To> {
  return { state, action, wakeAt: NEVER, whyChanged: why };
}

export function stay<To extends State>(state: To, wakeAt = NEVER, action?: Action): Step<To> {
  return { state, action, wakeAt, whyChanged: undefined };
}
