import { timedCallsIn } from '../core/drain/deadlines.ts';
import { type Durations, type Outcome, outcomeOf } from '../core/drain/outcome.ts';
import { BUSY_LOOKS, lookInterval, type Policy } from '../core/drain/policy.ts';
import { begin, isTold, questionIn, type State, type StateName } from '../core/drain/state.ts';
import { step } from '../core/drain/step.ts';
import type { Step } from '../core/drain/transitions.ts';
import { depthIn } from '../core/drain/trigger.ts';
import type { Observation } from '../core/look/observation.ts';
import { observe, observeNothing, observeOverdue } from '../core/look/observe.ts';
import type { Depth } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { FluentdReading } from '../core/progress/fluentd-reading.ts';
import type { Millis } from '../core/text/units.ts';
import type { Host } from '../host.ts';
import { Collector } from './collect.ts';
import { FluentdFinder } from './find-fluentd.ts';
import { type Done, perform } from './perform.ts';

/** After this time a look is overdue, and posidle decides by the previous one. */
const PATIENCE: Millis = 10_000;
/** The same once the drain has begun. A witness gives a sign of life within two seconds. */
const BUSY_PATIENCE: Millis = 2_500;

/** What the last look gets at least, and what the report needs after it. */
const LAST_LOOK: Millis = 500;
const SHORTEST_ASK: Millis = 200;

const NOT_FOUND_YET: FluentdReading = { kind: 'absent', why: 'no look has ended yet' };

export interface Reporter {
  transition(transition: Transition): void;
  looked(state: State, seen: Observation): void;
  performed(done: Done): void;
}

export interface Transition {
  readonly from: StateName;
  readonly why: string;
  /** The new one. */
  readonly state: State;
  readonly seen: Observation;
}

export interface Task {
  readonly subject: Subject;
  readonly policy: Policy;
  readonly report: Reporter;
}

/** Repeats look, decision, actions and sleep until Fluentd is gone. Resolves to the outcome. */
export function runLoop(host: Host, task: Task): Promise<Outcome> {
  return new Loop(host, task).run();
}

class Loop {
  readonly #host: Host;
  readonly #task: Task;
  readonly #finder: FluentdFinder;
  readonly #collector: Collector;
  readonly #durations: { -readonly [Name in keyof Durations]: Durations[Name] } = {};
  #state: State;
  readonly #nothing: Observation;
  /** The look in progress. */
  #looking: Promise<Observation> | undefined;
  #seen: Observation | undefined;
  /** How many requests the decisions have included. A new one does not wait for a slow look. */
  #requestsDecided = 0;
  #fluentd: FluentdReading = NOT_FOUND_YET;
  #wakeAt: Millis;

  constructor(host: Host, task: Task) {
    this.#host = host;
    this.#task = task;
    this.#finder = new FluentdFinder(host, task.subject);
    this.#collector = new Collector(host, task.subject);
    const at = host.now();
    this.#state = begin(at);
    this.#wakeAt = at;
    this.#nothing = observeNothing({ at, fluentd: this.#fluentd, requests: [] }, task.policy);
  }

