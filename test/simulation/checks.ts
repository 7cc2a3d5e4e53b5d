import { drainDeadline } from '../../src/core/drain/deadlines.ts';
import { drainGate } from '../../src/core/drain/gates.ts';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import type { Gate, State, Trigger } from '../../src/core/drain/state.ts';
import type { Observation } from '../../src/core/observe/observation.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Reporter, Transition } from '../../src/daemon/loop.ts';
import type { Done } from '../../src/daemon/perform.ts';
import { chunkFiles } from './chunk-files.ts';
import type { Coverage } from './coverage.ts';
import { isFollowed } from './log-files.ts';
import type { Pauses } from './pauses.ts';
import type { Plan } from './plan.ts';
import { Violation } from './simulated-host.ts';
import type { World } from './world.ts';

interface With {
  readonly policy: Policy;
  readonly pauses: Pauses;
  readonly coverage: Coverage | undefined;
}

/** The promises, held against the truth at every look. */
export class Checks implements Reporter {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #policy: Policy;
  readonly #pauses: Pauses;
  readonly #coverage: Coverage | undefined;
  /** Each stop signal that was sent: signal and pid. */
  readonly #sent = new Set<string>();
  #isOpenAtStop = false;

  constructor(world: World, plan: Plan, { policy, pauses, coverage }: With) {
    this.#world = world;
    this.#plan = plan;
    this.#policy = policy;
    this.#pauses = pauses;
    this.#coverage = coverage;
  }

