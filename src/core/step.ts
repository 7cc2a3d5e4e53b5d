/**
 * The decision, whole. Rule 1: everything that changes the state stands in this file. Rule 2: it knows no clock, no process
 * and no file, only the state, the observation and the policy that it is given.
 */
import { hasBytesLeft, openGate } from './gates.ts';
import type { Observation } from './observation.ts';
import { type Policy, stopReserve } from './policy.ts';
import type { Action, End, Gate, State, StateName, Trigger, Verdict } from './state.ts';
import { counted, formatDuration, type Millis } from './units.ts';

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
  /** Look again at this instant at the latest; undefined: whenever. */
  readonly wakeAt: Millis | undefined;
  /** Why the state changed. */
  readonly why: string;
}

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
  const trigger = requestedBy(seen);
  if (trigger !== undefined) return catchUp(trigger, seen, policy);
  if (seen.logged && seen.started) return move({ name: 'watching', since: seen.at }, 'Fluentd reads');
  const deadline = policy.quiet === 'off' ? undefined : startDeadline(state, policy);
  if (isOver(deadline, seen.at)) return catchUp({ by: 'start-timeout', at: seen.at }, seen, policy);
  return stay(state, deadline);
};

const stepWatching: Rule<'watching'> = (state, seen, policy) => {
  const trigger = requestedBy(seen) ?? quietBy(seen, policy);
  return trigger === undefined ? stay(state, quietAt(seen, policy)) : catchUp(trigger, seen, policy);
};

const stepCatchingUp: Rule<'catching-up'> = (state, seen, policy) => {
  const { trigger } = state;
  const request = requestedBy(seen);
  if (isGuess(trigger) && request !== undefined) return catchUp(request, seen, policy);
  if (isGuess(trigger) && hasMovedSince(trigger.at, seen)) {
    return move({ name: 'watching', since: seen.at }, 'lines came in again');
  }
  if (seen.requests.length > 1) return stop({ trigger, gate: gateOf(state, seen) }, seen, policy);
  const gate = gateOf(state, seen);
  const settledAt = gate === undefined ? settleEnd(state, seen, policy) : undefined;
  if (isOver(settledAt, seen.at)) return stop({ trigger, gate: undefined }, seen, policy);
  const deadline = drainDeadline(trigger, policy);
  if (isOver(deadline, seen.at)) return stop({ trigger, gate: gate ?? SETTLE }, seen, policy);
  return stay(state, Math.min(deadline, settledAt ?? deadline));
};

const stepStopping: Rule<'stopping'> = (state, seen, policy) => {
  const { trigger, gate } = state;
  if (seen.fluentd.kind === 'absent') return finish({ kind: 'stopped' }, seen, { trigger, gate });
  const deadline = stopDeadline(state, policy);
  if (isOver(deadline, seen.at)) {
    const why = `Fluentd still runs ${formatDuration(seen.at - state.since)} after the stop signal`;
    return move({ name: 'killing', since: seen.at, trigger, gate }, why, [KILL]);
  }
  const halfTime = state.since + (deadline - state.since) / 2;
  const orphaned = seen.fluentd.kind === 'orphaned' && !state.termedOrphans;
  if (orphaned && isOver(halfTime, seen.at))
    return stay({ ...state, termedOrphans: true }, deadline, [TERM_WORKERS]);
  return stay(state, orphaned ? halfTime : deadline);
};

const stepKilling: Rule<'killing'> = (state, seen) => {
  const { trigger, gate } = state;
  if (seen.fluentd.kind === 'absent') return finish({ kind: 'killed' }, seen, { trigger, gate });
  const deadline = state.since + KILL_TIMEOUT;
  return isOver(deadline, seen.at)
    ? finish({ kind: 'survived' }, seen, { trigger, gate })
    : stay(state, deadline);
};

const KILL: Action = { do: 'signal', target: 'all', signal: 'SIGKILL' };
// A worker whose supervisor is gone ignores SIGINT, and ends well on SIGTERM (supervisor.rb:997-1006).
const TERM_WORKERS: Action = { do: 'signal', target: 'workers', signal: 'SIGTERM' };
const SETTLE: Gate = { name: 'settle', why: 'everything was read, but not for long enough to be believed' };

/** The ends that need no drain: Fluentd is gone, or cannot be told. */
function endOf(state: State, seen: Observation, policy: Policy): Step | undefined {
  const { fluentd } = seen;
  const verdict =
    state.name === 'catching-up' ? { trigger: state.trigger, gate: gateOf(state, seen) } : undefined;
  if (fluentd.kind === 'ambiguous') {
    const list = fluentd.candidates
      .map(({ pid, argv }) => `pid ${pid} (${argv.join(' ').trim()})`)
      .join(', ');
    const why = `${fluentd.candidates.length} independent fluentds run: ${list}; name one with --pid-file, --pid or --process`;
    return finish({ kind: 'ambiguous', why }, seen, verdict);
  }
  if (seen.goneSince !== undefined) {
    // A restart, or SIGUSR2 since 1.18, puts another supervisor in its place.
    const deadline = seen.goneSince + policy.settle;
    return isOver(deadline, seen.at)
      ? finish({ kind: 'ended-by-itself' }, seen, verdict)
      : stay(state, deadline);
  }
  if (fluentd.kind !== 'absent' && !fluentd.permitted && !policy.dryRun) {
    const why = 'posidle may not signal fluentd: run it as the same user, or with the capability KILL';
    return finish({ kind: 'not-permitted', why }, seen, verdict);
  }
  return undefined;
}

