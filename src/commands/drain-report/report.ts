import { bytesLeft } from '../../core/drain/gates.ts';
import type { Policy } from '../../core/drain/policy.ts';
import type { State } from '../../core/drain/state.ts';
import { NOT_THERE } from '../../core/observe/doubt.ts';
import type { Observation } from '../../core/observe/observation.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { rubyOption, SHARED_DIR } from '../../core/witness/load.ts';
import type { Reporter, Transition } from '../../daemon/loop.ts';
import type { Done } from '../../daemon/perform.ts';
import type { Log } from '../../log.ts';
import { describeFluentd, describeWait } from './describe.ts';

/** How often progress is told: once a minute, and more often at first once the end has begun. */
const RARELY: Millis = 60_000;
const AT_FIRST: Millis = 5_000;

const MADE_AT_START = 'Fluentd makes it when it starts. If it does not come: is its volume mounted here?';

const CAUSE =
  "The cause may be a full buffer, a throttled input or a slow destination: see Fluentd's log and configuration";
const NOT_READ = 'Until that changes, nothing counts as read';

/** Tells the log what the loop does: a line a transition, a line a signal, progress while something is waited for. */
export class LogReporter implements Reporter {
  readonly #log: Log;
  readonly #policy: Policy;
  readonly #witness: string;
  #before: Observation | undefined;
  #toldAt: Millis | undefined;
  #isBlocked = false;
  #isRequested = false;
  /** What cannot be believed, with the reason. */
  #unknown: ReadonlySet<string> = new Set();

  /** `witness`: where one is expected. */
  constructor(log: Log, policy: Policy, witness = SHARED_DIR) {
    this.#log = log;
    this.#witness = witness;
    this.#policy = policy;
  }

  transition({ from, to, why, seen }: Transition): void {
    this.#toldAt = seen.at;
    // The outcome follows, and says it again.
    const tell = to === 'stopped' ? this.#log.debug : this.#log.info;
    tell({ from, to, why, ...factsOf(seen) }, `${from} → ${to}: ${why}`);
    if (to === 'draining' && seen.source === 'outside') this.#log.warn({}, noWitness(this.#witness));
  }

  looked(state: State, seen: Observation): void {
    this.#tellEarlyRequest(state, seen);
    this.#tellUnknown(state, seen);
    if (seen.extent === 'late') return;
    this.#tellFluentd(state, seen);
    this.#tellMain(seen);
    this.#tellBlocked(seen);
    this.#tellProgress(state, seen);
    this.#before = seen;
  }

  performed({ what, pids, failed }: Done): void {
    const tell = failed ? this.#log.error : this.#log.info;
    tell({ pids }, what);
  }

  #tellFluentd({ name }: State, seen: Observation): void {
    const now = describeFluentd(seen);
    if (now === (this.#before && describeFluentd(this.#before))) return;
    // That it is gone after the stop signal is the outcome.
    const isEnd = seen.fluentd.kind === 'absent' && (name === 'stopping' || name === 'killing');
    if (!isEnd) this.#log.info(factsOf(seen), now);
  }

  #tellUnknown({ name }: State, { unknown }: Observation): void {
    const before = this.#unknown;
    this.#unknown = new Set(unknown.map(({ path, why }) => `${path} ${why}`));
    for (const { path, why, empty } of unknown) {
      if (empty || before.has(`${path} ${why}`)) continue;
      const isStart = name === 'waiting' && why === NOT_THERE;
      if (isStart) this.#log.info({ posFile: path }, `pos file ${path} ${why} yet. ${MADE_AT_START}`);
      else this.#log.warn({ posFile: path }, `pos file ${path} ${why}. ${NOT_READ}`);
    }
  }

  #tellBlocked(seen: Observation): void {
    const [first, ...others] = seen.files.filter(({ state }) => state === 'blocked');
    const isNew = !this.#isBlocked;
    this.#isBlocked = first !== undefined;
    if (first === undefined || !isNew) return;
    const { path, position, lag } = first;
    const more = others.length === 0 ? '' : ` So are ${counted(others.length, 'more file')}.`;
    this.#log.warn(
      { path, position, lag },
      `${path} is blocked: ${formatBytes(lag ?? 0)} left, and the position does not move.${more} ${CAUSE}`,
    );
  }

  #tellMain({ at, memory: { main } }: Observation): void {
    const before = this.#before?.memory.main;
    if (!main.seen) return;
    if (before?.seen !== true) this.#log.info({}, "main's process is seen");
    if (main.goneSince === undefined && before?.goneSince !== undefined)
      this.#log.warn(
        {},
        `main's process runs again after ${formatDuration(at - before.goneSince)}: the kubelet restarts a failed main, ` +
          'later each time (10 s, 20 s … 5 min). Keep --done-process-gone longer than that',
      );
  }

  #tellEarlyRequest({ name }: State, { requests, fluentd }: Observation): void {
    const [first] = requests;
    const isNew = !this.#isRequested;
    this.#isRequested = first !== undefined;
    if (first === undefined || !isNew || name !== 'waiting' || fluentd.kind !== 'absent') return;
    const bySignal = first.by.startsWith('SIG') ? '; a second signal ends the wait' : '';
    this.#log.info({}, `${first.by} received before Fluentd was up; waiting for it first${bySignal}`);
  }

  #tellProgress(state: State, seen: Observation): void {
    this.#toldAt ??= seen.at;
    const isEnding = state.name !== 'waiting' && state.name !== 'watching';
    const every = isEnding ? Math.min(RARELY, Math.max(AT_FIRST, this.#toldAt - state.since)) : RARELY;
    if (seen.at - this.#toldAt < every) return;
    this.#toldAt = seen.at;
    this.#log.info(factsOf(seen), describeWait(state, seen, this.#policy));
  }
}

function factsOf(seen: Observation): Readonly<Record<string, unknown>> {
  const age = seen.movedAt === undefined ? null : Math.round(seen.at - seen.movedAt);
  return { files: seen.files.length, left: bytesLeft(seen), age };
}

function noWitness(dir: string): string {
  return (
    `no witness listens in ${dir}: posidle sees Fluentd from outside only. Mount ${dir} into Fluentd's container, and give it ` +
    `RUBYOPT="${rubyOption(dir)}" (posidle witness ${dir} writes the file and prints these lines)`
  );
}
