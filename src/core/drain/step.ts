/**
 * The decision, whole. Rule 1: whether the state changes is said in this file; moves.ts only says what a change consists of. Rule 2: it knows no clock, no process
 * and no file, only the state, the observation and the policy that it is given.
 */

import { bufferedIn } from '../fluentd/buffers.ts';
import type { Observation } from '../observe/observation.ts';
import { formatDuration, type Millis } from '../text/units.ts';
import {
  absenceDeadline,
  doubtEnd,
  drainDeadline,
  isOver,
  mainEndAt,
  quietAt,
  settleEnd,
  signalsIn,
  startDeadline,
  stopDeadline,
  triggerAt,
} from './deadlines.ts';
import { describeCandidates } from './explain.ts';
import { bufferGate, hasBytesLeft, readGate } from './gates.ts';
import {
  catchUp,
  desert,
  endLines,
  FLUSH,
  finish,
  flush,
  KILL,
  move,
  readAnew,
  type Step,
  stay,
  stop,
  stopAction,
  TERM_WORKERS,
} from './moves.ts';
import { FLUSH_AGAIN, type Policy } from './policy.ts';
import type { Gate, State, StateName, Trigger, Verdict } from './state.ts';

type Rule<Name extends StateName> = (
  state: Extract<State, { name: Name }>,
  seen: Observation,
  policy: Policy,
) => Step;

/** How long SIGKILL may take before it is given up: only a process stuck in the kernel survives it. */
const KILL_TIMEOUT: Millis = 10_000;

/** The next state, and what to do now. Where the state changed, the same observation is good for another step at once. */
export function step(state: State, seen: Observation, policy: Policy): Step {
  switch (state.name) {
    case 'waiting':
      return endOf(state, seen, policy) ?? stepWaiting(state, seen, policy);
    case 'watching':
      return endOf(state, seen, policy) ?? stepWatching(state, seen, policy);
    case 'catching-up':
      return endOf(state, seen, policy) ?? stepCatchingUp(state, seen, policy);
    case 'flushing':
      return endOf(state, seen, policy) ?? stepFlushing(state, seen, policy);
    case 'stopping':
      return stepStopping(state, seen, policy);
    case 'killing':
      return stepKilling(state, seen, policy);
    case 'stopped':
      return stay(state);
  }
}

const stepWaiting: Rule<'waiting'> = (state, seen, policy) => {
  if (seen.fluentd.kind === 'absent') return waitForFluentd(state, seen, policy);
  const trigger = requestedBy(seen, policy);
  if (trigger !== undefined) return catchUp(trigger, seen, policy);
  if (seen.logged && seen.started) return move({ name: 'watching', since: seen.at }, 'Fluentd reads');
  const deadline = policy.quiet === 'off' ? undefined : startDeadline(state, policy);
  if (isOver(deadline, seen.at)) return catchUp({ by: 'start-timeout', at: seen.at }, seen, policy);
  return stay(state, deadline);
};

const stepWatching: Rule<'watching'> = (state, seen, policy) => {
  const trigger = requestedBy(seen, policy) ?? quietBy(seen, policy);
  if (trigger !== undefined) return catchUp(trigger, seen, policy);
  return stay(state, triggerAt(seen, policy));
};

const stepCatchingUp: Rule<'catching-up'> = (state, seen, policy) => {
  const { trigger } = state;
  const turn = turnOf(state, seen, policy);
  if (turn !== undefined) return turn;
  const gate = gateOf(state, seen);
  const settledAt = gate === undefined ? settleEnd(state, seen, policy) : undefined;
  if (isOver(settledAt, seen.at)) {
    const unfinished = policy.completeLastLine && !state.completed ? endLines(seen) : [];
    if (unfinished.length > 0) return stay({ ...state, completed: true }, undefined, unfinished);
    return flush(state, seen, policy);
  }
  const deadline = drainDeadline(trigger, seen, policy);
  if (isOver(deadline, seen.at)) return stop({ trigger, gate: gate ?? SETTLE }, seen, policy);
  return stay(state, gate?.name === 'look' ? seen.at : Math.min(deadline, settledAt ?? deadline));
};

