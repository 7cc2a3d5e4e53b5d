import {
  findByWorkers,
  findInSession,
  findSuccessor,
  findSupervisors,
  findWorkers,
  haveSameProcesses,
  identityOf,
  isAlive,
  isSame,
  lastOf,
  type Running,
  stillRunning,
} from '../core/fluentd/processes.ts';
import type { Depth } from '../core/look/snapshot.ts';
import type { Subject } from '../core/look/subject.ts';
import type { FluentdReading, ProcessIdentity, ProcessRow } from '../core/progress/fluentd-reading.ts';
import type { FluentdSign, Host } from '../host.ts';
import { Proof } from './fluentd-proof.ts';

export type FinderSubject = Pick<Subject, 'fluentd' | 'posFiles' | 'witness'>;

type Table = readonly ProcessRow[];

const NOBODY_THERE =
  'posidle sees no process of fluentd: one in another container needs a witness (`posidle witness` shows how), or the Pod needs shareProcessNamespace';
const ENDED = 'Fluentd has ended: nobody reads what main wrote last';
const NO_WITNESS = 'no witness of a Fluentd is in';
const LOADED_BY =
  "Fluentd's container needs that volume, writable, and the RUBYOPT that `posidle witness` prints; or Fluentd did not start";
const GONE = { kind: 'absent', why: 'Fluentd is gone' } as const;
const REMOTE: FluentdReading = { kind: 'remote', permitted: true };

/** Finds the right Fluentd at each look. */
export class FluentdFinder {
  readonly #host: Host;
  readonly #subject: FinderSubject;
  readonly #proof: Proof;
  /** A witness listens, so Fluentd takes orders through it. */
  #isWitnessed = false;

  constructor(host: Host, subject: FinderSubject) {
    this.#host = host;
    this.#subject = subject;
    this.#proof = new Proof(host, subject);
  }

  /**
   * The state of Fluentd: of the known one as long as it runs, else of another one. A light look reads the whole process table only if
   * Fluentd's own processes have changed.
   */
  async find(known: FluentdReading | undefined, depth: Depth = 'all'): Promise<FluentdReading> {
    const sign = await this.#look();
    if (this.#subject.fluentd.by === 'witness') return this.#bySign(sign);
    const found = (depth === 'light' && (await this.#unchanged(known))) || (await this.#findAnyhow(known));
    if (found.kind !== 'running') return found;
    const isStarting = await this.#proof.isStarting(found.workers);
    // The same object means that nothing has changed.
    return found.isStarting === isStarting && 'isStarting' in found ? found : { ...found, isStarting };
  }

  async #unchanged(known: FluentdReading | undefined): Promise<FluentdReading | undefined> {
    if (known === undefined || !isProven(known)) return undefined;
    const family = await this.#host.listFamily(known.supervisor.pid).catch(() => undefined);
    if (family === undefined) return undefined;
    const now = stillRunning(family, known);
    return now && haveSameProcesses(now, known) ? await this.#withProof(family, known) : undefined;
  }

  async #findAnyhow(known: FluentdReading | undefined): Promise<FluentdReading> {
    const { fluentd } = this.#subject;
    const table = await this.#table();
    if (table instanceof Error) return known ?? { kind: 'absent', why: table.message };
    const same = known && stillRunning(table, known);
    if (same !== undefined) return await this.#orProven(table, await this.#withProof(table, same));
    const successor = known && this.#successorOf(table, known);
    if (successor !== undefined) return successor;
    if (fluentd.by === 'session') return this.#findBelow(table, fluentd.leader, known);
    const found = await this.#search(table, known);
    if (isProven(found)) return found;
    const seen = found.kind === 'absent' && this.#isWitnessed ? REMOTE : found;
    return (known && this.#orphansOf(table, known)) ?? seen;
  }

  /** The known Fluentd, unless nothing proves it and another one has opened a pos file. */
  async #orProven(table: Table, known: FluentdReading): Promise<FluentdReading> {
    if (this.#subject.fluentd.by !== 'search' || isProven(known)) return known;
    const found = await this.#search(table, known);
    return isProven(found) ? found : known;
  }

  /** The state of the Fluentd that got the stop order. It ignores another Fluentd that starts meanwhile. */
  async follow(known: FluentdReading): Promise<FluentdReading> {
    const sign = await this.#look();
    // A supervisor outlives its workers.
    if (known.kind === 'remote') return sign === 'listening' || sign === 'starting' ? REMOTE : GONE;
    const table = await this.#table();
    if (table instanceof Error) return known;
    if (known.kind === 'wrapper') return isAlive(table, known.leader) ? known : GONE;
    return (
      stillRunning(table, known) ?? this.#successorOf(table, known) ?? this.#orphansOf(table, known) ?? GONE
    );
  }

  /** An Error if nobody knows the processes. That does not mean that Fluentd is gone. */
  #table(): Promise<Table | Error> {
    return this.#host.listProcesses().catch((error: Error) => error);
  }

  /** Looks for orphans before unknown supervisors: orphans get a new parent (the next init), which is not their supervisor. */
  #findBelow(table: Table, leader: ProcessIdentity, known: FluentdReading | undefined): FluentdReading {
    const named = findInSession(table, leader);
    if (named !== undefined) return this.#running(table, named, true);
    const orphans = known && this.#orphansOf(table, known);
    if (orphans !== undefined) return orphans;
    const renamed = findByWorkers(table, leader);
    if (renamed !== undefined) return this.#running(table, renamed, true);
    if (!isAlive(table, leader)) return { kind: 'absent', why: 'fluentd has ended' };
    const since = known?.kind === 'wrapper' ? known.since : this.#host.now();
    const permitted = this.#isWitnessed || this.#host.maySignal(leader.pid);
    return { kind: 'wrapper', leader, since, permitted };
  }

