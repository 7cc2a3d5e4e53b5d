import type { ChunkListing } from '../../src/core/fluentd/buffers.ts';
import type { FileLook, FileStat } from '../../src/core/look/snapshot.ts';
import type { KeyedEntry, PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import type { DrainRequest } from '../../src/core/progress/drain-request.ts';
import type { ProcessIdentity, ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import type { Question } from '../../src/core/progress/question.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Reports } from '../../src/core/witness/reports.ts';
import type { FileContent, FluentdSign, Followed, Host, ReadOptions, WitnessOrder } from '../../src/host.ts';
import { lookOf } from '../support/builders.ts';
import { SELF } from '../support/fake-host.ts';
import { chunkFiles } from './chunk-files.ts';
import { isFollowed, LINE_BYTES, type LogFile, sizeOf } from './log-files.ts';
import type { World } from './world.ts';

/** How long posidle waits for an answer that does not come (ask-witnesses.ts). */
const NO_ANSWER: Millis = 2_000;
const MOST_SLEEPS = 30_000;

/** A broken promise of posidle. */
export class Violation extends Error {}

/** Is told of each signal before it arrives. */
type OnSignal = (signal: string, pid: number, by: 'kill' | 'witness') => void;

/** The world as posidle sees it. */
export class SimulatedHost implements Host {
  #sleeps = 0;
  readonly #world: World;
  readonly #onSignal: OnSignal;

  constructor(world: World, onSignal: OnSignal) {
    this.#world = world;
    this.#onSignal = onSignal;
  }

  now(): Millis {
    return this.#world.clock.now;
  }

  async sleep(until: Millis): Promise<void> {
    const world = this.#world;
    const { clock, random, settings } = world;
    this.#sleeps += 1;
    if (this.#sleeps > MOST_SLEEPS) throw new Violation(`the loop never ends: ${MOST_SLEEPS} sleeps`);
    clock.pass(until, () => world.isWoken);
    world.isWoken = false;
    if (settings.oversleeps > 0) clock.pass(clock.now + random.between(0, settings.oversleeps));
    if (world.stalledUntil > clock.now) clock.pass(world.stalledUntil);
  }

  /** A look takes its time before it gives itself back. */
  within<T extends object>(work: Promise<T>): Promise<T> {
    return work;
  }

  requests(): readonly DrainRequest[] {
    return [...this.#world.requests];
  }

  async readFile(_path: string, { known }: ReadOptions = {}): Promise<FileContent | undefined> {
    const { posFile, clock } = this.#world;
    if (!posFile.exists) return undefined;
    const stamp = `${posFile.bytes.length} ${posFile.writtenAt}`;
    const writtenAgo = clock.wall - posFile.writtenAt;
    if (stamp === known) return { stamp, file: '1', bytes: undefined, writtenAgo };
    this.#takeTime();
    this.#world.lookedAt = clock.now;
    return { stamp, file: '1', bytes: posFile.bytes, writtenAgo: clock.wall - posFile.writtenAt };
  }

  async lookAt(
    entries: Iterable<KeyedEntry>,
    found: (entry: KeyedEntry, look: FileLook) => void,
  ): Promise<void> {
    for (const entry of entries) {
      this.#takeTime();
      found(entry, this.#lookAt(entry));
    }
  }

  #lookAt(entry: PositionEntry): FileLook {
    const file = this.#world.logs.byPath.get(entry.path);
    if (file === undefined) return {};
    return lookOf(entry, this.#statOf(file), (position) => newlineAfter(file, position));
  }

  #statOf(file: LogFile): FileStat {
    file.listed = Math.max(file.listed, sizeOf(file));
    return { inode: file.inode, size: sizeOf(file), writtenAgo: this.#world.clock.wall - file.writtenAt };
  }

  async listFollowed(): Promise<Followed> {
    this.#takeTime();
    const logs = [...this.#world.logs.byPath].filter(([path]) => isFollowed(path));
    const files = logs.map(([path, file]) => {
      Object.assign(file, { listed: sizeOf(file), cut: [] });
      return { path, inode: file.inode, size: sizeOf(file) };
    });
    return { files };
  }

  async listChunks([glob = '']: readonly string[]): Promise<ChunkListing> {
    const { disk, posFile } = this.#world;
    if (glob.includes('backup')) return { chunks: [...disk.backups], isThere: true };
    this.#takeTime();
    return { chunks: chunkFiles(disk), isThere: posFile.exists };
  }

  async listProcesses(): Promise<readonly ProcessRow[]> {
    this.#takeTime();
    const { settings, processes } = this.#world;
    if (settings.placement === 'remote') return [SELF];
    return [SELF, ...processes];
  }

  async holdsOpen(pid: number): Promise<boolean> {
    return this.#world.fluentds.some(({ worker }) => worker?.pid === pid && worker.tail !== undefined);
  }

  async signal(target: ProcessIdentity, signal: string | 0): Promise<'sent' | 'gone' | 'not-permitted'> {
    const found = this.#world.processes.find(({ pid }) => pid === target.pid);
    if (found === undefined || found.startTime !== target.startTime) return 'gone';
    if (signal === 0) return 'sent';
    this.#world.tell(`posidle sends ${signal} to ${target.pid}`);
    this.#send(signal, target.pid, 'kill');
    return 'sent';
  }

  #send(signal: string, pid: number, by: 'kill' | 'witness'): void {
    this.#onSignal(signal, pid, by);
    for (const fluentd of this.#world.fluentds) {
      if (fluentd.isUp && fluentd.pid === pid) fluentd.signal(signal);
      else if (fluentd.worker?.pid === pid) fluentd.signalWorker(signal);
    }
  }

  async lookForFluentd(): Promise<FluentdSign> {
    const { witnessed, fluentds } = this.#world;
    if (witnessed.some(({ isGone }) => !isGone)) return 'listening';
    if (witnessed.length === 0) return 'unknown';
    return fluentds.some(({ isUp }) => isUp) ? 'starting' : 'ended';
  }

  async askWitnesses(_dir: string, question: Question, patience = NO_ANSWER): Promise<Reports> {
    this.#takeTime();
    const { witnessed } = this.#world;
    const at = this.now();
    const isSilent = this.#waitInVain(Math.min(patience, NO_ANSWER));
    if (!isSilent) for (const worker of witnessed) if (worker.isReady) worker.tail?.hurry(question);
    return { at, witnesses: witnessed.map((worker) => worker.witness(isSilent)) };
  }

  async tellWitness(_dir: string, name: string, word: WitnessOrder, patience = NO_ANSWER): Promise<boolean> {
    const worker = this.#world.witnessed.find(({ socket }) => socket === name);
    if (worker === undefined || worker.isGone) return false;
    if (this.#waitInVain(Math.min(patience, NO_ANSWER)) || !worker.isReady) return false;
    const fluentd = this.#world.fluentds.find((one) => one.worker === worker);
    this.#world.tell(`posidle tells worker ${worker.pid} to ${word}`);
    if (word === 'flush') this.#send('SIGUSR1', worker.pid, 'witness');
    else if (fluentd?.isUp) this.#send('SIGINT', fluentd.pid, 'witness');
    else this.#send('SIGTERM', worker.pid, 'witness');
    return true;
  }

  #waitInVain(patience: Millis): boolean {
    const { clock, silentUntil, witnessed } = this.#world;
    const isSilent = silentUntil > clock.now && witnessed.some(({ isGone }) => !isGone);
    if (isSilent) {
      this.#world.stalledFor += patience;
      clock.pass(clock.now + patience);
    }
    return isSilent;
  }

  /** A call may take a while, and the world goes on meanwhile. */
  #takeTime(): void {
    const { clock, random, settings } = this.#world;
    if (settings.callTakes > 0) clock.pass(clock.now + random.between(0, settings.callTakes));
  }
}

function newlineAfter(file: LogFile, position: number): Pick<FileLook, 'newlineLeft'> {
  if (position >= sizeOf(file)) return {};
  return { newlineLeft: position < file.lines.length * LINE_BYTES };
}
