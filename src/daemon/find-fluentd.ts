import {
  findInSession,
  findSuccessor,
  findSupervisors,
  findWorkers,
  haveSameProcesses,
  identityOf,
  isAlive,
  isSame,
  type Running,
  stillRunning,
} from '../core/fluentd/processes.ts';
import type { Depth } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { FluentdReading, ProcessIdentity, ProcessRow } from '../core/progress/fluentd-reading.ts';
import type { FluentdSign, Host } from '../host.ts';
import { expandAll } from './read-pos-files.ts';

export type FinderSubject = Pick<Subject, 'fluentd' | 'posFiles' | 'witness'>;

type Table = readonly ProcessRow[];

const NOBODY_THERE =
  'posidle sees no process of fluentd: one in another container needs a witness (`posidle witness` shows how), or the Pod needs shareProcessNamespace';
const ENDED = 'Fluentd has ended: nobody reads what main wrote since then';
const LOADED_BY =
  "Fluentd's container needs that volume, writable, and the RUBYOPT that `posidle witness` prints; or Fluentd did not start";
const GONE = { kind: 'absent', why: 'Fluentd is gone' } as const;
const REMOTE: FluentdReading = { kind: 'remote' };
const STARTING: FluentdReading = { kind: 'remote', isStarting: true };
const ORPHANED: FluentdReading = { kind: 'remote', isOrphaned: true };

/** Finds the right Fluentd at each look. */
export class FluentdFinder {
  readonly #host: Host;
  readonly #subject: FinderSubject;
  /** The running workers that have opened a pos file. */
  #up: readonly ProcessIdentity[] = [];
  /** The largest number of such workers so far. */
  #mostUp = 1;
  #wasRunning = false;
  /** What the witness's directory shows. */
  sign: FluentdSign = 'unknown';

  constructor(host: Host, subject: FinderSubject) {
    this.#host = host;
    this.#subject = subject;
  }

  /**
   * The state of Fluentd: of the known one as long as it runs, else of another one. A light look reads the whole process table only if
   * Fluentd's own processes have changed.
   */
  async find(known: FluentdReading | undefined, depth: Depth = 'all'): Promise<FluentdReading> {
    this.#wasRunning ||= known?.kind === 'running';
    await this.#look();
    if (this.#subject.fluentd.by === 'witness') return this.#bySign();
    const found = (depth === 'light' && (await this.#unchanged(known))) || (await this.#findAnyhow(known));
    if (found.kind !== 'running') return found;
    const isStarting = await this.#isStarting(found.workers);
    // The same object means that nothing has changed.
    return found.isStarting === isStarting && 'isStarting' in found ? found : { ...found, isStarting };
  }

  async #unchanged(known: FluentdReading | undefined): Promise<FluentdReading | undefined> {
    if (known === undefined || !isProven(known)) return undefined;
    const family = await this.#host.listProcesses(known.supervisor.pid).catch(() => []);
    const now = stillRunning(family, known);
    return now && haveSameProcesses(now, known) ? known : undefined;
  }

  async #findAnyhow(known: FluentdReading | undefined): Promise<FluentdReading> {
    const { fluentd } = this.#subject;
    const table = await this.#table();
    if (table instanceof Error) return known ?? { kind: 'absent', why: table.message };
    const same = known && this.#sameIn(table, known);
    if (same !== undefined && isProven(same)) return same;
    const found =
      fluentd.by === 'session' ? this.#findBelow(table, fluentd.leader, known) : await this.#search(table);
    if (isProven(found)) return found;
    // The right one lives, and these are its neighbours.
    if (this.sign === 'starting' && found.kind === 'ambiguous') return STARTING;
    if (this.sign !== 'listening') return same ?? found;
    // It is the one to stop, whatever the processes look like: a supervisor may have died, and left its workers.
    return fluentd.by === 'session' && found.kind === 'absent' ? ORPHANED : REMOTE;
  }

  /** The state of the Fluentd that got the stop order. It ignores another Fluentd that starts meanwhile. */
  async follow(known: FluentdReading): Promise<FluentdReading> {
    await this.#look();
    // A supervisor outlives its workers.
    if (known.kind === 'remote') return ['listening', 'starting'].includes(this.sign) ? REMOTE : GONE;
    const table = await this.#table();
    if (table instanceof Error) return known;
    if (known.kind === 'wrapper') return isAlive(table, known.leader) ? known : GONE;
    return this.#sameIn(table, known) ?? GONE;
  }

  /** An Error if nobody knows the processes. That does not mean that Fluentd is gone. */
  #table(): Promise<Table | Error> {
    return this.#host.listProcesses().catch((error: Error) => error);
  }

