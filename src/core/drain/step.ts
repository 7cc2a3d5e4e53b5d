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
  isOver,
  NEVER,
  returnDeadline,
  startDeadline,
  stopDeadline,
  timedCallsIn,
  triggerAt,
} from './deadlines.ts';
import { CANNOT_BE_ASKED, describeCandidates } from './explain.ts';
import { isFlushDue, mayFlush } from './flushing.ts';
import { drainGate, pendingNow } from './gates.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate, Next, Of, State, StateName } from './state.ts';
import { changeTo, drain, endedByItself, endWith, flush, type Step, stay, stop } from './transitions.ts';
import { hasMovedSince, isGuess, isTakenBack, ofMainBy, quietBy, requestedBy } from './trigger.ts';

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

/** The next state and the action. If the state changed, call it again at once with the same observation. */
export function step(state: State, seen: Seen, policy: Policy): Step {
  return (RULES[state.name] as Rule<StateName>)(state, seen, policy);
}

const stepWaiting: Rule<'waiting'> = (state, seen, policy) => {
  if (!isUp(seen.fluentd) && seen.goneSince === undefined) return waitForFluentd(state, seen, policy);
  const trigger = requestedBy(seen, policy);
  // If Fluentd started after the trigger, the drain time begins now.
  if (trigger !== undefined) return drain({ ...trigger, at: seen.at }, seen, policy);
  if (seen.hasRead) return changeTo({ name: 'watching', since: seen.at }, 'Fluentd reads');
  const deadline = policy.quiet === 'off' ? NEVER : startDeadline(state.since, policy);
  if (isOver(deadline, seen.at)) return drain({ by: 'start-timeout', at: seen.at }, seen, policy);
  return stay(state, deadline);
};

const stepWatching: Rule<'watching'> = (state, seen, policy) => {
  const trigger = requestedBy(seen, policy) ?? quietBy(seen, policy);
  return trigger === undefined ? stay(state, triggerAt(seen, policy)) : drain(trigger, seen, policy);
};

const stepDraining: Rule<'draining'> = (before, seen, policy) => {
  const { trigger } = before;
  const request = requestedBy(seen, policy);
  if (isGuess(trigger) && request !== undefined) return drain(request, seen, policy);
  if (isGuess(trigger) && hasMovedSince(trigger.at, seen))
    return changeTo({ name: 'watching', since: seen.at }, 'lines came in again');
  if (isTakenBack(trigger, seen) && request === undefined)
    return changeTo({ name: 'watching', since: seen.at }, 'main runs again');
  const hasEnded = ofMainBy(trigger, seen, policy) === 'ended';
  const now = { ...before, mainEndedAt: hasEnded ? (before.mainEndedAt ?? seen.at) : undefined };
  const state = { ...now, pending: pendingNow(now, seen) };
  const gate = drainGate(state, seen, policy);
  if (isOver(closingTime(state, seen, policy), seen.at)) return endAtDeadline(state, gate, seen, policy);
  if (seen.extent === 'overdue') return stay(state);
  if (gate === undefined) return closeDrain(state, seen, policy);
  const kept = { ...state, emptyAt: undefined };
  if (isFlushDue(state, gate, seen, policy)) return flush(kept, seen);
  return stay(kept, gate.name === 'look' ? seen.at : NEVER);
};

/** When a drain must close: one flush before its deadline, or at the second signal. */
function closingTime({ trigger }: Draining, seen: Seen, policy: Policy): Millis {
  const [, second] = timedCallsIn(seen);
  return Math.min(second?.at ?? NEVER, drainDeadline(trigger, seen, policy) - FLUSH_HEAD_START);
}

/** Stops although a gate is closed. First it flushes what Fluentd has read since the last flush. */
function endAtDeadline(state: Draining, gate: Gate | undefined, seen: Seen, policy: Policy) {
  const { flushedAt = Number.NEGATIVE_INFINITY } = state;
  const isFlushed = flushedAt >= closingTime(state, seen, policy);
  if (!isFlushed && gate !== undefined && mayFlush(state, seen)) return flush(state, seen);
  const isCutShort = timedCallsIn(seen).length > 1;
  const deadline = isCutShort ? seen.at : drainDeadline(state.trigger, seen, policy);
  const end = isFlushed ? flushedAt + FLUSH_HEAD_START : deadline;
  return isOver(end, seen.at) ? stop(state, gate, seen, policy) : stay(state);
}

