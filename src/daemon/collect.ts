import { tailFacts } from '../core/fluent-conf/facts.ts';
import { type BuffersReading, heldBy } from '../core/fluentd/buffer-contents.ts';
import { type FluentdReading, findMains } from '../core/fluentd/processes.ts';
import type { Depth, Snapshot } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { Awaited, Gone } from '../core/observe/observation.ts';
import type { Millis } from '../core/text/units.ts';
import type { Host } from '../host.ts';
import { ClosedFiles } from './closed-files.ts';
import { FollowedFiles } from './list-followed.ts';
import { LogFileLooks } from './look-at-files.ts';
import { lookAtGone, openedOf, pidsOf } from './look-at-gone.ts';
import { readBuffers } from './read-buffers.ts';
import { PosFiles } from './read-pos-files.ts';

/** How often the buffers are looked at at rest: soon after lines were read, and now and then anyway. */
const BUSY_LEDGER: Millis = 2_000;
const IDLE_LEDGER: Millis = 10_000;
/** And while an output holds chunks that it may throw away, or the worker that reads the rest of a file may be replaced: what lives for less time is not seen. */
const ANXIOUS_LEDGER: Millis = 1_000;

/** How much a look takes in, and what is known before it. */
export interface View {
  readonly depth: Depth;
  readonly fluentd: FluentdReading;
  /** The last movement of any position that was seen. */
  readonly movedAt: Millis | undefined;
  /** The files that went away from their paths. */
  readonly gone?: ReadonlyMap<string, Gone>;
  /** The files that in_tail had still to find, by inode. */
  readonly awaited?: ReadonlyMap<string, Awaited>;
}

/** Takes looks at the world; remembers what need not be looked at each time. */
export class Collector {
  readonly #host: Host;
  readonly #subject: Subject;
  /** Below a limit in_tail reads the rest of a renamed file slowly. */
  readonly #isLimited: boolean;
  readonly #posFiles: PosFiles;
  readonly #logFiles: LogFileLooks;
  readonly #followed: FollowedFiles;
  readonly #closed: ClosedFiles;
  #buffersAt: Millis | undefined;
  #buffers: BuffersReading | undefined;

  constructor(host: Host, subject: Subject) {
    this.#host = host;
    this.#subject = subject;
    this.#posFiles = new PosFiles(host);
    this.#logFiles = new LogFileLooks(host);
    this.#followed = new FollowedFiles(host, subject.conf);
    this.#closed = new ClosedFiles(host);
    this.#isLimited = tailFacts(subject.conf).readLimit !== undefined;
  }

  /**
   * One look, at the fluentd that was just looked for. Positions first, sizes after: a position that has reached a size seen
   * later has reached every byte before it. Buffers last: in_tail moves a position only when the buffer has taken the lines
   * (in_tail.rb:1269).
   */
  async look(view: View): Promise<Snapshot> {
    const { depth, fluentd, gone: known, awaited } = view;
    const host = this.#host;
    const { posFiles: patterns, doneProcess } = this.#subject;
    const posFiles = await this.#posFiles.read(patterns);
    const open = host.openFiles(pidsOf(fluentd));
    const looks = await this.#logFiles.look(posFiles, open);
    const gone = await lookAtGone(host, known, { open, fluentd, isLimited: this.#isLimited });
    const followed = await this.#followed.list(depth, { posFiles, looks });
    const permissions = await this.#closed.find({ posFiles, looks, followed, fluentd });
    const witnessed = await this.#askWitnesses(depth);
    const buffers = await this.#readBuffers(view);
    const mains = doneProcess && findMains(await host.listProcesses(), doneProcess, host.self);
    const requests = host.requests();
    const opened = openedOf(open, { awaited, followed, fluentd });
    const files = { posFiles, looks, gone, opened, followed, ...permissions };
    return { at: host.now(), depth, mains, ...files, ...witnessed, buffers, fluentd, requests };
  }

  /** At rest nobody is asked: that a witness is there is enough. */
  async #askWitnesses(depth: Depth): Promise<Pick<Snapshot, 'isWitnessed' | 'testimony'>> {
    const { witness } = this.#subject;
    if (witness === undefined || !(await this.#host.hasWitness(witness))) return {};
    const testimony = depth === 'rest' ? undefined : await this.#host.askWitnesses(witness);
    return { isWitnessed: true, testimony };
  }

  async #readBuffers(view: View): Promise<BuffersReading | undefined> {
    const { depth } = view;
    const at = this.#host.now();
    if (depth === 'rest' && !this.#isLedgerDue(at, view)) return undefined;
    this.#buffersAt = at;
    this.#buffers = await readBuffers(this.#host, this.#subject, depth !== 'last');
    return this.#buffers;
  }

  #isLedgerDue(at: Millis, { movedAt, fluentd, gone }: View): boolean {
    if (this.#buffersAt === undefined) return true;
    const hasMoved = movedAt !== undefined && movedAt >= this.#buffersAt;
    // In another container only its agent tells one worker from the next.
    const mayBeReplaced = this.#isLimited && fluentd.kind === 'remote' && isAnyRead(gone);
    if (mayBeReplaced || mayThrowAway(this.#buffers)) return at - this.#buffersAt >= ANXIOUS_LEDGER;
    return at - this.#buffersAt >= (hasMoved ? BUSY_LEDGER : IDLE_LEDGER);
  }
}

function mayThrowAway(buffers: BuffersReading | undefined): boolean {
  const outputs = buffers?.outputs ?? [];
  return outputs.some((output) => output.retryLimit !== undefined && heldBy(output).bytes > 0);
}

/** in_tail may still be reading the rest of a file that went away. */
function isAnyRead(gone: View['gone']): boolean {
  return [...(gone?.values() ?? [])].some(({ rest, isClosed, isOver }) => rest > 0 && !isClosed && !isOver);
}