function waitForFluentd(state: State, seen: Observation, policy: Policy): Step {
  const why = seen.fluentd.kind === 'absent' ? seen.fluentd.why : '';
  const deadline = startDeadline(state, policy);
  const over = isOver(deadline, seen.at) || seen.requests.length > 0;
  return over ? finish({ kind: 'no-fluentd', why }, seen, undefined) : stay(state, deadline);
}

function requestedBy(seen: Observation): Trigger | undefined {
  return seen.requests[0];
}

/** Quiet: something was logged, nothing has moved for the window, and no bytes are left that could still move. */
function quietBy(seen: Observation, policy: Policy): Trigger | undefined {
  const isQuiet = isOver(quietAt(seen, policy), seen.at) && seen.unknown.length === 0 && !hasBytesLeft(seen);
  return isQuiet ? { by: 'quiet', at: seen.at } : undefined;
}

function quietAt({ movedAt }: Observation, { quiet }: Policy): Millis | undefined {
  return quiet === 'off' || movedAt === undefined ? undefined : movedAt + quiet;
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
  return openGate(seen, trigger.by === 'start-timeout');
}

/** The quiet window counts towards the settle time; what came before any other trigger does not. */
function settleEnd({ trigger }: { readonly trigger: Trigger }, seen: Observation, policy: Policy): Millis {
  const since = seen.readSince ?? trigger.at;
  return (trigger.by === 'quiet' ? since : Math.max(since, trigger.at)) + policy.settle;
}

function startDeadline({ since }: State, { startTimeout }: Policy): Millis | undefined {
  return startTimeout === 'off' ? undefined : since + startTimeout;
}

function isSignal({ by }: Trigger): boolean {
  return by === 'SIGTERM' || by === 'SIGINT';
}

function drainDeadline(trigger: Trigger, policy: Policy): Millis {
  return trigger.at + (isSignal(trigger) ? policy.grace - stopReserve(policy) : policy.drainTimeout);
}

function stopDeadline({ since, trigger }: Extract<State, { name: 'stopping' }>, policy: Policy): Millis {
  return isSignal(trigger)
    ? Math.max(trigger.at + policy.grace, since + stopReserve(policy))
    : since + policy.stopTimeout;
}

function isOver(deadline: Millis | undefined, at: Millis): boolean {
  return deadline !== undefined && at >= deadline;
}

function catchUp(trigger: Trigger, seen: Observation, policy: Policy): Step {
  const state: State = { name: 'catching-up', since: seen.at, trigger };
  return move(state, describeTrigger(trigger, seen, policy));
}

function describeTrigger({ by }: Trigger, seen: Observation, policy: Policy): string {
  switch (by) {
    case 'quiet':
      return `nothing has moved for ${formatDuration(seen.at - (seen.movedAt ?? seen.at))}`;
    case 'start-timeout':
      return `nothing was ever logged within --start-timeout (${formatDuration(Number(policy.startTimeout))})`;
    case 'SIGTERM':
    case 'SIGINT':
      return `posidle got ${by}`;
  }
}

function stop(verdict: Verdict, seen: Observation, policy: Policy): Step {
  if (policy.dryRun) return finish({ kind: 'dry-run' }, seen, verdict);
  const { gate } = verdict;
  const why =
    gate === undefined
      ? `everything is read (${counted(seen.files.length, 'file')})`
      : `the drain ends without ${gate.name}: ${gate.why}`;
  const orphaned = seen.fluentd.kind === 'orphaned';
  const action: Action = orphaned
    ? TERM_WORKERS
    : { do: 'signal', target: 'supervisor', signal: policy.stopSignal };
  return move({ name: 'stopping', since: seen.at, termedOrphans: orphaned, ...verdict }, why, [action]);
}

function finish(end: End, seen: Observation, verdict: Verdict | undefined): Step {
  return move({ name: 'stopped', since: seen.at, end, verdict }, describeEnd(end));
}

function describeEnd(end: End): string {
  switch (end.kind) {
    case 'stopped':
      return 'Fluentd is gone';
    case 'killed':
      return 'Fluentd is gone after SIGKILL';
    case 'survived':
      return 'Fluentd is still there after SIGKILL';
    case 'ended-by-itself':
      return 'Fluentd ended by itself';
    case 'dry-run':
      return 'dry run: nothing was signalled';
    case 'no-fluentd':
    case 'not-permitted':
    case 'ambiguous':
      return end.why;
  }
}

function move(state: State, why: string, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt: undefined, why };
}

function stay(state: State, wakeAt?: Millis, actions: readonly Action[] = []): Step {
  return { state, actions, wakeAt, why: '' };
}
