import { isDeepStrictEqual } from 'node:util';
import { drainDeadline } from '../../src/core/drain/deadlines.ts';
import { drainGate } from '../../src/core/drain/gates.ts';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Policy } from '../../src/core/drain/policy.ts';
import type { State, Trigger } from '../../src/core/drain/state.ts';
import type { Observation } from '../../src/core/look/observation.ts';
import { observe } from '../../src/core/look/observe.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Reporter, Transition } from '../../src/daemon/loop.ts';
import type { Done } from '../../src/daemon/perform.ts';
import type { Coverage } from './coverage.ts';
import type { Line } from './lines.ts';
import { isFollowed, LINE_BYTES } from './log-files.ts';
import { isNamed } from './named.ts';
import type { Plan } from './plan.ts';
import { Violation } from './simulated-host.ts';
import type { World } from './world.ts';

/** The promises, held against the truth at every look. */
export class Checks implements Reporter {
  readonly #world: World;
  readonly #plan: Plan;
  readonly #policy: Policy;
  readonly #coverage: Coverage | undefined;
  /** Each stop signal that was sent: signal and pid. */
  readonly #sent = new Set<string>();
  #rests = 0;

  constructor(world: World, plan: Plan, policy: Policy, coverage: Coverage | undefined) {
    this.#world = world;
    this.#plan = plan;
    this.#policy = policy;
    this.#coverage = coverage;
  }

