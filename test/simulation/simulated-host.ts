import type { Endpoint } from '../../src/core/fluent-conf/fluent-conf.ts';
import type { TailSource } from '../../src/core/fluent-conf/tail.ts';
import type { Chunk, ChunkListing } from '../../src/core/fluentd/chunk.ts';
import { CONFIG_PATH } from '../../src/core/fluentd/monitor-agent.ts';
import type { ProcessIdentity, ProcessRow } from '../../src/core/fluentd/processes.ts';
import { isFileOf } from '../../src/core/look/file-state.ts';
import type { FileLook, FileStat, FollowedFile, StopRequest } from '../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Testimony } from '../../src/core/witness/testimony.ts';
import type { FileContent, FileStamp, Host, OpenFiles } from '../../src/host.ts';
import { chunkFiles } from './chunk-files.ts';
import { LINE_BYTES } from './lines.ts';
import { isFollowed, type LogFile, sizeOf } from './log-files.ts';
import type { Pauses } from './pauses.ts';
import type { World } from './world.ts';

export const POS_PATH = '/pos/app.pos';
export const RPC: Endpoint = { host: '127.0.0.1', port: 24_444 };
export const AGENT: Endpoint = { host: '127.0.0.1', port: 24_220 };
const MOST_SLEEPS = 30_000;

/** What breaks a promise. */
export class Violation extends Error {}

/** Is told of each signal before it arrives. */
export type OnSignal = (signal: string, pid: number) => void;

/** The world as posidle sees it. */
export class SimulatedHost implements Host {
  readonly self = 7;
  sleeps = 0;
  readonly #world: World;
  readonly #pauses: Pauses;
  readonly #onSignal: OnSignal;

  constructor(world: World, pauses: Pauses, onSignal: OnSignal) {
    this.#world = world;
    this.#pauses = pauses;
    this.#onSignal = onSignal;
  }

  now(): Millis {
    return this.#world.clock.now;
  }