const stepFlushing: Rule<'flushing'> = (state, seen, policy) => {
  const { trigger } = state;
  const turn = turnOf(state, seen, policy);
  if (turn !== undefined) return turn;
  const unread = gateOf(state, seen);
  if (unread !== undefined && unread.name !== 'look')
    return readAnew(state, seen, `not all is read any more: ${unread.why}`);
  const gate = bufferGate(seen);
  // Between staged and queued a chunk has no name for an instant (buf_file.rb): one look proves nothing.
  if (gate === undefined && state.emptyAt !== undefined) return stop({ trigger, gate }, seen, policy);
  const emptyAt = gate === undefined && seen.at > state.flushedAt ? seen.at : undefined;
  const deadline = drainDeadline(trigger, seen, policy);
  if (isOver(deadline, seen.at)) return stop({ trigger, gate }, seen, policy);
  const again = state.flushedAt + FLUSH_AGAIN;
  if (isOver(again, seen.at)) return stay({ ...state, emptyAt, flushedAt: seen.at }, deadline, [FLUSH]);
  return stay({ ...state, emptyAt }, Math.min(deadline, again));
};

const stepStopping: Rule<'stopping'> = (state, seen, policy) => {
  const { trigger, gate, held } = state;
  const verdict = { trigger, gate, held };
  const kind = state.deserted ? 'ended-by-itself' : 'stopped';
  if (seen.fluentd.kind === 'absent') return finish({ kind }, seen, verdict);
  const deadline = stopDeadline(state, seen, policy);
  if (isOver(deadline, seen.at)) {
    const why = `Fluentd still runs ${formatDuration(seen.at - state.since)} after the stop signal`;
    return move({ name: 'killing', since: seen.at, ...verdict }, why, [KILL]);
  }
  if (seen.fluentd.kind === 'remote' && isOver(state.toldAt + TELL_AGAIN, seen.at)) {
    return stay({ ...state, toldAt: seen.at }, deadline, [stopAction(policy)]);
  }
  const halfTime = state.since + (deadline - state.since) / 2;
  const orphaned = seen.fluentd.kind === 'orphaned' && !state.termedOrphans;
  if (orphaned && isOver(halfTime, seen.at))
    return stay({ ...state, termedOrphans: true }, deadline, [TERM_WORKERS]);
  return stay(state, orphaned ? halfTime : deadline);
};

const stepKilling: Rule<'killing'> = (state, seen) => {
  const { trigger, gate, held } = state;
  const verdict = { trigger, gate, held };
  if (seen.fluentd.kind === 'absent') return finish({ kind: 'killed' }, seen, verdict);
  const deadline = state.since + KILL_TIMEOUT;
  return isOver(deadline, seen.at) ? finish({ kind: 'survived' }, seen, verdict) : stay(state, deadline);
};

/** A call may get no answer; Fluentd minds no second one. */
const TELL_AGAIN: Millis = 5_000;
const SETTLE: Gate = { name: 'settle', why: 'everything was read, but not for long enough to be believed' };

/** The ends that need no drain: Fluentd is gone, or cannot be told. */
function endOf(state: State, seen: Observation, policy: Policy): Step | undefined {
  const { fluentd } = seen;
  const verdict = verdictOf(state, seen);
  if (fluentd.kind === 'ambiguous') {
    return finish({ kind: 'ambiguous', why: describeCandidates(fluentd.candidates) }, seen, verdict);
  }
  if (seen.goneSince !== undefined) {
    // A restart, or SIGUSR2 since 1.18, puts another supervisor in its place.
    const deadline = seen.goneSince + (policy.parent ? 0 : policy.settle);
    if (isOver(deadline, seen.at)) return finish({ kind: 'ended-by-itself' }, seen, verdict);
    return state.name === 'flushing'
      ? readAnew(state, seen, 'Fluentd is away for now')
      : stay(state, deadline);
  }
  if (policy.parent && fluentd.kind === 'orphaned') return desert(seen, verdict);
  if (fluentd.kind !== 'absent' && !fluentd.permitted && !policy.dryRun) {
    const why = 'posidle may not signal fluentd: run it as the same user, or with the capability KILL';
    return finish({ kind: 'not-permitted', why }, seen, verdict);
  }
  return undefined;
}