  async run(): Promise<Outcome> {
    const { policy, report } = this.#task;
    let movedAt: Millis | undefined;
    for (let depth: Depth = 'light'; ; ) {
      const seen = await this.#see(depth);
      report.looked(this.#state, seen);
      this.#requestsDecided = seen.requests.length;
      const next = await this.#stepUntilStable(seen);
      if (this.#state.name === 'stopped')
        return outcomeOf(this.#state, {
          seen: await this.#lastLook(),
          policy,
          durations: this.#durations,
        });
      depth = depthIn(this.#state, seen, policy);
      this.#wakeAt = wakeTime(next, this.#host.now(), policy);
      // While positions move, each change would cause a second look within milliseconds.
      const wakeOnChange = seen.progress.movedAt === movedAt;
      movedAt = seen.progress.movedAt;
      if (this.#looking === undefined || isTold(this.#state))
        await this.#host.sleep(this.#wakeAt, wakeOnChange);
    }
  }

  /** The observation of a look, or an overdue one: a slow look must not delay a request or a deadline. */
  async #see(depth: Depth): Promise<Observation> {
    if (isTold(this.#state)) return await this.#follow();
    this.#looking ??= this.#look(depth);
    const seen = await this.#host.within(this.#looking, this.#patience());
    if (seen === undefined) return this.#overdue();
    this.#looking = undefined;
    return seen;
  }

  /** After the stop order only the Fluentd that got it counts. Each further look would delay its end, and the last one tells the rest. */
  async #follow(): Promise<Observation> {
    this.#fluentd = await this.#finder.follow(this.#fluentd);
    return { ...(this.#seen ?? this.#nothing), ...this.#now(), reports: undefined };
  }

  #now() {
    return { at: this.#host.now(), fluentd: this.#fluentd, requests: this.#host.requests() };
  }

  async #lastLook(): Promise<Observation> {
    const before = this.#looking ?? Promise.resolve();
    const last = before.then(() => this.#look('all'));
    return (await this.#host.within(last, this.#lastPatience())) ?? this.#overdue();
  }

  /** Leaves time to report the outcome before the grace period ends. */
  #lastPatience(): Millis {
    const now = this.#host.now();
    const [, second] = timedCallsIn({ requests: this.#host.requests() });
    if (second !== undefined) return now;
    const end = this.#graceEnd() ?? Number.POSITIVE_INFINITY;
    return Math.min(now + PATIENCE, Math.max(now + LAST_LOOK, end - LAST_LOOK));
  }

  /** A witness that hangs, at a question or an order, must not take the time of the last look. */
  #witnessPatience(): Millis | undefined {
    const end = this.#graceEnd();
    return end && Math.max(SHORTEST_ASK, (end - LAST_LOOK - this.#host.now()) / 2);
  }

  #graceEnd(): Millis | undefined {
    const [first] = timedCallsIn({ requests: this.#host.requests() });
    return first && first.at + this.#task.policy.grace;
  }

  async #look(depth: Depth): Promise<Observation> {
    const known = this.#fluentd === NOT_FOUND_YET ? undefined : this.#fluentd;
    if (this.#state.name !== 'stopped') this.#fluentd = await this.#finder.find(known, depth);
    const fluentd = this.#fluentd;
    const { sign } = this.#finder;
    const look = { fluentd, sign, question: questionIn(this.#state), patience: this.#witnessPatience() };
    this.#seen = observe(this.#seen, await this.#collector.look(depth, look), this.#task.policy);
    return this.#seen;
  }

  /** Until when the loop waits for the current look. */
  #patience(): Millis {
    const now = this.#host.now();
    const { length } = this.#host.requests();
    if (length > this.#requestsDecided) return now;
    if (isResting(this.#state) && length === 0) return now + PATIENCE;
    const latest = now + BUSY_PATIENCE;
    return this.#wakeAt > now ? Math.min(this.#wakeAt, latest) : latest;
  }

  #overdue(): Observation {
    const before = this.#seen ?? this.#nothing;
    return observeOverdue(before, this.#now(), this.#collector.waitsFor, this.#task.policy);
  }

  /** Steps and acts until the state no longer changes. One observation may lead through several states. */
  async #stepUntilStable(seen: Observation): Promise<Step> {
    const { policy, report, subject } = this.#task;
    for (;;) {
      const from = this.#state;
      const next = step(from, seen, policy);
      this.#state = next.state;
      if (next.whyChanged !== undefined) {
        this.#durations[from.name] = (this.#durations[from.name] ?? 0) + (seen.at - from.since);
        report.transition({ from: from.name, why: next.whyChanged, state: next.state, seen });
      }
      // A deadline cannot wait for new answers.
      const reports = seen.extent === 'overdue' ? seen.lastAnswers : seen.reports;
      const reach = { fluentd: seen.fluentd, reports, witnessDir: subject.witness };
      if (next.action !== undefined) {
        const patience = this.#witnessPatience();
        report.performed(await perform(this.#host, next.action, { ...reach, patience }));
      }
      if (next.whyChanged === undefined || next.state.name === 'stopped') return next;
    }
  }
}

function wakeTime({ state, wakeAt }: Step, now: Millis, policy: Policy): Millis {
  const next = now + (isResting(state) ? lookInterval(policy) : BUSY_LOOKS);
  return Math.max(now, Math.min(next, wakeAt));
}

function isResting({ name }: State): boolean {
  return name === 'waiting' || name === 'watching';
}