  looked(state: State, seen: Observation): void {
    this.#coverage?.reached('state', state.name);
    this.#coverage?.reached('fluentd', seen.fluentd.kind);
    this.#restsTruly(seen);
    if (this.#coverage === undefined || state.name !== 'draining') return;
    this.#coverage.reached('gate', drainGate(state, seen, this.#policy)?.name ?? 'all open');
    for (const { state } of seen.files) this.#coverage.reached('file', state);
  }

  performed({ what }: Done): void {
    this.#world.tell(`posidle: ${what}`);
  }

  transition({ from, why, state, seen }: Transition): void {
    this.#world.tell(`posidle: ${from} → ${state.name}: ${why}`);
    this.#coverage?.reached('transition', `${from} --> ${state.name}`);
    if (state.name !== 'stopping') return;
    this.#stopsInTime(seen, state.trigger);
    if (!why.startsWith('posidle waits no longer')) {
      this.#mayStop();
      return;
    }
    const signals = seen.requests.filter(({ by }) => by === 'SIGTERM' || by === 'SIGINT');
    const isDue = seen.at >= drainDeadline(state.trigger, seen, this.#policy) - 1;
    if (!isDue && signals.length < 2) throw new Violation(`told to stop before any bound: ${why}`);
    if (isDue) this.#hadToWait(why, state.trigger);
  }

  signalled(signal: string, pid: number, by: 'kill' | 'witness'): void {
    const isFluentd = this.#world.fluentds.some(
      (fluentd) => (fluentd.isUp && fluentd.pid === pid) || fluentd.worker?.pid === pid,
    );
    if (!isFluentd) throw new Violation(`${signal} to pid ${pid}, which is no Fluentd`);
    if (signal === 'SIGUSR1') return;
    const what = `${signal} ${pid}`;
    // An order to a witness may get lost, and comes once more. Fluentd minds no second one.
    if (this.#sent.has(what) && by === 'kill') throw new Violation(`${signal} a second time to ${pid}`);
    this.#sent.add(what);
    this.#coverage?.reached('signal', signal);
  }

  ended(outcome: Outcome): void {
    const { end, outcome: drained, trigger, left, doubts } = outcome;
    this.#coverage?.reached('end', end);
    this.#coverage?.reached('drained', drained);
    this.#coverage?.reached('trigger', trigger ?? 'none');
    for (const { kind } of left.worst) this.#coverage?.reached('left', kind);
    for (const { kind } of doubts.worst) this.#coverage?.reached('doubt', kind);
    for (const deed of this.#plan.deeds.filter(({ at }) => at <= this.#world.clock.now)) {
      this.#coverage?.reached('deed', deed.do);
      if (deed.do === 'destination') this.#coverage?.reached('destination', deed.is);
    }
    this.#world.tell(`outcome: ${end}, ${drained}, ${JSON.stringify([...left.worst, ...doubts.worst])}`);
    this.#namesAll(outcome);
    this.#isTrue(outcome);
    this.#doubtsNothing(outcome);
  }

  /** A look that finds the very same means what it would mean if everything were judged anew. */
  #restsTruly(seen: Observation): void {
    if (seen.atRest === undefined) return;
    this.#rests += 1;
    if (this.#rests % EVERY !== 0) return;
    const at = seen.at + 1_000 * this.#rests;
    const same = { ...seen.atRest, lookedAt: at, at, depth: 'light' as const };
    const [short, long] = [same, structuredClone(same)].map((look) => observe(seen, look, this.#policy));
    const told = (one: Observation | undefined) => ({ ...one, atRest: one?.atRest !== undefined });
    if (!isDeepStrictEqual(told(short), told(long)))
      throw new Violation('a look at rest means something else than one that judges everything');
    this.#coverage?.reached('look', 'at rest');
  }

  /** If nothing goes wrong, the drain ends soon after the trigger and the last line's delivery, not at its time limit. */
  #hadToWait(why: string, trigger: Trigger): void {
    const { lines, clock, faults, isDone, fluentd } = this.#world;
    const idle =
      clock.now - Math.max(trigger.at, lines.changedAt, fluentd?.worker?.followsSince ?? clock.now);
    const isAwaited = trigger.by === 'SIGTERM' && this.#mainIsToEnd;
    if (isDone && !isAwaited && faults.size === 0 && idle > this.#policy.settle + 5_000 + this.#late)
      throw new Violation(`all was delivered for ${idle} ms when the drain came to its bound: ${why}`);
  }

  /** Main's process runs, or main has its done file yet to make. */
  get #mainIsToEnd(): boolean {
    const { clock, mainRuns, settings } = this.#world;
    const isToCome = this.#plan.deeds.some(
      (deed) => deed.do === 'trigger' && deed.by === 'done-file' && deed.at >= clock.now,
    );
    return isToCome || (settings.doneProcess && mainRuns);
  }

  /** The time that posidle's calls, sleeps and stalls may add to a wait. */
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

  /** Every gate was open: no line is left that waiting would have saved. */
  #mayStop(): void {
    const { settings, faults } = this.#world;
    const looksInside = settings.hasWitness && !faults.has('silence');
    const isSeen = settings.buffer !== 'memory' || looksInside;
    const readable = this.#readable();
    for (const [id, line] of this.#undelivered()) {
      if (!looksInside && (!this.#isKnown(id, line) || this.#isPassed(id, line))) continue;
      if (line.fate === 'buffered' && isSeen)
        throw new Violation(`told to stop with line ${id} of ${line.writtenAt} ms in a buffer`);
      if (line.fate === 'written' && readable.has(id))
        throw new Violation(`told to stop with line ${id} of ${line.writtenAt} ms unread`);
    }
  }

  /** Lines that Fluentd can still read, or has read. */
  #readable(): ReadonlySet<number> {
    const { logs, fluentd } = this.#world;
    const worker = fluentd?.worker;
    if (worker === undefined && fluentd?.isStopping) return new Set();
    const unfound = [...logs.byPath].filter(
      ([path, file]) => isFollowed(path) && !worker?.history.hasBegun(file),
    );
    return new Set([...(worker?.tail?.ahead() ?? []), ...unfound.flatMap(([, { lines }]) => lines)]);
  }

  /** Nobody outside knows of a file that came and went between two looks, nor how long a limit or a full buffer keeps in_tail from the end of one that was renamed. */
  #isKnown(id: number, { file }: Line): boolean {
    const { logs, settings } = this.#world;
    const isHere = [...logs.byPath].some(([path, one]) => one === file && isFollowed(path));
    const isLimited = settings.readLimit > 0 || settings.totalLimit < 1_000;
    if (isLimited && !isHere) return false;
    return file.listed > (isLimited ? file.lines.indexOf(id) * LINE_BYTES : 0);
  }

  /** Outside it counts as read: it was written anew, and the pos file's position is behind it. */
  #isPassed(id: number, { file, fate }: Line): boolean {
    const begin = file.lines.indexOf(id) * LINE_BYTES;
    const known = [...file.paths].map((path) => this.#world.posFile.find(path));
    const isBehind = known.some((one) => one?.inode === file.inode && Number(one.position) > begin);
    return fate === 'written' && isBehind;
  }

  /** Each line that was there at the last look, and has not arrived. A witness looks last when its worker stops. */
  #undelivered(end?: Outcome['end']): readonly (readonly [number, Line])[] {
    const { lines, lookedAt: looked, workers, settings } = this.#world;
    const isByWitness = settings.hasWitness && end === 'stopped';
    const lookedAt = Math.min(
      looked,
      isByWitness ? Math.max(...workers.map(({ endedAt }) => endedAt)) : looked,
    );
    return [...lines.all.entries()].filter(
      ([, { fate, writtenAt, isUnseen }]) => fate !== 'delivered' && writtenAt < lookedAt && !isUnseen,
    );
  }