/** What a drain that is under way comes to if it ends here. */
function verdictOf(state: State, seen: Observation): Verdict | undefined {
  if (state.name !== 'catching-up' && state.name !== 'flushing') return undefined;
  return { trigger: state.trigger, gate: gateOf(state, seen), held: bufferedIn(seen.buffers) };
}

/** What turns a drain around or cuts it short: a call for the end, a second one, or lines after a mere guess. */
function turnOf(
  state: Extract<State, { name: 'catching-up' | 'flushing' }>,
  seen: Observation,
  policy: Policy,
): Step | undefined {
  const { trigger } = state;
  const request = requestedBy(seen, policy);
  if (isGuess(trigger) && request !== undefined) return catchUp(request, seen, policy);
  if (isGuess(trigger) && hasMovedSince(trigger.at, seen)) {
    return move({ name: 'watching', since: seen.at }, 'lines came in again');
  }
  if (signalsIn(seen).length < 2) return undefined;
  const held = isOver(settleEnd(state, seen, policy), seen.at) ? undefined : SETTLE;
  return stop({ trigger, gate: gateOf(state, seen) ?? bufferGate(seen) ?? held }, seen, policy);
}

function waitForFluentd(state: State, seen: Observation, policy: Policy): Step {
  const why = seen.fluentd.kind === 'absent' ? seen.fluentd.why : '';
  const deadline = absenceDeadline(state, seen, policy);
  // A parent sees its child from the first look on: not there is gone.
  const over = policy.parent || isOver(deadline, seen.at);
  return over ? finish({ kind: 'no-fluentd', why }, seen, undefined) : stay(state, deadline);
}

/** Certain ends: a call from outside, or main's process that is gone. */
function requestedBy(seen: Observation, policy: Policy): Trigger | undefined {
  return seen.requests[0] ?? mainEndedBy(seen, policy);
}

function mainEndedBy(seen: Observation, policy: Policy): Trigger | undefined {
  if (!policy.doneProcess) return undefined;
  return isOver(mainEndAt(seen, policy), seen.at) ? { by: 'done-process', at: seen.at } : undefined;
}

/** Quiet: something was logged, nothing has moved for the window, and no bytes are left that could still move. */
function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isKnown = seen.unknown.length === 0 || isOver(doubtEnd(seen, policy), seen.at);
  const isQuiet = isKnown && isOver(quietAt(seen, policy), seen.at) && !hasBytesLeft(seen);
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

/** Silence can be taken back; a signal, a marker, an exit and a call cannot. */
function isGuess({ by }: Trigger): boolean {
  return by === 'quiet' || by === 'start-timeout';
}

function hasMovedSince(at: Millis, { movedAt }: Observation): boolean {
  return movedAt !== undefined && movedAt > at;
}

/** Only after a whole start timeout is an empty pos file the word that nothing was logged. */
function gateOf({ trigger }: { readonly trigger: Trigger }, seen: Observation): Gate | undefined {
  return readGate(seen, trigger.by === 'start-timeout') ?? restartGate(seen);
}

/** A Fluentd that was seen is gone, and its wrapper goes on: it may start another one. */
function restartGate({ fluentd, memory }: Observation): Gate | undefined {
  const isAwaited = fluentd.kind === 'wrapper' && memory.supervisor !== undefined;
  return isAwaited
    ? { name: 'worker', why: 'Fluentd has ended, and its wrapper has not started another one' }
    : undefined;
}
