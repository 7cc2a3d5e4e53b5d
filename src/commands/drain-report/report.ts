import type { Policy } from '../../core/drain/policy.ts';
import type { State } from '../../core/drain/state.ts';
import type { Observation } from '../../core/look/observation.ts';
import { NOT_THERE } from '../../core/look/unknown-pos-file.ts';
import { DRAIN_REQUESTS } from '../../core/progress/drain-request.ts';
import { bytesToRead } from '../../core/progress/progress.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { rubyOption, SHARED_DIR } from '../../core/witness/load.ts';
import type { Reporter, Transition } from '../../daemon/loop.ts';
import type { Done } from '../../daemon/perform.ts';
import type { Log } from '../../log.ts';
import { describeFluentd, describeWait } from './describe.ts';

const PROGRESS_EVERY: Millis = 60_000;
/** After a trigger. The next intervals grow up to PROGRESS_EVERY. */
const FIRST_PROGRESS_AFTER: Millis = 5_000;

const MADE_AT_START = 'Fluentd makes it when it starts. If it does not come: is its volume mounted here?';

const CAUSE =
  "The cause may be a full buffer, a throttled input or a slow destination: see Fluentd's log and configuration";
const NOT_READ = 'Until that changes, nothing counts as read';

/** Logs each state change and each order, and the progress while posidle waits. */
export class LogReporter implements Reporter {
  readonly #log: Log;
  readonly #policy: Policy;
  readonly #witness: string;
  #before: Observation | undefined;
  #notes: ReadonlySet<string> = new Set();
  #toldAt: Millis | undefined;

  /** `witness`: the directory in which posidle expects the witness. */
  constructor(log: Log, policy: Policy, witness = SHARED_DIR) {
    this.#log = log;
    this.#witness = witness;
    this.#policy = policy;
  }

  transition({ from, to, why, seen }: Transition): void {
    this.#toldAt = seen.at;
    // Of the end the outcome follows, and says the same.
    if (to !== 'stopped') this.#log.info({ from, to, why, ...logFacts(seen) }, `${from} → ${to}: ${why}`);
    const isSeen = seen.source === 'witness' || seen.fluentd.kind === 'remote';
    // `run` gives Fluentd its own witness, which may not be up yet, or the user wanted none.
    if (to === 'draining' && !isSeen && this.#policy.role !== 'parent')
      this.#log.warn({}, noWitness(this.#witness));
  }

  looked(state: State, seen: Observation): void {
    const before = this.#notes;
    const notes = [...notesOf(state, seen)];
    this.#notes = new Set(notes.map(({ key, text }) => key ?? text));
    for (const { key, level = 'info', facts = {}, text } of notes)
      if (!before.has(key ?? text)) this.#log[level](facts, text);
    this.#tellRestart(seen);
    this.#before = seen;
    if (seen.extent !== 'overdue') this.#tellProgress(state, seen);
  }

  performed({ what, pids, failed }: Done): void {
    const tell = failed ? this.#log.error : this.#log.info;
    tell({ pids }, what);
  }

  #tellRestart({ at, memory: { main } }: Observation): void {
    const goneSince = this.#before?.memory.main.goneSince;
    if (!main.seen || main.goneSince !== undefined || goneSince === undefined) return;
    this.#log.warn(
      {},
      `main's process runs again after ${formatDuration(at - goneSince)}: the kubelet restarts a failed main, ` +
        'later each time (10 s, 20 s … 5 min). Keep --main-gone longer than that',
    );
  }

  #tellProgress(state: State, seen: Observation): void {
    this.#toldAt ??= seen.at;
    const isEnding = state.name !== 'waiting' && state.name !== 'watching';
    const every = isEnding
      ? Math.min(PROGRESS_EVERY, Math.max(FIRST_PROGRESS_AFTER, this.#toldAt - state.since))
      : PROGRESS_EVERY;
    if (seen.at - this.#toldAt < every) return;
    this.#toldAt = seen.at;
    this.#log.info(logFacts(seen), describeWait(state, seen, this.#policy));
  }
}

/** A condition, logged once when it begins. Notes with the same key are the same condition. */
interface Note {
  readonly key?: string;
  readonly level?: 'warn';
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function* notesOf({ name }: State, seen: Observation): Generator<Note> {
  const { requests, fluentd, unknown, memory, files } = seen;
  const [request] = requests;
  if (request !== undefined && name === 'waiting' && fluentd.kind === 'absent') {
    const bySignal = request.by.startsWith('SIG') ? '; a second signal ends the wait' : '';
    yield { text: `${DRAIN_REQUESTS[request.by]}, and Fluentd is not up; posidle waits for it${bySignal}` };
  }
  for (const { path, why, empty } of unknown) {
    if (empty) continue;
    const note = { key: `${path} ${why}`, facts: { posFile: path } };
    if (name === 'waiting' && why === NOT_THERE)
      yield { ...note, text: `pos file ${path} ${why} yet. ${MADE_AT_START}` };
    else yield { ...note, level: 'warn', text: `pos file ${path} ${why}. ${NOT_READ}` };
  }
  // If Fluentd is gone after the stop signal, the outcome says so.
  const isEnd = fluentd.kind === 'absent' && (name === 'stopping' || name === 'killing');
  if (!isEnd) yield { facts: logFacts(seen), text: describeFluentd(seen) };
  if (memory.main.seen) yield { text: "posidle sees main's process" };
  const [first, ...others] = files.filter(({ state }) => state === 'blocked');
  if (first === undefined) return;
  const { path, position, lag } = first;
  const more = others.length === 0 ? '' : ` So are ${counted(others.length, 'more file')}.`;
  const text = `${path} is blocked: ${formatBytes(lag ?? 0)} left, and the position does not move.${more} ${CAUSE}`;
  yield { key: 'blocked', level: 'warn', facts: { path, position, lag }, text };
}

function logFacts(seen: Observation): Readonly<Record<string, unknown>> {
  const { files, movedAt } = seen.progress;
  const age = movedAt === undefined ? null : Math.round(seen.at - movedAt);
  return { files, left: bytesToRead(seen.progress), age };
}

function noWitness(dir: string): string {
  return (
    `no witness listens in ${dir}: posidle sees Fluentd from outside only. Mount ${dir} into Fluentd's container, and give it ` +
    `RUBYOPT="${rubyOption(dir)}" (posidle witness ${dir} writes the file and prints these lines)`
  );
}
