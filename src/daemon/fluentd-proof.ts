import { findWorkers, isSame, type Running } from '../core/fluentd/processes.ts';
import type { Subject } from '../core/look/subject.ts';
import type { ProcessIdentity, ProcessRow } from '../core/progress/fluentd-reading.ts';
import type { Host } from '../host.ts';
import { expandAll } from './read-pos-files.ts';

/** An open pos file proves that a process is the right Fluentd, and that its worker is up. */
export class Proof {
  readonly #host: Host;
  readonly #subject: Pick<Subject, 'posFiles'>;
  /** The running workers that have opened a pos file. */
  #up: readonly ProcessIdentity[] = [];
  /** The largest number of such workers so far. */
  #mostUp = 1;

  constructor(host: Host, subject: Pick<Subject, 'posFiles'>) {
    this.#host = host;
    this.#subject = subject;
  }

  /** The proof that a process is the right Fluentd: it or one of its workers holds a pos file open. */
  async of(table: readonly ProcessRow[], row: ProcessRow): Promise<Running['proof']> {
    const pids = [...findWorkers(table, row.pid), row].map(({ pid }) => pid);
    const paths = await this.posFiles();
    for (const pid of pids) if (await this.#host.holdsOpen(pid, paths)) return 'own';
    const told = await this.#host.signal(row, 0).catch(() => 'gone');
    return told === 'not-permitted' ? told : 'none';
  }

  /**
   * Whether a worker has not opened its pos file yet. It does that late, after it has set its signal handlers (supervisor.rb, run_worker).
   * Not every worker has a pos file, so posidle expects as many as ever had one. Undefined: posidle may not see their open files.
   */
  async isStarting(workers: readonly ProcessIdentity[]): Promise<boolean | undefined> {
    const isUp = (worker: ProcessIdentity) => this.#up.some((known) => isSame(known, worker));
    const unsure = workers.filter((worker) => !isUp(worker));
    const paths = unsure.length === 0 ? [] : await this.posFiles();
    const looks = paths.length === 0 ? [] : unsure.map(({ pid }) => this.#host.holdsOpen(pid, paths));
    const held = await Promise.all(looks);
    this.#up = [...workers.filter(isUp), ...unsure.filter((_, index) => held[index])];
    if (held.includes(undefined)) return undefined;
    this.#mostUp = Math.max(this.#mostUp, this.#up.length);
    return held.length > 0 && this.#up.length < Math.min(this.#mostUp, workers.length);
  }

  async posFiles(): Promise<readonly string[]> {
    return [...(await expandAll(this.#host, this.#subject.posFiles)).keys()];
  }
}
