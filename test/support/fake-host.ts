import { setImmediate as nextTurn } from 'node:timers/promises';
import { isWorker } from '../../src/core/fluentd/processes.ts';
import { encodePath } from '../../src/core/pos-file/path-bytes.ts';
import type { DrainRequest } from '../../src/core/progress/drain-request.ts';
import type { ProcessIdentity, ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import type { Question } from '../../src/core/progress/question.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Reports, Witness } from '../../src/core/witness/reports.ts';
import type { FluentdSign, Host, WitnessOrder } from '../../src/host.ts';
import { Clock } from '../simulation/clock.ts';
import { FakeFiles } from './fake-files.ts';
import { FakeFluentd, type FluentdOptions } from './fake-fluentd.ts';

/** A process of the fake world: its row, and what it does when it gets a signal. */
export interface FakeProcess extends ProcessRow {
  readonly permitted: boolean;
  readonly onSignal: (signal: string) => void;
}

const MOST_SLEEPS = 20_000;

/** A whole world in memory: files, processes and a clock that moves only while the daemon sleeps. */
export class FakeHost extends FakeFiles implements Host {
  /** Each signal that was sent: `SIGINT 4242 @19000`. */
  readonly sent: string[] = [];
  readonly processes = new Map<number, FakeProcess>();
  readonly #clock = new Clock();
  #sleeps = 0;
  #woken = false;
  readonly #requests: DrainRequest[] = [];
  readonly #fluentds = new Set<FakeFluentd>();
  /** What the witness's directory shows while no witness listens. */
  sign: FluentdSign = 'unknown';
  witnesses: readonly Witness[] = [];
  onWitnessTold: (worker: string, word: WitnessOrder) => boolean = () => false;
  /** Workers that have not opened their pos file yet. */
  readonly starting = new Set<number>();

  // The world's own side.

  /** The signals that must end a process. A flush (SIGUSR1) does not count. */
  get stops(): readonly string[] {
    return this.sent.filter((sent) => !sent.startsWith('SIGUSR1 '));
  }

  /** The events at an instant. */
  at(at: Millis, run: (host: FakeHost) => void): this {
    this.#clock.at(at, () => run(this));
    return this;
  }

  /** Appends to a log file; a Fluentd that tails it takes notice. */
  appendLog(path: string, text: string): void {
    const before = this.files.get(path)?.bytes ?? new Uint8Array();
    this.writeFile(path, new Uint8Array(Buffer.concat([before, encodePath(text)])));
    for (const fluentd of this.#fluentds) fluentd.read(path);
  }

  startProcess(row: Partial<FakeProcess> & { readonly pid: number }): void {
    const defaults = { ppid: 1, session: 0, startTime: `started ${this.now()}`, zombie: false, argv: ['sh'] };
    const onSignal = () => this.endProcess(row.pid);
    this.processes.set(row.pid, { ...defaults, permitted: true, onSignal, ...row });
  }

  /** Gone at once; its children go on below pid 1. */
  endProcess(pid: number): void {
    this.processes.delete(pid);
    for (const child of this.processes.values())
      if (child.ppid === pid) this.processes.set(child.pid, { ...child, ppid: 1 });
  }

  startFluentd(options: FluentdOptions = {}): FakeFluentd {
    const fluentd = new FakeFluentd(this, options);
    this.#fluentds.add(fluentd);
    return fluentd;
  }

  request(by: DrainRequest['by']): void {
    this.#requests.push({ by, at: this.now() });
    this.#woken = true;
  }

  // The daemon's side.

  now(): Millis {
    return this.#clock.now;
  }

  async sleep(until: Millis, _wakeOnChange?: boolean): Promise<void> {
    this.#sleeps += 1;
    if (this.#sleeps > MOST_SLEEPS) throw new Error(`the loop never ends: ${MOST_SLEEPS} sleeps`);
    this.#clock.pass(until, () => this.#woken);
    this.#woken = false;
  }

  async within<T extends object>(work: Promise<T>, until: Millis): Promise<T | undefined> {
    const { length } = this.#requests;
    for (;;) {
      const settled = await Promise.race([work, nextTurn(undefined)]);
      if (settled !== undefined || this.now() >= until || this.#requests.length > length) return settled;
      await this.sleep(Math.min(until, this.#clock.nextAt));
    }
  }

  async lookForFluentd(): Promise<FluentdSign> {
    if (this.witnesses.some(({ kind }) => kind !== 'gone')) return 'listening';
    return this.sign;
  }

  async askWitnesses(_dir?: string, _question?: Question, _patience?: number): Promise<Reports> {
    return { at: this.now(), witnesses: this.witnesses };
  }

  async tellWitness(_dir: string, worker: string, word: WitnessOrder, _patience?: Millis): Promise<boolean> {
    return this.onWitnessTold(worker, word);
  }

  async listProcesses(family?: number): Promise<readonly ProcessRow[]> {
    const table = [SELF, ...this.processes.values()];
    return table.filter(({ pid, ppid }) => family === undefined || pid === family || ppid === family);
  }

  /** A Fluentd's workers hold its pos file open, but for those that are still starting. */
  async holdsOpen(pid: number, paths: readonly string[]): Promise<boolean | undefined> {
    const found = this.processes.get(pid);
    if (found?.permitted === false) return undefined;
    return found !== undefined && isWorker(found.argv) && paths.length > 0 && !this.starting.has(pid);
  }

  async signal(target: ProcessIdentity, signal: string | 0): Promise<'sent' | 'gone' | 'not-permitted'> {
    const found = this.processes.get(target.pid);
    if (found === undefined || found.zombie || found.startTime !== target.startTime) return 'gone';
    if (!found.permitted) return 'not-permitted';
    if (signal === 0) return 'sent';
    this.sent.push(`${signal} ${target.pid} @${this.now()}`);
    if (signal === 'SIGKILL') this.endProcess(target.pid);
    else found.onSignal(signal);
    return 'sent';
  }

  requests(): readonly DrainRequest[] {
    return [...this.#requests];
  }
}

export const SELF: ProcessRow = {
  pid: 77,
  ppid: 1,
  session: 0,
  startTime: 'posidle',
  zombie: false,
  argv: ['node', 'posidle', 'watch', '--done-process', 'fluentd'],
};
