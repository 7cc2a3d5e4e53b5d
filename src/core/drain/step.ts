/**
 * The decision. Rule 1: only this file decides whether the state changes; trigger.ts says what begins the drain, and transitions.ts builds
 * the result. Rule 2: this file sees only the state, the observation and the policy. It has no clock, no process and no file.
 */
import { isUp } from '../progress/fluentd-reading.ts';
import { SLOW_START } from '../progress/limits.ts';
import type { Seen } from '../progress/seen.ts';
import { formatDuration, type Millis } from '../text/units.ts';
import {
  absenceDeadline,
  drainDeadline,
  earliest,
  finishEnd,
  isOver,
  keptUntil,
  lastFlushAt,
  returnDeadline,
  startDeadline,
  stopDeadline,
  timedCallsIn,
  triggerAt,
} from './deadlines.ts';
import {
  CANNOT_BE_ASKED,
  describeCandidates,
  ENDED_BY_ITSELF,
  KILLED,
  OUT_OF_REACH,
  STOPPED,
  SURVIVED,
} from './explain.ts';
import { flushAt, mayFlush } from './flushing.ts';
import { drainGate, pendingNow } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Draining, DrainResult, Gate, Next, Of, State, StateName } from './state.ts';
import { changeTo, drain, endWith, flush, resultOf, type Step, stay, stop } from './transitions.ts';
import {
  hasMainEnded,
  hasMovedSince,
  isGuess,
  isTakenBack,
  needsWitness,
  quietBy,
  requestedBy,
  settleEnd,
} from './trigger.ts';

type Rule<Name extends StateName> = (
  state: Of<Name>,
  seen: Seen,
  policy: Policy,
) => Step<Of<Name | Next<Name>>>;

/** From the last flush to the stop signal. If both arrive together, Fluentd handles the stop first. */
const FLUSH_HEAD_START: Millis = 250;
/** posidle waits this long after SIGKILL. Only a process stuck in the kernel survives it. */
const KILL_TIMEOUT: Millis = 10_000;
/** Repeat a stop through the witness, because the first may have been lost. A second stop does no harm. */
const TELL_AGAIN: Millis = 5_000;

const RULES: { readonly [Name in StateName]: Rule<Name> } = {
  waiting: (...look) => endOf(...look) ?? stepWaiting(...look),
  watching: (...look) => endOf(...look) ?? stepWatching(...look),
  draining: (...look) => endOf(...look) ?? stepDraining(...look),
  stopping: (...look) => stepStopping(...look),
  killing: (...look) => stepKilling(...look),
  stopped: (state) => stay(state),
};

/** The next state and the actions. If the state changed, call it again at once with the same observation. */
export function step(state: State, seen: Seen, policy: Policy): Step {
  return (RULES[state.name] as Rule<StateName>)(state, seen, policy);
}

const stepWaiting: Rule<'waiting'> = (state, seen, policy) => {
  if (!isUp(seen.fluentd) && seen.goneSince === undefined) return waitForFluentd(state, seen, policy);
  const trigger = requestedBy(seen, policy);
  // If Fluentd started after the trigger, the drain time begins now.
  if (trigger !== undefined) return drain({ ...trigger, at: seen.at }, seen, policy);
  if (seen.hasRead) return changeTo({ name: 'watching', since: seen.at }, 'Fluentd reads');
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
  const { trigger } = before;
  const now = { ...before, mainHasEnded: hasMainEnded(trigger, seen, policy) };
  const state = { ...now, pending: pendingNow(now, seen) };
  const request = requestedBy(seen, policy);
  if (isGuess(trigger) && request !== undefined) return drain(request, seen, policy);
  if (isGuess(trigger) && hasMovedSince(trigger.at, seen))
    return changeTo({ name: 'watching', since: seen.at }, 'lines came in again');
  if (isTakenBack(trigger, seen) && request === undefined)
    return changeTo({ name: 'watching', since: seen.at }, 'main runs again');
  const gate = drainGate(state, seen, policy);
  const deadline = drainDeadline(trigger, seen, policy);
  if (isOver(closingTime(deadline), seen.at) || timedCallsIn(seen).length > 1)
    return endAtDeadline(state, gate, seen, policy);
  if (seen.extent === 'overdue') return stay(state, closingTime(deadline));
  if (gate === undefined) return closeDrain(state, seen, policy, deadline);
  const kept: Draining = { ...state, emptyAt: undefined };
  const next = flushAt(state, gate, seen, policy);
  if (isOver(next, seen.at)) return flush(kept, seen, deadline);
  const times = [
    next,
    lastFlushAt(trigger, seen, policy),
    settleEnd(trigger, seen, policy),
    finishEnd(trigger, seen),
    keptUntil(trigger, seen),
  ];
  const coming = times.filter((at) => at !== undefined && at > seen.at) as Millis[];
  return stay(kept, gate.name === 'look' ? seen.at : Math.min(closingTime(deadline), ...coming));
};

/** When a drain with this deadline must close: one flush before the deadline. */
function closingTime(deadline: Millis): Millis {
  return deadline - FLUSH_HEAD_START;
}