  looked(state: State, seen: Observation): void {
    this.#pauses.looked(state, seen);
    this.#world.excuses.hasSeenWorker = seen.memory.workers.length > 0;
    this.#coverage?.reached('state', state.name);
    this.#coverage?.reached('fluentd', seen.fluentd.kind);
    if (this.#coverage === undefined || state.name !== 'draining') return;
    this.#coverage.reached('gate', drainGate(state, seen, this.#policy)?.name ?? 'all open');
    for (const { state } of seen.files) this.#coverage.reached('file', state);
  }

  performed({ what }: Done): void {
    this.#pauses.interrupt();
    this.#world.tell(`posidle: ${what}`);
  }

  transition({ from, to, why, state, seen }: Transition): void {
    this.#pauses.interrupt();
    this.#world.tell(`posidle: ${from} → ${to}: ${why}`);
    this.#coverage?.reached('transition', `${from} → ${to}`);
    if (state.name !== 'stopping') return;
    const { gate, trigger } = state;
    this.#stopsInTime(seen, trigger);
    this.#isOpenAtStop = gate === undefined;
    if (gate === undefined) {
      this.#mayStop();
      return;
    }
    const signals = seen.requests.filter(({ by }) => by === 'SIGTERM' || by === 'SIGINT');
    const isDue = seen.at >= drainDeadline(trigger, seen, this.#policy) - 1;
    if (!isDue && signals.length < 2)
      throw new Violation(`told to stop before any bound, though ${gate.name}: ${gate.why}`);
    if (isDue) this.#hadToWait(gate);
  }

  signalled(signal: string, pid: number): void {
    const isFluentd = this.#world.fluentds.some(
      (fluentd) => (fluentd.isUp && fluentd.pid === pid) || fluentd.worker?.pid === pid,
    );
    if (!isFluentd) throw new Violation(`${signal} to pid ${pid}, which is no Fluentd`);
    if (signal === 'SIGUSR1') return;
    const what = `${signal} ${pid}`;
    if (this.#sent.has(what) && this.#plan.settings.placement !== 'rpc')
      throw new Violation(`${signal} a second time to ${pid}`);
    this.#sent.add(what);
    this.#coverage?.reached('signal', signal);
  }

  ended(outcome: Outcome): void {
    this.#coverage?.reached('end', outcome.end);
    this.#coverage?.reached('drained', outcome.drained);
    this.#coverage?.reached('trigger', outcome.trigger ?? 'none');
    if (outcome.gate !== null) this.#coverage?.reached('outcome', outcome.gate.name);
    for (const { delivery } of outcome.outputs) this.#coverage?.reached('delivery', delivery);
    for (const deed of this.#plan.deeds.filter(({ at }) => at <= this.#world.clock.now)) {
      this.#coverage?.reached('deed', deed.do);
      if (deed.do === 'destination') this.#coverage?.reached('destination', deed.is);
    }
    this.#world.tell(`outcome: ${outcome.end}, ${outcome.drained}, ${JSON.stringify(outcome.gate)}`);
    this.#toldAllLosses(outcome);
    this.#toldWhatIsTrue(outcome);
  }

  /** Where nothing goes wrong, the drain ends soon after the last line is delivered, not at its bound. */
  #hadToWait({ name, why }: Gate): void {
    const { lines, clock, faults, isDone, fluentd } = this.#world;
    const idle = clock.now - Math.max(lines.changedAt, fluentd?.worker?.followsSince ?? clock.now);
    if (isDone && faults.size === 0 && idle > this.#policy.settle + 5_000 + this.#late)
      throw new Violation(
        `all was delivered for ${idle} ms when the drain came to its bound: ${name}, ${why}`,
      );
  }

  /** What posidle's calls, sleeps and stalls may add to a wait. */
  get #late(): Millis {
    const { callTakes, oversleeps } = this.#world.settings;
    return 1_000 + 100 * callTakes + 3 * oversleeps + this.#world.stalledFor;
  }

  /** Every wait has its bound. */
  #stopsInTime(seen: Observation, trigger: Trigger): void {
    const bound = trigger.at + (trigger.by === 'SIGTERM' ? this.#policy.grace : this.#policy.drainTimeout);
    if (seen.at > bound + this.#late)
      throw new Violation(`told to stop at ${seen.at} ms, due at ${bound} ms`);
  }

  /** The figures are those of the world, and nothing is said to be lost where all was delivered and nothing went wrong. */
  #toldWhatIsTrue({ drained, left, end, gate }: Outcome): void {
    const { disk, logs, lines, faults, clock, settings, fluentd } = this.#world;
    if (fluentd?.isAlive === true) return;
    const chunks = settings.buffer === 'file' ? chunkFiles(disk, clock).length : 0;
    if (end === 'stopped' && left.onDisk.chunks !== chunks)
      throw new Violation(`${left.onDisk.chunks} chunks are told to be left, and ${chunks} are`);
    // An unfinished line in a file that in_tail has not found yet: posidle does not read it.
    const isBegun = [...logs.byPath.values()].some(
      ({ unfinished, lines }) => unfinished > 0 && lines.length === 0,
    );
    const isDelivered = !isBegun && lines.areDelivered;
    const isFine = isDelivered && faults.size === 0 && end === 'stopped' && this.#isOpenAtStop;
    // Records that a full buffer refused are read again; where it was full between two looks only, they count as lost.
    if (isFine && gate?.name === 'thrown-away' && settings.totalLimit < 1_000)
      this.#coverage?.reached('false alarm', 'a buffer was full between two looks');
    else if (isFine && drained === 'not drained')
      throw new Violation(`all was delivered, and the outcome is 'not drained': ${gate?.name}, ${gate?.why}`);
    // After a fault posidle may tell what it cannot rule out.
    else if (isDelivered && faults.size > 0 && this.#isOpenAtStop && drained === 'not drained')
      this.#coverage?.reached('false alarm', `after ${[...faults].toSorted().join(' and ')}: ${gate?.name}`);
  }

  /** Every gate was open: nothing that can be known may be unread or undelivered. */
  #mayStop(): void {
    const { lines, settings } = this.#world;
    const { lookedAt } = this.#world.excuses;
    const isUnseen = settings.buffer === 'memory' && !settings.hasMonitor;
    const readable = this.#readable();
    for (const [id, { fate, writtenAt, excuses }] of lines.all.entries()) {
      if (writtenAt >= lookedAt || excuses?.[fate] !== undefined) continue;
      if (fate === 'buffered' && !isUnseen)
        throw new Violation(`told to stop with line ${id} of ${writtenAt} ms in a buffer`);
      if (fate === 'written' && readable.has(id))
        throw new Violation(`told to stop with line ${id} of ${writtenAt} ms unread`);
    }
  }

  /** Lines that Fluentd can still read. */
  #readable(): ReadonlySet<number> {
    const { logs, fluentd } = this.#world;
    const tail = fluentd?.worker?.tail;
    const ids = new Set<number>(tail?.ahead() ?? []);
    for (const [path, file] of logs.byPath)
      if (isFollowed(path) && tail?.holds(file.inode) === undefined) for (const id of file.lines) ids.add(id);
    return ids;
  }

  /** What was lost is in the outcome. */
  #toldAllLosses({ drained }: Outcome): void {
    const { lines } = this.#world;
    const { lookedAt } = this.#world.excuses;
    if (drained === 'not drained') return;
    for (const [id, { fate, writtenAt, excuses }] of lines.all.entries()) {
      if (writtenAt >= lookedAt || fate === 'delivered') continue;
      if (drained === 'unproven' && fate !== 'written') continue;
      const excuse = excuses?.[fate];
      if (excuse !== undefined) {
        this.#coverage?.reached('excused loss', excuse);
        continue;
      }
      throw new Violation(`${drained}, and line ${id} of ${writtenAt} ms is ${fate}`);
    }
  }
}