  #findBelow(table: Table, leader: ProcessIdentity, known: FluentdReading | undefined): FluentdReading {
    const row = findInSession(table, leader);
    if (row !== undefined) return running(table, row, 'own');
    if (!isAlive(table, leader)) return { kind: 'absent', why: 'fluentd has ended' };
    return { kind: 'wrapper', leader, since: known?.kind === 'wrapper' ? known.since : this.#host.now() };
  }

  async #search(table: Table): Promise<FluentdReading> {
    const rows = findSupervisors(table);
    const proofs = await Promise.all(rows.map((row) => this.#proofOf(table, row)));
    // A weaker proof counts only without a stronger one.
    const proof = (['own', 'none', 'not-permitted'] as const).find((one) => proofs.includes(one));
    const [row, ...others] = rows.filter((_, index) => proofs[index] === proof);
    if (row === undefined || proof === undefined) return { kind: 'absent', why: NOBODY_THERE };
    if (others.length === 0) {
      // The expected witness may still be starting.
      const isAwaited = proof === 'not-permitted' && this.#subject.witness !== undefined;
      return running(table, row, isAwaited ? 'none' : proof);
    }
    // The right one has ended, and these are its neighbours.
    if (this.#wasRunning && proof !== 'own') return GONE;
    return { kind: 'ambiguous', candidates: [row, ...others] };
  }

  /** The known one, or the supervisor that has replaced it. */
  #sameIn(table: Table, known: FluentdReading): Running | undefined {
    const same = stillRunning(table, known);
    if (same !== undefined || known.kind !== 'running' || known.successor === undefined) return same;
    const row = findSuccessor(table, known.supervisor.pid, known.successor);
    return row && running(table, row, 'own');
  }

  /** The proof that a process is the right Fluentd: it or one of its workers holds a pos file open. */
  async #proofOf(table: Table, row: ProcessRow): Promise<Running['proof']> {
    const pids = [...findWorkers(table, row.pid), row].map(({ pid }) => pid);
    const paths = await this.#posFiles();
    for (const pid of pids) if (await this.#host.holdsOpen(pid, paths)) return 'own';
    const told = await this.#host.signal(row, 0).catch(() => 'gone');
    return told === 'not-permitted' ? told : 'none';
  }

  /**
   * Whether a worker has not opened its pos file yet. It does that late, after it has set its signal handlers (supervisor.rb, run_worker).
   * Not every worker has a pos file, so posidle expects as many as ever had one. Undefined: posidle may not see their open files.
   */
  async #isStarting(workers: readonly ProcessIdentity[]): Promise<boolean | undefined> {
    const isUp = (worker: ProcessIdentity) => this.#up.some((known) => isSame(known, worker));
    const unsure = workers.filter((worker) => !isUp(worker));
    const paths = unsure.length === 0 ? [] : await this.#posFiles();
    const looks = paths.length === 0 ? [] : unsure.map(({ pid }) => this.#host.holdsOpen(pid, paths));
    const held = await Promise.all(looks);
    this.#up = [...workers.filter(isUp), ...unsure.filter((_, index) => held[index])];
    if (held.includes(undefined)) return undefined;
    this.#mostUp = Math.max(this.#mostUp, this.#up.length);
    return held.length > 0 && this.#up.length < Math.min(this.#mostUp, workers.length);
  }

  async #posFiles(): Promise<readonly string[]> {
    return [...(await expandAll(this.#host, this.#subject.posFiles)).keys()];
  }

  #bySign(): FluentdReading {
    if (this.sign === 'listening') return REMOTE;
    if (this.sign === 'starting') return STARTING;
    if (this.sign === 'ended') return { kind: 'absent', why: ENDED, hasEnded: true };
    return { kind: 'absent', why: `no witness of a Fluentd is in ${this.#subject.witness}. ${LOADED_BY}` };
  }

  async #look(): Promise<void> {
    const { witness } = this.#subject;
    if (witness !== undefined) this.sign = await this.#host.lookForFluentd(witness);
  }
}

function running(table: Table, row: ProcessRow, proof: Running['proof']): Running {
  const workers = findWorkers(table, row.pid).map(identityOf);
  return { kind: 'running', supervisor: identityOf(row), workers, proof };
}

function isProven(reading: FluentdReading): reading is Running {
  return reading.kind === 'running' && reading.proof === 'own';
}
