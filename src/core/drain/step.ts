/**
 * The decision. Rule 1: whether the state changes is said in this file; trigger.ts says what begins the drain, transitions.ts what a change
 * consists of. Rule 2: it knows no clock, no process and no file, only the state, the observation and the policy that it is given.
 */
import { SLOW_START } from '../observe/looks.ts';
import type { Observation } from '../observe/observation.ts';
import { progressOf } from '../observe/progress-of.ts';
import { formatDuration, type Millis } from '../text/units.ts';
import {
  absenceDeadline,
  drainDeadline,
  isOver,
  kubeletCallsIn,
  lastFlushAt,
  returnDeadline,
  settleEnd,
  startDeadline,
  stopDeadline,
  triggerAt,
} from './deadlines.ts';
import {
  describeCandidates,
  describeForeign,
  ENDED_BY_ITSELF,
  KILLED,
  STOPPED,
  SURVIVED,
} from './explain.ts';
import { flushAt, mayFlush } from './flushing.ts';
import { drainGate, owedNow } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Draining, DrainResult, End, Gate, State, StateName } from './state.ts';
import {
  changeTo,
  drain,
  finish,
  flush,
  KILL,
  resultOf,
  STOP,
  type Step,
  stay,
  stop,
  TERM_WORKERS,
  unfinishedLines,
} from './transitions.ts';
import {
  completesLines,
  hasMovedSince,
  isGuess,
  isMainBack,
  needsWitness,
  quietBy,
  requestedBy,
} from './trigger.ts';

type Rule<Name extends StateName> = (
  state: Extract<State, { name: Name }>,
  seen: Observation,
  policy: Policy,
) => Step;

/** From the last flush to the stop signal: of two signals that arrive together the stop would be handled first. */
const FLUSH_HEAD_START: Millis = 250;
/** How long SIGKILL may take before it is given up: only a process stuck in the kernel survives it. */
const KILL_TIMEOUT: Millis = 10_000;
/** A call may get no answer; Fluentd minds no second one. */
const TELL_AGAIN: Millis = 5_000;

/** The next state, and what to do now. Where the state changed, the same observation is good for another step at once. */
export function step(state: State, seen: Observation, policy: Policy): Step {
  switch (state.name) {
    case 'waiting':
      return endOf(state, seen, policy) ?? stepWaiting(state, seen, policy);
    case 'watching':
      return endOf(state, seen, policy) ?? stepWatching(state, seen, policy);
    case 'draining':
      return endOf(state, seen, policy) ?? stepDraining(state, seen, policy);
    case 'stopping':
      return stepStopping(state, seen, policy);
    case 'killing':
      return stepKilling(state, seen, policy);
    case 'stopped':
      return stay(state);
  }
}

const stepWaiting: Rule<'waiting'> = (state, seen, policy) => {
  if (seen.fluentd.kind === 'absent' && seen.goneSince === undefined)
    return waitForFluentd(state, seen, policy);
  const trigger = requestedBy(seen, policy);
  // A Fluentd that came late gets the whole time to drain.
  if (trigger !== undefined) return drain({ ...trigger, at: seen.at }, seen, policy);
  if (seen.logged && seen.started) return changeTo({ name: 'watching', since: seen.at }, 'Fluentd reads');
  const deadline = policy.quiet === 'off' ? undefined : startDeadline(state.since, policy);
  if (isOver(deadline, seen.at)) return drain({ by: 'start-timeout', at: seen.at }, seen, policy);
  return stay(state, deadline);
};

const stepWatching: Rule<'watching'> = (state, seen, policy) => {
  const trigger = requestedBy(seen, policy) ?? quietBy(seen, policy);
  if (trigger !== undefined) return drain(trigger, seen, policy);
  const rest = stay(state, triggerAt(seen, policy));
  return needsWitness(seen, policy) ? { ...rest, depth: 'all' } : rest;
};

const stepDraining: Rule<'draining'> = (before, seen, policy) => {
  const state = { ...before, owed: owedNow(before, seen, policy) };
  const { trigger } = state;
  const request = requestedBy(seen, policy);
  if (isGuess(trigger) && request !== undefined) return drain(request, seen, policy);
  if (isGuess(trigger) && hasMovedSince(trigger.at, seen))
    return changeTo({ name: 'watching', since: seen.at }, 'lines came in again');
  if (trigger.by === 'done-process' && isMainBack(seen) && request === undefined)
    return changeTo({ name: 'watching', since: seen.at }, "main's process runs again");
  const gate = drainGate(state, seen, policy);
  const deadline = drainDeadline(trigger, seen, policy);
  if (isOver(closingTime(deadline), seen.at) || kubeletCallsIn(seen).length > 1)
    return endAtDeadline(state, gate, seen, policy);
  if (seen.extent === 'overdue') return stay(state, closingTime(deadline));
  const isRead = gate === undefined || gate.name === 'flush' || gate.name === 'buffers';
  const unfinished =
    isRead && !state.completed && completesLines(trigger, policy) ? unfinishedLines(seen) : [];
  if (unfinished.length > 0) return stay({ ...state, completed: true }, undefined, unfinished);
  if (gate === undefined) return finishDrain(state, seen, policy, deadline);
  const kept: Draining = { ...state, emptyAt: undefined };
  const next = flushAt(state, gate, seen, policy);
  if (isOver(next, seen.at)) return flush(kept, seen, deadline);
  const times = [
    next,
    lastFlushAt(trigger, seen, policy),
    settleEnd(progressOf(seen, policy), trigger, seen, policy),
  ];
  const coming = times.filter((at) => at !== undefined && at > seen.at) as Millis[];
  return stay(kept, gate.name === 'look' ? seen.at : Math.min(closingTime(deadline), ...coming));
};