  /** No line is lost in silence: something that is left, or a doubt, is about it. */
  #namesAll(outcome: Outcome): void {
    if (outcome.outcome === 'drained' && !this.#world.settings.hasWitness)
      throw new Violation('drained, and nobody looked inside Fluentd');
    for (const [id, line] of this.#undelivered(outcome.end)) {
      if (outcome.outcome === 'drained')
        throw new Violation(`drained, and line ${id} of ${line.writtenAt} ms is ${line.fate}`);
      if (!isNamed(line, outcome, this.#world.workers))
        throw new Violation(
          `${outcome.outcome}, and line ${id} of ${line.writtenAt} ms, ${line.fate}, is not named`,
        );
    }
  }

  /**
   * "not drained": a line is lost, or will be, unless a worker still runs: one without its supervisor may read on after the last look.
   * A chunk may hold lines that were read twice.
   */
  #isTrue({ outcome: drained, left }: Outcome): void {
    const { disk, isDone, workers } = this.#world;
    const isHeld = disk.staged !== undefined || disk.queue.length > 0;
    const runsOn = workers.some(({ isGone }) => !isGone);
    // Nobody knows that a Fluentd which never read anything has missed nothing.
    const hasRead = !left.worst.some(({ kind }) => kind === 'unstarted');
    if (drained === 'not-drained' && isDone && !isHeld && !runsOn && hasRead)
      throw new Violation(`all was delivered, and the outcome is 'not-drained': ${left.worst[0]?.kind}`);
  }

  /** With a witness that answers to the end, all that was delivered is drained. */
  #doubtsNothing({ outcome: drained, end, doubts }: Outcome): void {
    const { faults, settings } = this.#world;
    const isHarmed = HARMS.some((harm) => faults.has(harm));
    // A file is younger then than the look that saw it read.
    const isSetBack = this.#plan.deeds.some((deed) => deed.do === 'clock-jumps' && deed.by < 0);
    if (isSetBack || !settings.hasWitness || isHarmed || end !== 'stopped' || !this.#world.isDone) return;
    if (this.#world.lines.areThrownAway) return;
    // SIGTERM says nothing about main, and a lifetime has no native sidecar.
    const [needless, ...others] = doubts.worst.map(({ kind }) => kind);
    const isBySignal = needless === 'main-may-run' && others.length === 0;
    if (drained === 'unproven' && !isBySignal)
      throw new Violation(`all was delivered, and it is doubted: ${[needless, ...others].join(', ')}`);
  }
}

/** Checks only every tenth look at rest twice, because that takes longer than the rest of a lifetime. */
const EVERY = 10;
/** Events that destroy the knowledge of a witness. */
const HARMS = ['worker-dies', 'fluentd-dies', 'supervisor-dies', 'silence'];
