import type { Policy } from '../../core/drain/policy.ts';
import { isTold, type State } from '../../core/drain/state.ts';
import type { Observation } from '../../core/look/observation.ts';
import { FEWER, NOT_THERE } from '../../core/look/unknown-pos-file.ts';
import { DRAIN_REQUESTS } from '../../core/progress/drain-request.ts';
import { bytesToRead } from '../../core/progress/progress.ts';
import { groupedBy } from '../../core/text/lists.ts';
import { andMore, counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import { rubyOption } from '../../core/witness/load.ts';
import type { Reporter, Transition } from '../../daemon/loop.ts';
import type { Done } from '../../daemon/perform.ts';
import type { Log } from '../../node/output/logger.ts';
import { describeFluentd, describeWait } from './describe.ts';

const PROGRESS_EVERY: Millis = 60_000;
/** After a trigger. The next intervals grow up to PROGRESS_EVERY. */
const FIRST_PROGRESS_AFTER: Millis = 5_000;

const MADE_AT_START = 'Fluentd makes it when it starts. If it does not come: is its volume mounted here?';

const CAUSE =
  "The cause may be a full buffer, a throttled input or a slow destination: see Fluentd's log and configuration";
const REMEDY: Readonly<Record<string, string>> = {
  'no-answer': 'Is Fluentd stopped, or short of CPU?',
  'not-believed': "Is it of posidle's version, and may posidle open its socket?",
};
const NOT_READ = 'Until that changes, nothing counts as read';

/** Logs each state change and each order, and the progress while posidle waits. */
export class LogReporter implements Reporter {
  readonly #log: Log;
  readonly #policy: Policy;
  readonly #witness: string | undefined;
  #before: Observation | undefined;
  /** When each note was last true, in the last PROGRESS_EVERY. */
  readonly #notes = new Map<string, Millis>();
  #toldAt: Millis | undefined;

  /** `witness`: the directory in which posidle expects the witness; undefined if the user wants none, or `run` brings its own. */
  constructor(log: Log, policy: Policy, witness: string | undefined) {
    this.#log = log;
    this.#witness = witness;
    this.#policy = policy;
  }

  transition({ from, why, state: { name: to }, seen }: Transition): void {
    this.#toldAt = seen.at;
    // Of the end the outcome follows, and says the same.
    if (to !== 'stopped') this.#log.info({ from, to, why, ...logFacts(seen) }, `${from} → ${to}: ${why}`);
    const isSeen = seen.source === 'witness' || seen.fluentd.kind === 'remote';
    if (to === 'draining' && !isSeen && this.#witness !== undefined)
      this.#log.warn({}, noWitness(this.#witness));
  }

  looked(state: State, seen: Observation): void {
    const fresh = this.#freshIn([...notesOf(state, seen)], seen.at);
    for (const [text, group] of groupedBy(fresh, ({ text }) => text)) {
      const { level = 'info', facts = {} } = group[0] ?? {};
      const posFiles = group.flatMap(({ posFile }) => posFile ?? []);
      if (posFiles.length === 0) this.#log[level](facts, text);
      else this.#log[level]({ posFiles }, `pos file ${andMore(posFiles)} ${text}`);
    }
    this.#tellRestart(seen);
    this.#before = seen;
    if (seen.extent !== 'overdue') this.#tellProgress(state, seen);
  }

  /** The notes that were not true at the last look. One that comes and goes, because looks are late, is told once. */
  #freshIn(notes: readonly Note[], at: Millis): readonly Note[] {
    const isOver = (since: Millis) => at - since > PROGRESS_EVERY;
    for (const [key, since] of this.#notes) if (isOver(since)) this.#notes.delete(key);
    const fresh = notes.filter((note) => {
      const last = this.#notes.get(keyOf(note));
      const mayReturn = note.level === undefined && note.posFile === undefined;
      return last === undefined || (mayReturn && last !== this.#before?.at);
    });
    for (const note of notes) this.#notes.set(keyOf(note), at);
    return fresh;
  }

  performed({ what, failed }: Done): void {
    const tell = failed ? this.#log.error : this.#log.info;
    tell({}, what);
  }

  #tellRestart({ at, main }: Observation): void {
    const goneSince = this.#before?.main.goneSince;
    if (!main.seen || main.goneSince !== undefined || goneSince === undefined) return;
    this.#log.warn(
      {},
      `main's process runs again after ${formatDuration(at - goneSince)}: the kubelet restarts a failed main, ` +
        'later each time (10 s, 20 s … 5 min). Keep --main-gone longer than that',
    );
  }

  #tellProgress(state: State, seen: Observation): void {
    this.#toldAt ??= seen.at;
    const [request] = seen.requests;
    // The state that follows tells it.
    if ((request !== undefined && state.name === 'watching') || isEnd(state, seen)) return;
    const isEnding = request !== undefined || (state.name !== 'waiting' && state.name !== 'watching');
    const begun = Math.max(state.since, request?.at ?? state.since);
    const every = isEnding
      ? Math.min(PROGRESS_EVERY, Math.max(FIRST_PROGRESS_AFTER, this.#toldAt - begun))
      : PROGRESS_EVERY;
    if (seen.at - this.#toldAt < every) return;
    this.#toldAt = seen.at;
    this.#log.info(logFacts(seen), describeWait(state, seen, this.#policy));
  }
}

/** A condition, logged once when it begins. Notes with the same key are the same condition. Of several pos files it is one line. */
interface Note {
  readonly key?: string;
  readonly posFile?: string;
  readonly level?: 'warn';
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function keyOf({ key, posFile = '', text }: Note): string {
  return key ?? `${posFile} ${text}`;
}

/** Fluentd is gone after the stop signal: the outcome says so. */
const isEnd = (state: State, { fluentd }: Observation) => fluentd.kind === 'absent' && isTold(state);

function* notesOf(state: State, seen: Observation): Generator<Note> {
  const { name } = state;
  const { requests, fluentd, unknown, main, files } = seen;
  const [request] = requests;
  if (request !== undefined && name === 'waiting' && fluentd.kind === 'absent') {
    const bySignal = request.by.startsWith('SIG') ? '; a second signal ends the wait' : '';
    const { text } = DRAIN_REQUESTS[request.by];
    yield { text: `${text}, and Fluentd is not up; posidle waits for it${bySignal}` };
  }
  for (const { about, kind, why } of unknown) {
    if (kind === 'empty-pos-file' || why === FEWER) continue;
    const note = { key: `${about} ${why}`, posFile: about };
    if (name === 'waiting' && why === NOT_THERE) yield { ...note, text: `${why} yet. ${MADE_AT_START}` };
    else yield { ...note, level: 'warn', text: `${why}. ${NOT_READ}` };
  }
  const late = seen.progress.doubts.find(({ kind }) => kind === 'not-looked-at');
  if (late !== undefined) yield { key: late.kind, level: 'warn', text: `${late.why}. ${NOT_READ}` };
  const silent = seen.progress.doubts.find(({ kind }) => kind in REMEDY);
  if (silent?.about !== undefined && !isTold(state))
    yield { key: silent.kind, level: 'warn', text: `${silent.about}: ${silent.why}. ${REMEDY[silent.kind]}` };
  if (!isEnd(state, seen)) yield { facts: logFacts(seen), text: describeFluentd(seen) };
  const pids = [...main.sightings.keys()].map((one) => one.replace(/ .*/, ''));
  if (main.seen && pids.length > 0)
    yield { key: 'main', text: `posidle sees main's process (pid ${pids.slice(0, 5).join(', ')})` };
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