/** When a drain with this deadline is cut short: then there is still time for a last flush. */
function closingTime(deadline: Millis): Millis {
  return deadline - FLUSH_HEAD_START;
}

/** The stop is due, whatever is still open: what was read since the last flush is flushed first. */
function endAtDeadline(state: Draining, gate: Gate | undefined, seen: Observation, policy: Policy): Step {
  const { closingAt } = state;
  if (closingAt === undefined && gate !== undefined && mayFlush(state, seen, policy))
    return flush({ ...state, closingAt: seen.at }, seen, seen.at + FLUSH_HEAD_START);
  const deadline = drainDeadline(state.trigger, seen, policy);
  const hasSecondSignal = kubeletCallsIn(seen).length > 1;
  const end = closingAt !== undefined ? closingAt + FLUSH_HEAD_START : hasSecondSignal ? seen.at : deadline;
  if (!isOver(end, seen.at)) return stay(state, end);
  return stop(state, gate, seen, policy);
}

/** A flush is asked for by a signal, which takes its time: after it all gates have to be open in two looks. */
function finishDrain(state: Draining, seen: Observation, policy: Policy, deadline: Millis): Step {
  const isSure = state.flushedAt === undefined || (state.emptyAt !== undefined && state.emptyAt < seen.at);
  if (isSure) return stop(state, undefined, seen, policy);
  return stay({ ...state, emptyAt: state.emptyAt ?? seen.at }, deadline);
}

const stepStopping: Rule<'stopping'> = (state, seen, policy) => {
  const result = resultOf(state);
  const { fluentd } = seen;
  if (fluentd.kind === 'absent') return finish(endOfStop(state), seen, result);
  const deadline = stopDeadline(state, seen, policy);
  if (isOver(deadline, seen.at)) {
    const why = `Fluentd still runs ${formatDuration(seen.at - state.since)} after the stop signal`;
    return changeTo({ name: 'killing', since: seen.at, ...result }, why, [KILL]);
  }
  // After SIGUSR2 (1.18 and later) a successor goes on where the supervisor that was told has ended.
  if (fluentd.kind === 'running' && !state.told.includes(fluentd.supervisor.pid) && state.told.length > 0) {
    const told = [...state.told, fluentd.supervisor.pid];
    return stay({ ...state, told, toldAt: seen.at }, deadline, [STOP]);
  }
  if (fluentd.kind === 'remote' && isOver(state.toldAt + TELL_AGAIN, seen.at)) {
    return stay({ ...state, toldAt: seen.at }, deadline, [STOP]);
  }
  const halfTime = state.since + (deadline - state.since) / 2;
  const isOrphaned = fluentd.kind === 'orphaned' && !state.termedOrphans;
  if (isOrphaned && isOver(halfTime, seen.at))
    return stay({ ...state, termedOrphans: true }, deadline, [TERM_WORKERS]);
  return stay(state, isOrphaned ? halfTime : deadline);
};

/** Whoever started a supervisor that ended by itself learns how it ended; posidle only stopped the workers that it left. */
function endOfStop({ trigger }: DrainResult): End {
  return trigger.by === 'deserted' ? ENDED_BY_ITSELF : STOPPED;
}

const stepKilling: Rule<'killing'> = (state, seen) => {
  const result = resultOf(state);
  if (seen.fluentd.kind === 'absent') return finish(KILLED, seen, result);
  const deadline = state.since + KILL_TIMEOUT;
  return isOver(deadline, seen.at) ? finish(SURVIVED, seen, result) : stay(state, deadline);
};

/** The ends that need no drain, or cut it short: Fluentd is gone, or cannot be told. */
function endOf(state: State, seen: Observation, policy: Policy): Step | undefined {
  const { fluentd } = seen;
  const result = state.name === 'draining' ? resultOf(state) : undefined;
  if (fluentd.kind === 'ambiguous') {
    // The one that is meant may only just be opening its pos file.
    const deadline = seen.memory.began + SLOW_START;
    if (state.name === 'waiting' && !isOver(deadline, seen.at)) return stay(state, deadline);
    return finish({ kind: 'ambiguous', why: describeCandidates(fluentd.candidates) }, seen, result);
  }
  if (fluentd.kind === 'foreign')
    return finish({ kind: 'no-fluentd-named', why: describeForeign(fluentd.row) }, seen, result);
  if (seen.goneSince !== undefined && (policy.role === 'parent' || state.name === 'draining')) {
    const deadline = state.name === 'draining' ? returnDeadline(state.trigger, seen, policy) : seen.goneSince;
    if (isOver(deadline, seen.at)) return finish(ENDED_BY_ITSELF, seen, result);
  }
  if (policy.role === 'parent' && fluentd.kind === 'orphaned' && state.name !== 'draining')
    return drain({ by: 'deserted', at: seen.at }, seen, policy);
  if (fluentd.kind !== 'absent' && !fluentd.permitted) {
    const why = 'posidle may not signal fluentd: run it as the same user, or with the capability KILL';
    return finish({ kind: 'not-permitted', why }, seen, result);
  }
  return undefined;
}

function waitForFluentd(state: State, seen: Observation, policy: Policy): Step {
  const why = seen.fluentd.kind === 'absent' ? seen.fluentd.why : '';
  const deadline = absenceDeadline(state, seen, policy);
  // A parent sees its child from the first look on: not there is gone.
  const over = policy.role === 'parent' || isOver(deadline, seen.at);
  return over ? finish({ kind: 'no-fluentd', why }, seen, undefined) : stay(state, deadline);
}