/** Stops although a gate is closed. First it flushes what Fluentd has read since the last flush. */
function endAtDeadline(state: Draining, gate: Gate | undefined, seen: Seen, policy: Policy) {
  const { closingAt } = state;
  if (closingAt === undefined && gate !== undefined && mayFlush(state, seen))
    return flush({ ...state, closingAt: seen.at }, seen, seen.at + FLUSH_HEAD_START);
  const deadline = drainDeadline(state.trigger, seen, policy);
  const hasSecondSignal = timedCallsIn(seen).length > 1;
  const end = closingAt !== undefined ? closingAt + FLUSH_HEAD_START : hasSecondSignal ? seen.at : deadline;
  if (!isOver(end, seen.at)) return stay(state, end);
  return stop(state, gate, seen, policy);
}

/** A flush signal takes effect with a delay. So after a flush all gates must be open in two looks. */
function closeDrain(state: Draining, seen: Seen, policy: Policy, deadline: Millis) {
  const isSure = state.flushedAt === undefined || (state.emptyAt !== undefined && state.emptyAt < seen.at);
  if (isSure) return stop(state, undefined, seen, policy);
  return stay({ ...state, emptyAt: state.emptyAt ?? seen.at }, deadline);
}

const stepStopping: Rule<'stopping'> = (state, seen, policy) => {
  const result = resultOf(state);
  const { fluentd } = seen;
  if (fluentd.kind === 'absent') return endWith(isDeserted(state) ? ENDED_BY_ITSELF : STOPPED, seen, result);
  const deadline = stopDeadline(state, seen, policy);
  if (isOver(deadline, seen.at)) {
    if (fluentd.kind === 'remote') return endWith(OUT_OF_REACH, seen, result);
    const why = `Fluentd still runs ${formatDuration(seen.at - state.since)} after the stop signal`;
    return changeTo({ name: 'killing', since: seen.at, ...result }, why, [{ do: 'kill' }]);
  }
  // SIGUSR2 (1.18 and later) may have started a new supervisor, which must stop as well.
  if (fluentd.kind === 'running' && !state.told.includes(fluentd.supervisor.pid) && state.told.length > 0) {
    const told = [...state.told, fluentd.supervisor.pid];
    return stay({ ...state, told, toldAt: seen.at }, deadline, [{ do: 'stop' }]);
  }
  if (fluentd.kind === 'remote' && isOver(state.toldAt + TELL_AGAIN, seen.at)) {
    return stay({ ...state, toldAt: seen.at }, deadline, [{ do: 'stop' }]);
  }
  return stay(state, deadline);
};

/** The supervisor ended by itself, and posidle stopped only its workers. */
function isDeserted({ trigger }: DrainResult): boolean {
  return trigger.by === 'deserted';
}

const stepKilling: Rule<'killing'> = (state, seen) => {
  const result = resultOf(state);
  if (seen.fluentd.kind === 'absent') return endWith(KILLED, seen, result);
  const deadline = state.since + KILL_TIMEOUT;
  return isOver(deadline, seen.at) ? endWith(SURVIVED, seen, result) : stay(state, deadline);
};

/** The ends without a complete drain: Fluentd is gone, or posidle may not signal it or cannot identify it. */
function endOf<From extends Of<'waiting' | 'watching' | 'draining'>>(
  state: From,
  seen: Seen,
  policy: Policy,
): Step<From | Draining | Of<'stopped'>> | undefined {
  const { fluentd } = seen;
  const result = state.name === 'draining' ? resultOf(state) : undefined;
  if (fluentd.kind === 'ambiguous') {
    // The right one may not have opened its pos file yet.
    const deadline = earliest([seen.began + SLOW_START, absenceDeadline(state, seen, policy)]);
    if (state.name === 'waiting' && !isOver(deadline, seen.at)) return stay(state, deadline);
    return endWith({ kind: 'ambiguous', why: describeCandidates(fluentd.candidates) }, seen, result);
  }
  if (seen.goneSince !== undefined && (policy.role === 'parent' || state.name === 'draining')) {
    const deadline = state.name === 'draining' ? returnDeadline(state.trigger, seen, policy) : seen.goneSince;
    if (isOver(deadline, seen.at)) return endWith(ENDED_BY_ITSELF, seen, result);
  }
  if (fluentd.kind === 'running' && fluentd.proof === 'not-permitted') {
    const why = 'posidle may not signal fluentd: run it as the same user, or with the capability KILL';
    return endWith({ kind: 'not-permitted', why }, seen, result);
  }
  return undefined;
}

function waitForFluentd(state: Of<'waiting'>, seen: Seen, policy: Policy) {
  const { fluentd, at } = seen;
  const why = fluentd.kind === 'absent' ? fluentd.why : CANNOT_BE_ASKED;
  const startingAt = fluentd.kind === 'absent' ? state.startingAt : at;
  const deadline = absenceDeadline(state, seen, policy);
  // A parent sees its child in the first look, so an absent child has ended. Before that look has ended nobody knows.
  const hasLooked = seen.extent !== 'overdue';
  const over = (policy.role === 'parent' && hasLooked) || isOver(deadline, at);
  return over
    ? endWith({ kind: 'no-fluentd', why }, seen, undefined)
    : stay({ ...state, startingAt }, deadline);
}
