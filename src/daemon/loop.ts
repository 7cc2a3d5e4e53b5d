import type { Step } from '../core/drain/moves.ts';
import { type Durations, type Outcome, outcomeOf } from '../core/drain/outcome.ts';
import { BUSY_LOOKS, lookInterval, type Policy } from '../core/drain/policy.ts';
import { begin, type State, type StateName } from '../core/drain/state.ts';
import { step } from '../core/drain/step.ts';
import type { FluentdReading } from '../core/fluentd/processes.ts';
import type { Depth } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Observation } from '../core/observe/observation.ts';
import { observe } from '../core/observe/observe.ts';
import type { Millis } from '../core/text/units.ts';
import type { Host } from '../host.ts';
import { collect } from './collect.ts';
import { findFluentd, followFluentd } from './find-fluentd.ts';
import { type Done, perform, type Reach } from './perform.ts';

/** What the loop tells while it goes on. */
export interface Reporter {
  transition(transition: Transition): void;
  /** Every look, changed or not. */
  looked(state: State, seen: Observation): void;
  performed(done: Done): void;
}

export interface Transition {
  readonly from: StateName;
  readonly to: StateName;
  readonly why: string;
  readonly state: State;
  readonly seen: Observation;
}

/** Looks, decides, acts and sleeps until Fluentd is gone and the outcome stands. */
export async function watch(host: Host, task: Task): Promise<Outcome> {
  const { policy, report } = task;
  let seen: Observation | undefined;
  let state = begin(host.now());
  const durations: Partial<Record<StateName, Millis>> = {};
  for (;;) {
    const fluentd = await lookForFluentd(host, task, { state, known: seen?.fluentd });
    seen = observe(seen, await collect(host, task.subject, { fluentd, depth: depthOf(state) }), policy);
    report.looked(state, seen);
    const { next, why } = await settleState(host, task, { state, seen, durations });
    if (next.state.name === 'stopped') {
      const last = observe(seen, await collect(host, task.subject, { fluentd, depth: 'files' }), policy);
      return outcomeOf(next.state, why, { seen: last, durations });
    }
    state = next.state;
    await host.sleep(wakeTime(next, host.now(), policy));
  }
}

/** At rest positions are enough; a drain looks at everything. */
function depthOf({ name }: State): Depth {
  return name === 'catching-up' || name === 'flushing' ? 'all' : 'positions';
}

/** What to watch and how to decide. */
export interface Task {
  readonly subject: Subject;
  readonly policy: Policy;
  readonly report: Reporter;
}

interface Known {
  readonly state: State;
  readonly known: FluentdReading | undefined;
}

/** Once it is told to stop, only that very fluentd counts. */
function lookForFluentd(host: Host, { subject }: Task, { state, known }: Known): Promise<FluentdReading> {
  const isTold = state.name === 'stopping' || state.name === 'killing';
  return isTold && known !== undefined
    ? followFluentd(host, subject, known)
    : findFluentd(host, subject, known);
}

interface Moment {
  readonly state: State;
  readonly seen: Observation;
  readonly durations: { -readonly [Name in keyof Durations]: Durations[Name] };
}

/** One observation may carry through several states: it steps until it stays where it is. */
async function settleState(
  host: Host,
  { policy, report, subject }: Task,
  moment: Moment,
): Promise<{ next: Step; why: string }> {
  const { seen, durations } = moment;
  let { state } = moment;
  let why = '';
  for (;;) {
    const next = step(state, seen, policy);
    const moved = next.why !== '';
    if (moved) {
      why = next.why;
      durations[state.name] = (durations[state.name] ?? 0) + (seen.at - state.since);
      report.transition({ from: state.name, to: next.state.name, why, state: next.state, seen });
    }
    for (const action of next.actions) report.performed(await perform(host, action, reachOf(subject, seen)));
    state = next.state;
    if (!moved || state.name === 'stopped') return { next, why };
  }
}

function reachOf({ stopVia, conf }: Subject, { fluentd }: Observation): Reach {
  return { fluentd, via: stopVia, rpc: conf?.rpc };
}

function wakeTime({ state, wakeAt }: Step, now: Millis, policy: Policy): Millis {
  const resting = state.name === 'waiting' || state.name === 'watching';
  const next = now + (resting ? lookInterval(policy) : BUSY_LOOKS);
  return wakeAt === undefined ? next : Math.max(now, Math.min(next, wakeAt));
}
