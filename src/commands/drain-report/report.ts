import { bytesLeft } from '../../core/drain/gates.ts';
import type { State } from '../../core/drain/state.ts';
import type { Observation } from '../../core/observe/observation.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../../core/text/units.ts';
import type { Reporter, Transition } from '../../daemon/loop.ts';
import type { Done } from '../../daemon/perform.ts';
import type { Log } from '../../log.ts';
import { usageOf } from '../../node/processes/usage.ts';
import { Progress } from './progress.ts';

const PROGRESS: Readonly<Partial<Record<State['name'], Millis>>> = {
  waiting: 30_000,
  draining: 5_000,
  stopping: 5_000,
  killing: 5_000,
};

/** Tells the log what the loop does: a line a transition, a line a signal, progress while something is waited for. */
export class LogReporter implements Reporter {
  readonly #log: Log;
  readonly #progress: Progress;
  #before: Observation | undefined;
  #toldAt: Millis | undefined;

  /** `bar`: for a terminal. */
  constructor(log: Log, bar: boolean) {
    this.#log = log;
    this.#progress = new Progress(bar);
  }

  transition({ from, to, why, seen }: Transition): void {
    this.#toldAt = seen.at;
    this.#log.info({ from, to, why, ...factsOf(seen) }, `${from} → ${to}: ${why}`);
  }

  looked(state: State, seen: Observation): void {
    this.#tellChanges(seen);
    this.#tellEarlyRequest(state, seen);
    this.#tellProgress(state, seen);
    this.#before = seen;
  }

  performed({ what, pids, failed }: Done): void {
    const tell = failed ? this.#log.error : this.#log.info;
    tell({ pids }, what);
  }

  #tellChanges(seen: Observation): void {
    const now = describeFluentd(seen);
    if (now !== (this.#before && describeFluentd(this.#before))) this.#log.info(factsOf(seen), now);
    if (seen.memory.main.seen && this.#before?.memory.main.seen !== true) {
      this.#log.info({}, "main's process is seen");
    }
    for (const { path, why, empty } of seen.unknown) {
      const known = this.#before?.unknown.some((doubt) => doubt.path === path && doubt.why === why);
      if (!known && !empty) this.#log.warn({ posFile: path }, `pos file ${path} ${why}`);
    }
    for (const file of seen.files.filter(({ state }) => state === 'blocked')) {
      if (this.#before?.files.some(({ path, state }) => path === file.path && state === 'blocked')) continue;
      this.#log.warn(
        { path: file.path, position: file.position, lag: file.lag },
        `${file.path} is blocked: ${formatBytes(file.lag ?? 0)} left and the position stands still; a full buffer, a throttled input or a slow destination`,
      );
    }
  }

  #tellEarlyRequest({ name }: State, { requests, fluentd }: Observation): void {
    const [first] = requests;
    const isNew = (this.#before?.requests.length ?? 0) === 0;
    if (first === undefined || !isNew || name !== 'waiting' || fluentd.kind !== 'absent') return;
    const bySignal = first.by.startsWith('SIG') ? '; a second signal ends the wait' : '';
    this.#log.info({}, `${first.by} came before fluentd is up, which is waited for first${bySignal}`);
  }

  #tellProgress(state: State, seen: Observation): void {
    const every = PROGRESS[state.name];
    this.#toldAt ??= seen.at;
    if (every === undefined || seen.at - this.#toldAt < every) return;
    this.#toldAt = seen.at;
    const text = `still ${state.name} after ${formatDuration(seen.at - state.since)}: ${this.#whatIsWaitedFor(state, seen)}`;
    void this.#withUsage(text, seen);
  }

  async #withUsage(text: string, seen: Observation): Promise<void> {
    const { fluentd } = seen;
    const [worker] = fluentd.kind === 'running' && !fluentd.alone ? fluentd.workers : [];
    const usage = worker && (await usageOf(worker.pid));
    const told =
      usage === undefined ? '' : `; worker: ${Math.round(usage.cpu)} % CPU, ${formatBytes(usage.memory)}`;
    this.#log.info({ ...factsOf(seen), ...usage }, `${text}${told}`);
  }

  #whatIsWaitedFor(state: State, seen: Observation): string {
    if (state.name === 'stopping' || state.name === 'killing') return describeFluentd(seen);
    if (seen.fluentd.kind === 'absent') return seen.fluentd.why;
    if (state.name !== 'waiting') return this.#progress.describe(state, seen);
    return seen.unknown[0] ? `${seen.unknown[0].path} ${seen.unknown[0].why}` : 'nothing is logged yet';
  }
}

function describeFluentd({ fluentd }: Observation): string {
  switch (fluentd.kind) {
    case 'absent':
      return fluentd.why;
    case 'running': {
      const workers = fluentd.alone ? 'no supervisor' : counted(fluentd.workers.length, 'worker');
      return `fluentd runs: pid ${fluentd.supervisor.pid}, ${workers}`;
    }
    case 'orphaned':
      return `fluentd's supervisor is gone, its workers go on: pid ${fluentd.workers.map(({ pid }) => pid).join(', ')}`;
    case 'wrapper':
      return `no fluentd shows below the command, pid ${fluentd.leader.pid}`;
    case 'remote':
      return 'fluentd runs: its RPC answers';
    case 'foreign':
      return `pid ${fluentd.row.pid} is no fluentd`;
    case 'ambiguous':
      return `${fluentd.candidates.length} independent fluentds run`;
  }
}

function factsOf(seen: Observation): Readonly<Record<string, unknown>> {
  const age = seen.movedAt === undefined ? null : Math.round(seen.at - seen.movedAt);
  return { files: seen.files.length, left: bytesLeft(seen), age };
}
