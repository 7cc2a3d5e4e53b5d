import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Endpoint } from '../../src/core/fluent-conf/fluent-conf.ts';
import type { TailSource } from '../../src/core/fluent-conf/tail.ts';
import type { Chunk, ChunkListing } from '../../src/core/fluentd/chunk.ts';
import type { ProcessIdentity, ProcessRow } from '../../src/core/fluentd/processes.ts';
import { isFileOf } from '../../src/core/look/file-state.ts';
import type { FileLook, FileStat, FollowedFile, StopRequest } from '../../src/core/look/snapshot.ts';
import { encodePath } from '../../src/core/pos-file/path-bytes.ts';
import type { PositionEntry } from '../../src/core/pos-file/pos-file.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Testimony, Witness } from '../../src/core/witness/testimony.ts';
import type { FileContent, FileStamp, Host } from '../../src/host.ts';
import { POS, posText } from './builders.ts';

/** A file of the fake world. */
export interface FakeFile {
  readonly bytes: Uint8Array;
  readonly inode: string;
  readonly writtenAt: Millis;
}

/** A process of the fake world: its row, and what it does when it gets a signal. */
export interface FakeProcess extends ProcessRow {
  readonly permitted: boolean;
  readonly onSignal: (signal: string) => void;
}

type Script = (host: FakeHost) => void;

const NEWLINE = 0x0a;
/** So many sleeps in a row that end where they began: a loop that spins. */
const MOST_IDLE_SLEEPS = 100;
const MOST_SLEEPS = 20_000;

/** A whole world in memory: files, processes and a clock that moves only while the daemon sleeps. */
export class FakeHost implements Host {
  readonly self = 77;
  /** Each signal that was sent: `SIGINT 4242 @19000`. */
  readonly sent: string[] = [];
  turns = 0;
  readonly files = new Map<string, FakeFile>();
  readonly directories = new Map<string, string>();
  readonly processes = new Map<number, FakeProcess>();
  /** Paths that exist and cannot be read, and why. */
  readonly broken = new Map<string, string>();
  /** What answers on the network: by `HOST:PORT`, a body a path; undefined there: no answer. */
  readonly servers = new Map<string, (path: string) => string | undefined>();
  sleeps = 0;
  isDiskFull = false;
  /** Files that Fluentd may not read. */
  readonly closed = new Set<string>();
  /** Right before a signal that is meant to end something. */
  onStop: () => void = () => {};
  #now = 0;
  #lastInode = 100;
  #idleSleeps = 0;
  #woken = false;
  #script: { readonly at: Millis; readonly run: Script }[] = [];
  readonly #requests: StopRequest[] = [];
  readonly #fluentds = new Set<FakeFluentd>();
  /** What the witnesses say. */
  witnesses: readonly Witness[] = [];
  onWitnessTold: (worker: string, word: 'flush' | 'stop') => string | undefined = () => 'nobody listens';
  /** Workers that have not opened their pos file yet. */
  readonly starting = new Set<number>();

  // The world's own side.

  /** What was sent to end something: a flush (SIGUSR1) is none. */
  get stops(): readonly string[] {
    return this.sent.filter((sent) => !sent.startsWith('SIGUSR1 '));
  }

  /** What happens at an instant. */
  at(at: Millis, run: Script): this {
    const after = this.#script.findIndex((other) => other.at > at);
    this.#script.splice(after < 0 ? this.#script.length : after, 0, { at, run });
    return this;
  }