  async sleep(until: Millis): Promise<void> {
    const world = this.#world;
    const { clock, random, settings } = world;
    this.sleeps += 1;
    if (this.sleeps > MOST_SLEEPS) throw new Violation(`the loop never ends: ${MOST_SLEEPS} sleeps`);
    clock.pass(settings.leavesOutLooks ? this.#pauses.next(until) : until, () => world.isWoken);
    world.isWoken = false;
    if (settings.oversleeps > 0) clock.pass(clock.now + random.between(0, settings.oversleeps));
    if (world.stalledUntil > clock.now) clock.pass(world.stalledUntil);
  }

  async nextTurn(): Promise<void> {}

  /** A look takes its time before it gives itself back. */
  within<T extends object>(work: Promise<T>): Promise<T> {
    return work;
  }

  requests(): readonly StopRequest[] {
    return [...this.#world.requests];
  }

  async expand(pattern: string): Promise<readonly string[]> {
    return [pattern];
  }

  async readFile(): Promise<FileContent | undefined> {
    this.#takeTime();
    const { posFile, clock } = this.#world;
    this.#world.excuses.lookedAt = clock.now;
    if (!posFile.exists) return undefined;
    return { bytes: posFile.bytes, writtenAgo: clock.wall - posFile.writtenAt };
  }

  async fileStamp(): Promise<FileStamp | undefined> {
    const { posFile, clock } = this.#world;
    if (!posFile.exists) return undefined;
    return { id: `${posFile.bytes.length} ${posFile.writtenAt}`, writtenAgo: clock.wall - posFile.writtenAt };
  }

  async lookAt<Entry extends PositionEntry>(
    entries: Iterable<Entry>,
    found: (entry: Entry, look: FileLook) => void,
  ): Promise<void> {
    for (const entry of entries) {
      this.#takeTime();
      found(entry, this.#lookAt(entry));
    }
  }

  #lookAt(entry: PositionEntry): FileLook {
    const { logs } = this.#world;
    const file = logs.byPath.get(entry.path);
    const atPath = file && this.#statOf(file);
    const look = atPath === undefined ? {} : { atPath };
    if (entry.position === null) return look;
    if (file !== undefined && atPath !== undefined && isFileOf(entry, atPath))
      return { ...look, ...newlineAfter(file, entry.position) };
    const renamed = logs.findByInode(entry.inode);
    if (renamed === undefined) return look;
    const [path, old] = renamed;
    return { ...look, renamed: { path, stat: this.#statOf(old) }, ...newlineAfter(old, entry.position) };
  }

  #statOf(file: LogFile): FileStat {
    return { inode: file.inode, size: sizeOf(file), writtenAgo: this.#world.clock.wall - file.writtenAt };
  }

  async mayRead(_pid: number | undefined, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
    return new Map(paths.map((path) => [path, true]));
  }

  async listFollowed(_source: TailSource): Promise<readonly FollowedFile[]> {
    this.#takeTime();
    this.#world.excuses.listedAt = this.#world.clock.now;
    const files = [...this.#world.logs.byPath].filter(([path]) => isFollowed(path));
    return files.map(([path, file]) => ({ path, inode: file.inode, size: sizeOf(file) }));
  }

  async namesStamp(): Promise<string> {
    return [...this.#world.logs.byPath].map(([path, { inode }]) => `${inode} ${path}`).join('\n');
  }

  async listChunks(): Promise<ChunkListing> {
    this.#takeTime();
    const { disk, clock, posFile } = this.#world;
    return { chunks: chunkFiles(disk, clock), isThere: posFile.exists, isFull: false };
  }

  async listBackups(): Promise<readonly Chunk[]> {
    return [...this.#world.disk.backups];
  }

  async appendNewline(path: string, size: number): Promise<void> {
    const { logs } = this.#world;
    const file = logs.byPath.get(path);
    if (file !== undefined && sizeOf(file) === size) logs.end(path);
  }

  async listProcesses(): Promise<readonly ProcessRow[]> {
    this.#takeTime();
    const { settings, processes } = this.#world;
    if (settings.placement === 'rpc') return [SELF];
    return [SELF, ...processes];
  }

  async listFamily(pid: number): Promise<readonly ProcessRow[]> {
    return (await this.listProcesses()).filter((row) => row.pid === pid || row.ppid === pid);
  }

  maySignal(): boolean {
    return true;
  }

  openFiles(pids: readonly number[]): OpenFiles {
    return (_, inode) => {
      const worker = this.#world.fluentd?.worker;
      if (worker === undefined || !pids.includes(worker.pid)) return undefined;
      const file = worker.tail?.holds(inode);
      return file === undefined ? null : { path: `/proc/${worker?.pid}/fd/9`, stat: this.#statOf(file) };
    };
  }

  holdsOpen(pid: number): boolean {
    return this.#world.fluentds.some(({ worker }) => worker?.pid === pid && worker.tail !== undefined);
  }

  async signal(target: ProcessIdentity, signal: string): Promise<'sent' | 'gone' | 'not-permitted'> {
    const found = this.#world.processes.find(({ pid }) => pid === target.pid);
    if (found === undefined || found.startTime !== target.startTime) return 'gone';
    this.#world.tell(`posidle sends ${signal} to ${target.pid}`);
    this.#onSignal(signal, target.pid);
    for (const fluentd of this.#world.fluentds) {
      if (fluentd.isUp && fluentd.pid === target.pid) fluentd.signal(signal);
      else if (fluentd.worker?.pid === target.pid) fluentd.signalWorker(signal);
    }
    return 'sent';
  }

  async hasWitness(): Promise<boolean> {
    return false;
  }

  async isWitnessAlive(): Promise<boolean> {
    return false;
  }

  async askWitnesses(): Promise<Testimony> {
    return { at: this.now(), witnesses: [] };
  }

  async tellWitness(): Promise<string | undefined> {
    return 'nobody listens';
  }

  async isListening({ port }: Endpoint): Promise<boolean> {
    const { fluentd, settings, clock } = this.#world;
    return (
      port === RPC.port &&
      settings.placement === 'rpc' &&
      fluentd?.isUp === true &&
      clock.now - fluentd.startedAt >= 400
    );
  }

  async get(endpoint: Endpoint, path: string): Promise<string | undefined> {
    this.#takeTime();
    if (endpoint.port === AGENT.port) return this.#askAgent(path);
    if (!(await this.isListening(endpoint))) return undefined;
    const signal = path.includes('flushBuffers') ? 'SIGUSR1' : path.includes('kill') ? 'SIGTERM' : 'SIGINT';
    const { fluentd } = this.#world;
    this.#world.tell(`posidle calls ${path}`);
    this.#onSignal(signal, fluentd?.pid ?? 0);
    fluentd?.signal(signal);
    return '{"ok":true}';
  }

  #askAgent(path: string): string | undefined {
    const { settings, fluentd } = this.#world;
    const worker = fluentd?.worker;
    if (!settings.hasMonitor || worker?.output === undefined) return undefined;
    if (path === CONFIG_PATH) {
      this.#world.excuses.known.add(worker.pid);
      return `{"pid":${worker.pid},"ppid":${fluentd?.pid}}`;
    }
    return JSON.stringify({ plugins: settings.buffer === 'none' ? [] : [worker.output.told()] });
  }

  /** A call may take a while, and the world goes on meanwhile. */
  #takeTime(): void {
    const { clock, random, settings } = this.#world;
    if (settings.callTakes > 0) clock.pass(clock.now + random.between(0, settings.callTakes));
  }
}

const SELF: ProcessRow = {
  pid: 7,
  ppid: 1,
  session: 7,
  startTime: '0',
  zombie: false,
  argv: ['node', 'posidle', 'watch'],
};

function newlineAfter(file: LogFile, position: number): Pick<FileLook, 'newlineLeft'> {
  if (position >= sizeOf(file)) return {};
  return { newlineLeft: position < file.lines.length * LINE_BYTES };
}
