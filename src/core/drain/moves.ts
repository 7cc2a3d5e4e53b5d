import { bufferedIn } from '../fluentd/buffers.ts';
import type { Observation } from '../observe/observation.ts';
import { counted, type Millis } from '../text/units.ts';
import { describeEnd, describeTrigger } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, End, Gate, State, Trigger, Verdict } from './state.ts';

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
  /** Look again at this instant at the latest; undefined: whenever. */
  readonly wakeAt: Millis | undefined;
  /** Why the state changed. */
  readonly why: string;
}

export const FLUSH: Action = { do: 'flush' };

export const KILL: Action = { do: 'signal', target: 'all', signal: 'SIGKILL' };

// A worker whose supervisor is gone ignores SIGINT, and ends well on SIGTERM (supervisor.rb:997-1006).
export const TERM_WORKERS: Action = { do: 'signal', target: 'workers', signal: 'SIGTERM' };

export function catchUp(trigger: Trigger, seen: Observation, policy: Policy): Step {
  const state: State = { name: 'catching-up', since: seen.at, trigger, completed: false };
  return move(state, describeTrigger(trigger, seen, policy));
}

/** Everything is read: on to the buffers, where there are any. */
export function flush(
  { trigger, completed }: Extract<State, { name: 'catching-up' }>,
  seen: Observation,
  policy: Policy,
): Step {
  const count = counted(seen.files.length, 'file');
  const why = `everything is read (${count})`;
  if (seen.buffers?.none === true || policy.dryRun) return stop({ trigger, gate: undefined }, seen, policy);
  return move(
    { name: 'flushing', since: seen.at, trigger, completed, flushedAt: seen.at, emptyAt: undefined },
    why,
    [FLUSH],
  );
}

export function readAnew(
  { trigger, completed }: Extract<State, { name: 'flushing' }>,
  seen: Observation,
  why: string,
): Step {
  return move({ name: 'catching-up', since: seen.at, trigger, completed }, why);
}

export function endLines(seen: Observation): readonly Action[] {
  return seen.files
    .filter(({ state }) => state === 'partial-line')
    .map(({ path, size }) => ({ do: 'end-line', path, size: size ?? 0 }));
}

/** Whoever started the supervisor learns how it ended; the workers that it left get their time to end. */
export function desert(seen: Observation, verdict: Verdict | undefined): Step {
  const gate: Gate = { name: 'worker', why: 'the supervisor ended by itself and left its workers' };
  const drain = verdict ?? { trigger: { by: 'deserted', at: seen.at }, gate, held: bufferedIn(seen.buffers) };
  const state: State = {
    name: 'stopping',
    since: seen.at,
    termedOrphans: true,
    toldAt: seen.at,
    deserted: true,
    ...drain,
  };
  return move(state, gate.why, [TERM_WORKERS]);
}

export function stop(drain: Omit<Verdict, 'held'>, seen: Observation, policy: Policy): Step {
  const verdict = { ...drain, held: bufferedIn(seen.buffers) };
  if (policy.dryRun) return finish({ kind: 'dry-run' }, seen, verdict);
  const { gate } = verdict;
  const why = gate === undefined ? 'drained' : `not drained, ${gate.name}: ${gate.why}`;
  const orphaned = seen.fluentd.kind === 'orphaned';
  const action = orphaned ? TERM_WORKERS : stopAction(policy);
  return move(
    {
      name: 'stopping',
      since: seen.at,
      termedOrphans: orphaned,
      toldAt: seen.at,
      deserted: false,
      ...verdict,
    },
    why,
    [action],
  );
}

export function stopAction({ stopSignal }: Policy): Action {
  return { do: 'signal', target: 'supervisor', signal: stopSignal };
}

export function finish(end: End, seen: Observation, verdict: Verdict | undefined): Step {
  return move({ name: 'stopped', since: seen.at, end, verdict }, describeEnd(end));
}

export function move(state: State, why: string, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt: undefined, why };
}

export function stay(state: State, wakeAt?: Millis, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt, why: '' };
}
