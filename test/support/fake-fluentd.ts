import { NEWLINE } from '../../src/core/pos-file/pos-file.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { POS, posText, SUPERVISOR, WORKER } from './builders.ts';
import type { FakeHost } from './fake-host.ts';

export interface FluentdOptions {
  readonly pid?: number;
  readonly permitted?: boolean;
  /** Signals that the supervisor gets and does nothing about. */
  readonly ignores?: readonly string[];
  /** From the stop signal to the end. */
  readonly stopTakes?: Millis;
}

/** A Fluentd of the fake world: a supervisor (pid) and its workers (pid + 1 …), which read each log that is written. */
export class FakeFluentd {
  readonly pid: number;
  /** false: it reads nothing more; a full buffer, a throttled input. */
  reads = true;
  readonly #host: FakeHost;
  readonly #options: FluentdOptions;
  readonly #positions = new Map<string, { position: number; inode: string }>();

  constructor(host: FakeHost, options: FluentdOptions) {
    const { pid = 4242, permitted = true } = options;
    this.#host = host;
    this.#options = options;
    this.pid = pid;
    host.startProcess({ pid, argv: SUPERVISOR, permitted, onSignal: (signal) => this.#onSignal(signal) });
    this.startWorker(pid + 1);
    if (!host.files.has(POS)) host.writeFile(POS, '');
  }

  startWorker(pid: number): void {
    const { permitted = true } = this.#options;
    const onSignal = (signal: string) => {
      if (signal === 'SIGTERM') this.#host.at(this.#stopAt(), (host) => host.endProcess(pid));
    };
    this.#host.startProcess({ pid, ppid: this.pid, argv: WORKER, permitted, onSignal });
  }

  /** Reads a file to its last newline, where it still reads. */
  read(path: string): void {
    const file = this.#host.files.get(path);
    if (!this.reads || this.#family().length === 0 || file === undefined) return;
    this.setPosition(path, file.bytes.lastIndexOf(NEWLINE) + 1);
  }

  setPosition(path: string, position: number): void {
    this.#positions.set(path, { position, inode: this.#host.files.get(path)?.inode ?? '0' });
    this.#host.writeFile(POS, posText([...this.#positions].map(([path, at]) => ({ path, ...at }))));
  }

  end(): void {
    for (const pid of this.#family()) this.#host.endProcess(pid);
  }

  /** Also workers that go on without their supervisor. */
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
