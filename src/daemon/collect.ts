import { findMains } from '../core/fluentd/processes.ts';
import type { Depth, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { FluentdReading } from '../core/progress/fluentd-reading.ts';
import type { Question } from '../core/progress/question.ts';
import type { Millis } from '../core/text/units.ts';
import { isAnyAlive, isComplete } from '../core/witness/reports.ts';
import type { FluentdSign, Host } from '../host.ts';
import { Files } from './look-at-files.ts';
import { Buffers } from './read-buffers.ts';

interface LookOf {
  readonly fluentd: FluentdReading;
  readonly sign: FluentdSign;
  readonly question: Question;
  readonly patience?: Millis | undefined;
}

const NO_WITNESS = { source: 'outside', reports: undefined } as const;
const UNASKED = { source: 'witness', reports: undefined } as const;

/** Takes the looks. */
export class Collector {
  readonly #host: Host;
  readonly #subject: Subject;
  readonly #files: Files;
  readonly #buffers: Buffers;
  /** What the present look waits for. */
  waitsFor: 'witness' | 'files' = 'files';
  #lastFiles: Pick<Snapshot, 'posFiles' | 'looks' | 'followed'> | undefined;
  #wasAnswered = false;
  #mains: ReturnType<typeof findMains> | undefined;

  constructor(host: Host, subject: Subject) {
    this.#host = host;
    this.#subject = subject;
    this.#files = new Files(host, subject);
    this.#buffers = new Buffers(host, subject.conf);
  }

  /**
   * Takes one look. If the witnesses know enough, now and in the look before, the facts about files are older. It lists buffers last,
   * because in_tail moves a position only when the buffer has the lines (in_tail.rb:1269).
   */
  async look(depth: Depth, { fluentd, ...asked }: LookOf): Promise<Snapshot> {
    const host = this.#host;
    const { doneProcess, self = 0, posFiles } = this.#subject;
    const lookedAt = host.now();
    await this.#buffers.begin();
    this.waitsFor = 'witness';
    const witnessed = await this.#askWitnesses(depth, asked);
    this.waitsFor = 'files';
    const { reports } = witnessed;
    const isAnswered = reports !== undefined && isComplete(reports) && isAnyAlive(reports);
    // The first answer does not say what moved before it: that look still reads the files, and ends no drain.
    const isOfWitness = isAnswered && (this.#wasAnswered || posFiles.length === 0);
    const scope = isAnswered && !isOfWitness ? 'light' : depth;
    this.#wasAnswered = isAnswered;
    if (!isOfWitness || this.#lastFiles === undefined) this.#lastFiles = await this.#files.look(depth);
    const buffers = depth === 'light' || isAnswered ? undefined : await this.#buffers.look();
    const table = doneProcess && (await host.listProcesses().catch(() => undefined));
    const mains = doneProcess && table ? findMains(table, doneProcess, self, this.#mains) : undefined;
    this.#mains = mains ?? this.#mains;
    const facts = { ...this.#lastFiles, ...witnessed, buffers, mains };
    return { lookedAt, at: host.now(), depth: scope, ...facts, fluentd, requests: host.requests() };
  }

  /** A light look only checks that there is a witness, unless only the witness shows movement. */
  async #askWitnesses(depth: Depth, { sign, question, patience }: Omit<LookOf, 'fluentd'>) {
    const { witness, posFiles } = this.#subject;
    if (witness === undefined) return NO_WITNESS;
    if (depth === 'light' && posFiles.length > 0) return sign === 'unknown' ? NO_WITNESS : UNASKED;
    const reports = await this.#host.askWitnesses(witness, question, patience);
    return reports.witnesses.length === 0 ? NO_WITNESS : ({ source: 'witness', reports } as const);
  }
}