  async #search(table: Table, known: FluentdReading | undefined): Promise<FluentdReading> {
    const host = this.#host;
    const last = lastOf(known);
    const rows = findSupervisors(table);
    // Ignore processes that posidle may not signal if there is one that it may.
    const permitted = rows.filter(({ pid }) => host.maySignal(pid));
    const candidates = permitted.length > 0 ? permitted : rows;
    const proofs = await Promise.all(candidates.map((row) => this.#proof.holdsFor(table, row)));
    const proven = candidates.filter((_, index) => proofs[index]);
    const areProven = proven.length > 0;
    const [row, ...others] = areProven ? proven : candidates;
    if (row === undefined) return { kind: 'absent', why: NOBODY_THERE, ...(last && { last }) };
    if (others.length === 0) return this.#running(table, row, areProven);
    // The right one has ended, and these are its neighbours.
    if (last !== undefined && !areProven) return { kind: 'absent', why: GONE.why, last };
    return { kind: 'ambiguous', candidates: [row, ...others] };
  }

  async #withProof(table: Table, reading: Running): Promise<FluentdReading> {
    const permitted = reading.permitted || this.#isWitnessed;
    if (reading.proof === 'own') return reading.permitted === permitted ? reading : { ...reading, permitted };
    const row = table.find((candidate) => isSame(candidate, reading.supervisor));
    const isOwn = row !== undefined && (await this.#proof.holdsFor(table, row));
    const proof = isOwn ? 'own' : this.#isWitnessed ? 'hearsay' : reading.proof;
    return proof === reading.proof ? reading : { ...reading, permitted, proof };
  }

  #running(table: Table, row: ProcessRow, isProven: boolean): FluentdReading {
    return {
      kind: 'running',
      supervisor: identityOf(row),
      workers: findWorkers(table, row.pid).map(identityOf),
      // The expected witness may still be starting.
      permitted: this.#subject.witness !== undefined || this.#host.maySignal(row.pid),
      proof: isProven ? 'own' : this.#isWitnessed ? 'hearsay' : 'none',
    };
  }

  /** Workers that outlived their supervisor. */
  #orphansOf(table: Table, known: FluentdReading): FluentdReading | undefined {
    if (known.kind !== 'running' && known.kind !== 'orphaned') return undefined;
    if (known.kind === 'running' && known.proof === 'hearsay') return undefined;
    const workers = known.workers.filter((worker) => isAlive(table, worker));
    const [first] = workers;
    if (first === undefined) return undefined;
    return { kind: 'orphaned', workers, permitted: this.#host.maySignal(first.pid) };
  }

  /** The supervisor that replaced one that has ended. */
  #successorOf(table: Table, known: FluentdReading): FluentdReading | undefined {
    if (known.kind !== 'running' || known.successor === undefined) return undefined;
    const row = findSuccessor(table, known.supervisor.pid, known.successor);
    return row && this.#running(table, row, true);
  }

  #bySign(sign: FluentdSign): FluentdReading {
    switch (sign) {
      case 'listening':
        return REMOTE;
      case 'starting':
        return { kind: 'remote', permitted: true, isStarting: true };
      case 'ended':
        return { kind: 'absent', why: ENDED, hasEnded: true };
      case 'unknown':
        return { kind: 'absent', why: `${NO_WITNESS} ${this.#subject.witness}. ${LOADED_BY}` };
    }
  }

  async #look(): Promise<FluentdSign> {
    const { witness } = this.#subject;
    const sign = witness === undefined ? 'unknown' : await this.#host.lookForFluentd(witness);
    this.#isWitnessed = sign === 'listening';
    return sign;
  }
}

function isProven(reading: FluentdReading): reading is Running {
  return reading.kind === 'running' && reading.proof === 'own';
}