/** A flush signal takes effect with a delay. So after a flush all gates must be open in two looks. */
function closeDrain(state: Draining, seen: Seen, policy: Policy) {
  const isSure = state.flushedAt === undefined || (state.emptyAt !== undefined && state.emptyAt < seen.at);
  return isSure
    ? stop(state, undefined, seen, policy)
    : stay({ ...state, emptyAt: state.emptyAt ?? seen.at });
}

const stepStopping: Rule<'stopping'> = (state, seen, policy) => {
  const { since, trigger, pending, told, toldAt } = state;
  const { fluentd, at } = seen;
  if (fluentd.kind === 'absent') {
    // The supervisor ended by itself, and posidle stopped only its workers.
    if (trigger.by === 'deserted') return endedByItself(seen, state);
    return endWith('stopped', 'Fluentd is gone', seen, state);
  }
  if (isOver(stopDeadline(state, seen, policy), at)) {
    // posidle signals no process of another container.
    if (fluentd.kind === 'remote') return endWith('survived', 'Fluentd still runs', seen, state);
    const why = `Fluentd still runs ${formatDuration(at - since)} after the stop signal`;
    const killed = fluentd.kind === 'running' ? fluentd.supervisor.pid : undefined;
    return changeTo({ name: 'killing', since: at, killed, trigger, pending }, why, 'kill');
  }
  // SIGUSR2 (1.18 and later) may have started a new supervisor, which must stop as well.
  if (fluentd.kind === 'running' && !told.includes(fluentd.supervisor.pid) && told.length > 0)
    return stay({ ...state, told: [...told, fluentd.supervisor.pid], toldAt: at }, NEVER, 'stop');
  if (fluentd.kind === 'remote' && isOver(toldAt + TELL_AGAIN, at))
    return stay({ ...state, toldAt: at }, NEVER, 'stop');
  return stay(state);
};

const stepKilling: Rule<'killing'> = (state, seen) => {
  const { fluentd } = seen;
  if (fluentd.kind === 'absent') return endWith('killed', 'Fluentd is gone after SIGKILL', seen, state);
  // SIGUSR2 may have started a new supervisor just before.
  if (fluentd.kind === 'running' && fluentd.supervisor.pid !== state.killed)
    return stay({ ...state, killed: fluentd.supervisor.pid }, NEVER, 'kill');
  if (!isOver(state.since + KILL_TIMEOUT, seen.at)) return stay(state);
  return endWith('survived', 'posidle could not kill Fluentd, which still runs', seen, state);
};

/** The ends without a complete drain: Fluentd is gone, or posidle may not signal it or cannot identify it. */
function endOf<From extends Of<'waiting' | 'watching' | 'draining'>>(
  state: From,
  seen: Seen,
  policy: Policy,
): Step<From | Of<'stopped'>> | undefined {
  const { fluentd, at } = seen;
  if (fluentd.kind === 'ambiguous') {
    if (state.name === 'waiting') {
      // The right one may not have opened its pos file yet.
      const deadline = Math.min(seen.began + SLOW_START, absenceDeadline(state, seen, policy));
      if (!isOver(deadline, at)) return stay(state, deadline);
    }
    return endWith('ambiguous', describeCandidates(fluentd.candidates), seen, state);
  }
  const isGone =
    policy.role === 'parent'
      ? seen.goneSince !== undefined
      : state.name === 'draining' && isOver(returnDeadline(state.trigger, seen, policy), at);
  if (isGone) return endedByItself(seen, state);
  if (fluentd.kind === 'running' && fluentd.proof === 'not-permitted') {
    const why = 'posidle may not signal fluentd: run it as the same user, or with the capability KILL';
    return endWith('not-permitted', why, seen, state);
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
  return over ? endWith('no-fluentd', why, seen, state) : stay({ ...state, startingAt }, deadline);
}
