import type { Millis } from '../../src/core/text/units.ts';
import { POS, posText, SUPERVISOR, WORKER } from './builders.ts';
import type { FakeHost } from './fake-host.ts';

const NEWLINE = 0x0a;

export interface FluentdOptions {
  readonly pid?: number;
  readonly workers?: number;
  readonly posFile?: string;
  readonly permitted?: boolean;
  /** Signals that the supervisor gets and does nothing about. */
  readonly ignores?: readonly string[];
  /** From the stop signal to the end. */
  readonly stopTakes?: Millis;
}

/** A Fluentd of the fake world: a supervisor (pid) and its workers (pid + 1 …), which read the given files. */
export class FakeFluentd {
  readonly pid: number;
  readonly posFile: string;
  /** false: it reads nothing more; a full buffer, a throttled input. */
  reads = true;
  readonly #host: FakeHost;
  readonly #options: FluentdOptions;
  readonly #positions = new Map<string, { position: number; inode: string }>();

  constructor(host: FakeHost, options: FluentdOptions) {
    const { pid = 4242, workers = 1, posFile = POS } = options;
    this.#host = host;
    this.#options = options;
    this.pid = pid;
    this.posFile = posFile;
    const permitted = options.permitted ?? true;
    host.startProcess({ pid, argv: SUPERVISOR, permitted, onSignal: (signal) => this.#onSignal(signal) });
    for (let at = 1; at <= workers; at += 1) this.startWorker(pid + at);
    if (!host.files.has(posFile)) host.writeFile(posFile, '');
  }

  startWorker(pid: number): void {
    const onSignal = (signal: string) => {
      if (signal === 'SIGTERM') this.#host.at(this.#stopAt(), (host) => host.endProcess(pid));
    };
    const permitted = this.#options.permitted ?? true;
    this.#host.startProcess({ pid, ppid: this.pid, argv: WORKER, permitted, onSignal });
  }

  /** Reads a file to its last newline, where it still reads. */
  read(path: string): void {
    const file = this.#host.files.get(path);
    if (!this.reads || !this.isAlive || file === undefined) return;
    this.setPosition(path, file.bytes.lastIndexOf(NEWLINE) + 1);
  }

  setPosition(path: string, position: number): void {
    this.#positions.set(path, { position, inode: this.#host.files.get(path)?.inode ?? '0' });
    this.#host.writeFile(this.posFile, posText([...this.#positions].map(([path, at]) => ({ path, ...at }))));
  }

  /** Every process of it, also workers that go on without their supervisor. */
  get isAlive(): boolean {
    return this.#family().length > 0;
  }

  end(): void {
    for (const pid of this.#family()) this.#host.endProcess(pid);
  }

  #family(): readonly number[] {
    const pids = [...this.#host.processes.keys()];
    return pids.filter((pid) => pid >= this.pid && pid < this.pid + 10);
  }

  #onSignal(signal: string): void {
    const ends =
      ['SIGINT', 'SIGTERM', 'SIGQUIT'].includes(signal) && !this.#options.ignores?.includes(signal);
    if (ends) this.#host.at(this.#stopAt(), () => this.end());
  }

  #stopAt(): Millis {
    return this.#host.now() + (this.#options.stopTakes ?? 1_000);
  }
}
