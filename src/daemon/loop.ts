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
import { Collector } from './collect.ts';
import { FluentdFinder } from './find-fluentd.ts';
import { type Done, perform } from './perform.ts';

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

/** What to watch and how to decide. */
export interface Task {
  readonly subject: Subject;
  readonly policy: Policy;
  readonly report: Reporter;
}

/** Looks, decides, acts and sleeps until Fluentd is gone and the outcome stands. */
export function watch(host: Host, task: Task): Promise<Outcome> {
  return new Watch(host, task).run();
}

class Watch {
  readonly #host: Host;
  readonly #task: Task;
  readonly #finder: FluentdFinder;
  readonly #collector: Collector;
  readonly #durations: { -readonly [Name in keyof Durations]: Durations[Name] } = {};
  #state: State;
  #seen: Observation | undefined;
  #why = '';

  constructor(host: Host, task: Task) {
    this.#host = host;
    this.#task = task;
    this.#finder = new FluentdFinder(host, task.subject);
    this.#collector = new Collector(host, task.subject);
    this.#state = begin(host.now());
  }

  async run(): Promise<Outcome> {
    const { policy, report } = this.#task;
    for (let depth: Depth = 'rest'; ; ) {
      const fluentd = await this.#findFluentd(depth);
      const seen = await this.#look(depth, fluentd);
      report.looked(this.#state, seen);
      const next = await this.#settle(seen);
      if (this.#state.name === 'stopped')
        return outcomeOf(this.#state, this.#why, {
          seen: await this.#look('last', fluentd),
          durations: this.#durations,
        });
      depth = next.depth;
      await this.#host.sleep(wakeTime(next, this.#host.now(), policy));
    }
  }

  async #look(depth: Depth, fluentd: FluentdReading): Promise<Observation> {
    const movedAt = this.#seen?.movedAt;
    const { gone = new Map(), awaited = new Map() } = this.#seen?.memory ?? {};
    const snapshot = await this.#collector.look({ depth, fluentd, movedAt, gone, awaited });
    this.#seen = observe(this.#seen, snapshot, this.#task.policy);
    return this.#seen;
  }

  /** Once it is told to stop, only that very fluentd counts. */
  #findFluentd(depth: Depth): Promise<FluentdReading> {
    const known = this.#seen?.fluentd;
    const isTold = this.#state.name === 'stopping' || this.#state.name === 'killing';
    return isTold && known !== undefined ? this.#finder.follow(known) : this.#finder.find(known, depth);
  }

  /** One observation may carry through several states: it steps until it stays where it is. */
  async #settle(seen: Observation): Promise<Step> {
    const { policy, report, subject } = this.#task;
    for (;;) {
      const from = this.#state;
      const next = step(from, seen, policy);
      this.#state = next.state;
      if (next.moved !== undefined) {
        this.#why = next.moved;
        this.#durations[from.name] = (this.#durations[from.name] ?? 0) + (seen.at - from.since);
        report.transition({ from: from.name, to: next.state.name, why: next.moved, state: next.state, seen });
      }
      const reach = { fluentd: seen.fluentd, via: subject.stopVia, rpc: subject.conf?.rpc };
      for (const action of next.actions) report.performed(await perform(this.#host, action, reach));
      if (next.moved === undefined || next.state.name === 'stopped') return next;
    }
  }
}

function wakeTime({ state, wakeAt }: Step, now: Millis, policy: Policy): Millis {
  const resting = state.name === 'waiting' || state.name === 'watching';
  const next = now + (resting ? lookInterval(policy) : BUSY_LOOKS);
  return wakeAt === undefined ? next : Math.max(now, Math.min(next, wakeAt));
}
