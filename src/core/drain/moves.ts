import type { Depth } from '../look/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import type { Millis } from '../text/units.ts';
import type { FileSight } from '../witness/answer.ts';
import { describeEnd, describeTrigger } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Action, Draining, DrainResult, End, State, Trigger } from './state.ts';

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

export function drain(trigger: Trigger, seen: Observation, policy: Policy): Step {
  const nothingYet = {
    completed: false,
    flush: undefined,
    emptyAt: undefined,
    closingAt: undefined,
    owed: undefined,
  };
  const state: Draining = { name: 'draining', since: seen.at, trigger, ...nothingYet };
  return move(state, describeTrigger(trigger, seen, policy));
}

export function flush(state: Draining, seen: Observation, wakeAt: Millis): Step {
  return stay({ ...state, flush: { at: seen.at } }, wakeAt, [FLUSH]);
}

/** By the pos files, and by what Fluentd itself says where it was asked. */
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

function isUnfinished({ position, size = 0, unfinished, lines, isUnreadable }: FileSight): boolean {
  return !isUnreadable && lines === 0 && size > position && size - position <= unfinished;
}

export function resultOf({ trigger, owed }: Draining | DrainResult): DrainResult {
  return { trigger, owed };
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