  writeFile(path: string, content: string | Uint8Array, inode = this.files.get(path)?.inode): void {
    const bytes = typeof content === 'string' ? encodePath(content) : content;
    this.files.set(path, { bytes, inode: inode ?? this.newInode(), writtenAt: this.#now });
  }

  /** Appends to a log file; a Fluentd that tails it takes notice. */
  appendLog(path: string, text: string): void {
    const before = this.files.get(path)?.bytes ?? new Uint8Array();
    this.writeFile(path, new Uint8Array(Buffer.concat([before, encodePath(text)])));
    for (const fluentd of this.#fluentds) fluentd.notice(path);
  }

  rename(from: string, to: string): void {
    const file = this.files.get(from);
    if (file === undefined) throw new Error(`no ${from} to rename`);
    this.files.delete(from);
    this.files.set(to, file);
  }

  startProcess(row: Partial<FakeProcess> & { readonly pid: number }): void {
    const defaults = { ppid: 1, session: 0, startTime: `started ${this.#now}`, zombie: false, argv: ['sh'] };
    const onSignal = () => this.endProcess(row.pid);
    this.processes.set(row.pid, { ...defaults, permitted: true, onSignal, ...row });
  }

  /** Gone at once; its children go on below pid 1. */
  endProcess(pid: number): void {
    this.processes.delete(pid);
    for (const child of this.processes.values())
      if (child.ppid === pid) this.processes.set(child.pid, { ...child, ppid: 1 });
  }

  /** From now on the kernel refuses every signal to it. */
  forbid(pid: number): void {
    const found = this.processes.get(pid);
    if (found !== undefined) this.processes.set(pid, { ...found, permitted: false });
  }

  startFluentd(options: FluentdOptions = {}): FakeFluentd {
    const fluentd = new FakeFluentd(this, options);
    this.#fluentds.add(fluentd);
    return fluentd;
  }

  request(by: StopRequest['by']): void {
    this.#requests.push({ by, at: this.#now });
    this.#woken = true;
  }

  newInode(): string {
    this.#lastInode += 1;
    return String(this.#lastInode);
  }

  // The daemon's side.

  now(): Millis {
    return this.#now;
  }

  async sleep(until: Millis, _?: Parameters<Host['sleep']>[1]): Promise<void> {
    this.sleeps += 1;
    this.#idleSleeps = until > this.#now ? 0 : this.#idleSleeps + 1;
    if (this.sleeps > MOST_SLEEPS) throw new Error(`the loop never ends: ${MOST_SLEEPS} sleeps`);
    if (this.#idleSleeps > MOST_IDLE_SLEEPS) throw new Error(`the loop spins @${this.#now}`);
    while (!this.#woken && (this.#script[0]?.at ?? Number.POSITIVE_INFINITY) <= until) this.#runNext();
    if (!this.#woken) this.#now = Math.max(this.#now, until);
    this.#woken = false;
  }

  async nextTurn(): Promise<void> {
    this.turns += 1;
  }

  async within<T extends object>(work: Promise<T>, until: Millis): Promise<T | undefined> {
    const { length } = this.#requests;
    for (;;) {
      const settled = await Promise.race([work, nextTurn(undefined)]);
      if (settled !== undefined || this.#now >= until || this.#requests.length > length) return settled;
      await this.sleep(Math.min(until, this.#script[0]?.at ?? until));
    }
  }

  #runNext(): void {
    const next = this.#script.shift();
    this.#now = Math.max(this.#now, next?.at ?? 0);
    next?.run(this);
  }

  async expand(pattern: string): Promise<readonly string[]> {
    const matches = this.files.has(pattern) ? [] : this.#matching([pattern]);
    return matches.length === 0 ? [pattern] : matches;
  }

  async readFile(path: string): Promise<FileContent | undefined> {
    this.#failIfBroken(path);
    if (this.directories.has(path)) throw new Error('EISDIR: illegal operation on a directory, read');
    const file = this.files.get(path);
    return file && { bytes: file.bytes, writtenAgo: this.#now - file.writtenAt };
  }

  async fileStamp(path: string): Promise<FileStamp | undefined> {
    const file = this.broken.has(path) ? undefined : this.files.get(path);
    const id = file && `${file.inode} ${file.bytes.length} ${file.writtenAt}`;
    return id === undefined || file === undefined
      ? undefined
      : { id, writtenAgo: this.#now - file.writtenAt };
  }

  async lookAt<Entry extends PositionEntry>(
    entries: Iterable<Entry>,
    found: (entry: Entry, look: FileLook) => void,
  ): Promise<void> {
    for (const entry of entries) found(entry, this.#lookAt(entry));
  }

  #lookAt(entry: PositionEntry): FileLook {
    const place = entry.path;
    const atPath = this.#statOf(place);
    const look = atPath === undefined ? {} : { atPath };
    if (entry.position === null) return look;
    if (atPath !== undefined && isFileOf(entry, atPath))
      return { ...look, ...this.#newlineIn(place, entry.position) };
    const renamed = this.#findByInode(directoryOf(place), entry.inode);
    return renamed === undefined
      ? look
      : { ...look, renamed, ...this.#newlineIn(renamed.path, entry.position) };
  }

  #statOf(path: string): FileStat | undefined {
    const file = this.files.get(path);
    if (file !== undefined)
      return { inode: file.inode, size: file.bytes.length, writtenAgo: this.#now - file.writtenAt };
    const inode = this.directories.get(path);
    return inode === undefined ? undefined : { inode, size: 4096, writtenAgo: 0 };
  }

  #findByInode(directory: string, inode: string): FileLook['renamed'] {
    if (this.broken.has(directory)) return undefined;
    const beside = [...this.files.keys()].filter((path) => directoryOf(path) === directory);
    const path = beside.find((path) => this.files.get(path)?.inode === inode);
    const stat = path === undefined ? undefined : this.#statOf(path);
    return path !== undefined && stat !== undefined ? { path, stat } : undefined;
  }

  #newlineIn(path: string, position: number): Pick<FileLook, 'newlineLeft'> {
    const rest = this.files.get(path)?.bytes.subarray(position) ?? new Uint8Array();
    return rest.length === 0 || this.broken.has(path) ? {} : { newlineLeft: rest.includes(NEWLINE) };
  }

  async mayRead(_pid: number | undefined, paths: readonly string[]): Promise<ReadonlyMap<string, boolean>> {
    return new Map(paths.map((path) => [path, !this.closed.has(path)]));
  }

  async listFollowed({ paths }: TailSource): Promise<readonly FollowedFile[]> {
    return this.#matching(paths).flatMap((path) => {
      const file = this.files.get(path);
      return file === undefined ? [] : [{ path, inode: file.inode, size: file.bytes.length }];
    });
  }

  async namesStamp({ paths }: TailSource): Promise<string> {
    return this.#matching(paths)
      .map((path) => `${this.files.get(path)?.inode} ${path}`)
      .join('\n');
  }

  async listChunks(globs: readonly string[]): Promise<ChunkListing> {
    return { chunks: await this.listBackups(globs), isThere: true, isFull: this.isDiskFull };
  }

  async listBackups(globs: readonly string[]): Promise<readonly Chunk[]> {
    return this.#matching(globs).map((path) => {
      const { bytes, writtenAt } = this.files.get(path) ?? { bytes: [], writtenAt: this.#now };
      return { path, size: bytes.length, age: this.#now - writtenAt };
    });
  }

  async appendNewline(path: string, size: number): Promise<void> {
    if (this.files.get(path)?.bytes.length === size) this.appendLog(path, '\n');
  }

  async hasWitness(): Promise<boolean> {
    return this.witnesses.length > 0;
  }

  async isWitnessAlive(): Promise<boolean> {
    return this.witnesses.some(({ kind }) => kind !== 'gone');
  }

  async askWitnesses(): Promise<Testimony> {
    return { at: this.#now, witnesses: this.witnesses };
  }

  async tellWitness(_dir: string, worker: string, word: 'flush' | 'stop'): Promise<string | undefined> {
    return this.onWitnessTold(worker, word);
  }

  async isListening({ host, port }: Endpoint): Promise<boolean> {
    return this.servers.has(`${host}:${port}`);
  }

  async get({ host, port }: Endpoint, path: string): Promise<string | undefined> {
    return this.servers.get(`${host}:${port}`)?.(path);
  }

  async listProcesses(): Promise<readonly ProcessRow[]> {
    return this.#table();
  }

  #table(): readonly ProcessRow[] {
    return [{ ...SELF, pid: this.self }, ...this.processes.values()];
  }

  async listFamily(pid: number): Promise<readonly ProcessRow[]> {
    return this.#table().filter((row) => row.pid === pid || row.ppid === pid);
  }

  /** A Fluentd's workers hold its pos file open, but for those that are still starting. */
  holdsOpen(pid: number, paths: readonly string[]): boolean | undefined {
    const found = this.processes.get(pid);
    if (found?.permitted === false) return undefined;
    if (this.starting.has(pid)) return false;
    if (found?.argv.includes('--under-supervisor')) return paths.length > 0;
    return [...this.#fluentds].some(
      ({ pid: supervisor, posFile }) => paths.includes(posFile) && pid >= supervisor && pid < supervisor + 10,
    );
  }

  openFiles(): () => undefined {
    return () => undefined;
  }

  maySignal(pid: number): boolean {
    return this.processes.get(pid)?.permitted !== false;
  }

  async signal(target: ProcessIdentity, signal: string): Promise<'sent' | 'gone' | 'not-permitted'> {
    const found = this.processes.get(target.pid);
    if (found === undefined || found.zombie || found.startTime !== target.startTime) return 'gone';
    if (!found.permitted) return 'not-permitted';
    if (signal !== 'SIGUSR1') this.onStop();
    this.sent.push(`${signal} ${target.pid} @${this.#now}`);
    if (signal === 'SIGKILL') this.endProcess(target.pid);
    else found.onSignal(signal);
    return 'sent';
  }

  requests(): readonly StopRequest[] {
    return [...this.#requests];
  }

  #matching(globs: readonly string[]): readonly string[] {
    const matchers = globs.map(matcherOf);
    return [...this.files.keys()].filter((path) => matchers.some((matcher) => matcher.test(path))).toSorted();
  }

  #failIfBroken(path: string): void {
    const why = this.broken.get(path);
    if (why !== undefined) throw new Error(why);
  }
}

const SELF: Omit<ProcessRow, 'pid'> = {
  ppid: 1,
  session: 0,
  startTime: 'posidle',
  zombie: false,
  argv: ['node', 'posidle', 'watch', '--process', 'fluentd'],
};

/** `*` and `?` only. */
function matcherOf(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${source}$`);
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

export interface FluentdOptions {
  readonly pid?: number;
  readonly workers?: number;
  readonly posFile?: string;
  readonly argv?: readonly string[];
  readonly permitted?: boolean;
  /** Signals that the supervisor gets and does nothing about. */
  readonly ignores?: readonly string[];
  /** From the stop signal to the end. */
  readonly stopTakes?: Millis;
  /** From the write of a line to its position in the pos file. */
  readonly readTakes?: Millis;
}

/** A Fluentd of the fake world: a supervisor (pid) and its workers (pid + 1 …), which read what they are told of. */
export class FakeFluentd {
  readonly pid: number;
  readonly posFile: string;
  /** false: it reads nothing more; a full buffer, a throttled input. */
  reads = true;
  readonly #host: FakeHost;
  readonly #options: FluentdOptions;
  readonly #positions = new Map<string, { position: number; inode: string }>();

  constructor(host: FakeHost, options: FluentdOptions) {
    const { pid = 4242, workers = 1, posFile = POS, argv = ['/usr/bin/ruby', '/usr/bin/fluentd'] } = options;
    this.#host = host;
    this.#options = options;
    this.pid = pid;
    this.posFile = posFile;
    const permitted = options.permitted ?? true;
    host.startProcess({ pid, argv, permitted, onSignal: (signal) => this.#onSignal(signal) });
    for (let at = 1; at <= workers; at += 1) this.startWorker(pid + at);
    if (!host.files.has(posFile)) host.writeFile(posFile, '');
  }

  startWorker(pid: number): void {
    const argv = ['/usr/bin/ruby', '-Eascii-8bit:ascii-8bit', '/usr/bin/fluentd', '--under-supervisor'];
    const onSignal = (signal: string) => {
      if (signal === 'SIGTERM') this.#host.at(this.#stopAt(), (host) => host.endProcess(pid));
    };
    const permitted = this.#options.permitted ?? true;
    this.#host.startProcess({ pid, ppid: this.pid, argv, permitted, onSignal });
  }

  /** A log file has changed. */
  notice(path: string): void {
    this.#host.at(this.#host.now() + (this.#options.readTakes ?? 0), () => this.read(path));
  }

  /** Reads a file to its last newline, where it still reads. */
  read(path: string): void {
    const file = this.#host.files.get(path);
    if (!this.reads || !this.isAlive || file === undefined) return;
    this.setPosition(path, file.bytes.lastIndexOf(NEWLINE) + 1);
  }

  /** Bytes of whole lines that it has not read. */
  unreadIn(path: string): number {
    const end = (this.#host.files.get(path)?.bytes.lastIndexOf(NEWLINE) ?? -1) + 1;
    return end - (this.#positions.get(path)?.position ?? 0);
  }

  setPosition(path: string, position: number, inode = this.#host.files.get(path)?.inode ?? '0'): void {
    this.#positions.set(path, { position, inode });
    this.writePosFile();
  }

  writePosFile(): void {
    this.#host.writeFile(this.posFile, posText([...this.#positions].map(([path, at]) => ({ path, ...at }))));
  }

  /** Empties the pos file, and fills it again after a while. */
  compact(takes: Millis): void {
    this.#host.writeFile(this.posFile, '');
    this.#host.at(this.#host.now() + takes, () => this.writePosFile());
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
