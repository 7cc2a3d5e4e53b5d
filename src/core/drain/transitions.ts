import type { Depth } from '../look/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { withoutLater } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';
import type { FileSight } from '../witness/answer.ts';
import { describeTrigger, describeUnproven, ENDED_BY_ITSELF, LEFT_TO_KUBELET } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, DrainResult, End, Gate, State, Trigger } from './state.ts';

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
  /** Look again no later than this. Without it the usual interval applies. */
  readonly wakeAt: Millis | undefined;
  readonly depth: Depth;
  readonly whyChanged: string | undefined;
}

const FLUSH: Action = { do: 'flush' };
export const KILL: Action = { do: 'signal', target: 'all', signal: 'SIGKILL' };
/** Workers ignore SIGINT; their supervisor stops them (supervisor.rb, install_main_process_signal_handlers). */
export const STOP: Action = { do: 'signal', target: 'supervisor', signal: 'SIGINT' };
/** A worker without its supervisor ignores SIGINT, but ends properly on SIGTERM (supervisor.rb:997-1006). */
export const TERM_WORKERS: Action = { do: 'signal', target: 'workers', signal: 'SIGTERM' };

export function drain(trigger: Trigger, seen: Observation, policy: Policy): Step {
  const state: Draining = { name: 'draining', since: seen.at, trigger, owed: undefined };
  return changeTo(state, describeTrigger(trigger, seen, policy));
}

export function flush(state: Draining, seen: Observation, wakeAt: Millis): Step {
  return stay({ ...state, flushedAt: seen.at }, wakeAt, [FLUSH]);
}

/** One action for each unfinished last line that the pos files or the witnesses show. */
export function unfinishedLines({ files, witness }: Observation): readonly Action[] {
  const byEntry = files.flatMap(({ state, path, size }) =>
    state === 'partial-line' ? [{ path, size }] : [],
  );
  const said =
    witness?.testimony.witnesses.flatMap((one) => (one.kind === 'alive' ? one.said.files : [])) ?? [];
  const sizes = new Map(
    [...said.filter(isUnfinished), ...byEntry].map(({ path, size }) => [path, size ?? 0]),
  );
  return [...sizes].map(([path, size]) => ({ do: 'end-line', path, size }));
}

function isUnfinished({ position, size = position, unfinished, lines, isUnreadable }: FileSight): boolean {
  return !isUnreadable && lines === 0 && size > position && size - position <= unfinished;
}

export function resultOf({ trigger, owed }: Draining | DrainResult): DrainResult {
  return { trigger, owed };
}

export function finish(end: End, seen: Observation, result: DrainResult | undefined): Step {
  return changeTo({ name: 'stopped', since: seen.at, end, result }, end.why);
}

/**
 * Ends the drain. Stops Fluentd, unless posidle may not signal it. In an ending Pod the kubelet stops a Fluentd with nothing left: posidle
 * alone may have been restarted, and then Fluentd runs on.
 */
export function stop(state: Draining, gate: Gate | undefined, seen: Observation, policy: Policy): Step {
  const result = resultOf(state);
  if (seen.fluentd.kind === 'absent') return finish(ENDED_BY_ITSELF, seen, result);
  if (policy.podEnds && !mayStopHelp(state, seen, policy)) return finish(LEFT_TO_KUBELET, seen, result);
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
function mayStopHelp({ owed }: Draining, seen: Observation, policy: Policy): boolean {
  const progress = progressOf(seen, policy);
  return progress.ignoresSigterm || withoutLater(progress, owed).left.length > 0;
}

export function changeTo(state: State, why: string, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt: undefined, depth: depthIn(state), whyChanged: why };
}

export function stay(state: State, wakeAt?: Millis, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt, depth: depthIn(state), whyChanged: undefined };
}

function depthIn({ name }: State): Depth {
  return name === 'draining' ? 'all' : 'light';
}
