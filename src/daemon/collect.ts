import { type FluentdReading, findMains } from '../core/fluentd/processes.ts';
import type { Depth, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Host } from '../host.ts';
import { FollowedFiles } from './list-followed.ts';
import { LogFileLooks } from './look-at-files.ts';
import { readBuffers } from './read-buffers.ts';
import { PosFiles } from './read-pos-files.ts';

/** Takes the looks, and keeps what has not changed since the last one. */
export class Collector {
  readonly #host: Host;
  readonly #subject: Subject;
  readonly #posFiles: PosFiles;
  readonly #logFiles: LogFileLooks;
  readonly #followed: FollowedFiles;

  constructor(host: Host, subject: Subject) {
    this.#host = host;
    this.#subject = subject;
    this.#posFiles = new PosFiles(host);
    this.#logFiles = new LogFileLooks(host);
    this.#followed = new FollowedFiles(host, subject.conf);
  }

  /**
   * Takes one look. It reads positions before sizes, so that a position that equals a size covers all bytes up to there. It lists buffers last,
   * because in_tail moves a position only when the buffer has the lines (in_tail.rb:1269).
   */
  async look(depth: Depth, fluentd: FluentdReading): Promise<Snapshot> {
    const host = this.#host;
    const { posFiles: patterns, doneProcess } = this.#subject;
    const lookedAt = host.now();
    const posFiles = await this.#posFiles.read(patterns);
    const looks = await this.#logFiles.look(posFiles);
    const followed = await this.#followed.list(depth, looks);
    const witnessed = await this.#askWitnesses(depth);
    const buffers = depth === 'light' ? undefined : await readBuffers(host, this.#subject);
    const mains = doneProcess && findMains(await host.listProcesses(), doneProcess, host.self);
    const requests = host.requests();
    const files = { posFiles, looks, followed };
    return { lookedAt, at: host.now(), depth, mains, ...files, ...witnessed, buffers, fluentd, requests };
  }

  /** A light look only checks that there is a witness. */
  async #askWitnesses(depth: Depth): Promise<Pick<Snapshot, 'source' | 'testimony'>> {
    const { witness } = this.#subject;
    if (witness === undefined || !(await this.#host.hasWitness(witness)))
      return { source: 'outside', testimony: undefined };
    const testimony = depth === 'light' ? undefined : await this.#host.askWitnesses(witness);
    return { source: 'witness', testimony };
  }
}
