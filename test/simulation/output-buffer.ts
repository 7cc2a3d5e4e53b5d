import type { Millis } from '../../src/core/text/units.ts';
import type { OutputReport } from '../../src/core/witness/answer.ts';
import type { Chunk } from './chunk-files.ts';
import { LINE_BYTES } from './log-files.ts';
import { type FileHistory, type LogLine, SAID } from './witness.ts';
import type { World } from './world.ts';

/** flush_thread_interval and flush_thread_burst_interval are 1 s; measured: about half a second a chunk. */
const FLUSH_THREAD: Millis = 500;

/** Fluentd's messages (output.rb), as the witness normalizes them. */
const OVERFLOW: LogLine = {
  level: 'warn',
  text: 'failed to write data into buffer by buffer overflow action=:throw_exception',
};
const DROPPED: LogLine = { level: 'warn', text: 'dropping oldest chunk to make space after buffer overflow' };
const GIVEN_UP: LogLine = {
  level: 'error',
  text: 'Hit limit for retries. dropping all chunks in the buffer queue.',
};
const REFUSED: LogLine = { level: 'warn', text: 'got unrecoverable error in primary and no secondary' };

const [OUTPUT] = SAID.outputs as readonly [OutputReport];
const { receipt: UNCOUNTED } = OUTPUT;

/** One output of a worker with its buffer (output.rb, buffer.rb). */
export class OutputBuffer {
  readonly #world: World;
  #staged: Chunk | undefined;
  #queue: Chunk[];
  #sending: Chunk | undefined;
  #retryAt: Millis | undefined;
  #steps = 0;
  #isOver = false;
  #isDead = false;
  #wakesAt: Millis = Number.POSITIVE_INFINITY;
  #chunks = 0;
  #aside = 0;
  readonly #drops = { exhausted: 0, overflown: 0 };
  readonly #history: FileHistory;

  constructor(world: World, history: FileHistory) {
    this.#history = history;
    this.#world = world;
    this.#staged = world.disk.staged;
    this.#queue = world.disk.queue;
    history.resumes(this.#held.map(({ id }) => id));
    if (world.settings.buffer !== 'none') this.#tick();
    this.#wake(0);
  }

  /** Whether the lines were taken. */
  take(ids: readonly number[]): boolean {
    const { buffer, totalLimit, overflow, chunkLimit } = this.#world.settings;
    if (buffer === 'none') {
      this.#world.lines.become(ids, 'delivered');
      return true;
    }
    if (this.#records >= totalLimit) {
      if (overflow === 'throw_exception') this.#history.logs(OVERFLOW);
      if (overflow !== 'drop_oldest_chunk') return false;
      const oldest = this.#queue.shift();
      if (oldest !== undefined) this.#throwAway([oldest], 'overflown', DROPPED);
    }
    this.#staged ??= this.#newChunk();
    this.#staged.lines.push(...ids);
    this.#world.lines.become(ids, 'buffered');
    if (this.#staged.lines.length >= chunkLimit) this.enqueue();
    this.#keep();
    return true;
  }

  /** Everything that is staged is queued: what SIGUSR1 asks for. */
  enqueue(): void {
    if (this.#staged === undefined) return;
    this.#queue.push(this.#staged);
    this.#staged = undefined;
    this.#keep();
    this.#wake(0);
  }

  /** force_flush (output.rb:1433): one chunk after the other, and none once it retries. */
  shutDown(done: () => void): void {
    this.#isOver = true;
    if (this.#world.settings.flushAtShutdown) this.enqueue();
    const next = () => {
      if (this.#sending !== undefined) return this.#world.clock.in(50, next);
      const isLeft =
        this.#queue.length > 0 && this.#retryAt === undefined && this.#world.settings.flushAtShutdown;
      if (!isLeft) return done();
      this.#send();
      this.#world.clock.in(1_000, next);
    };
    next();
  }

  /** Chunks in memory die with the worker. Chunks that are being sent have not arrived. */
  die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#isOver = true;
    const held = this.#held.flatMap(({ lines }) => lines);
    if (this.#world.settings.buffer === 'memory') this.#world.lines.become(held, 'lost in memory');
    if (this.#sending !== undefined) this.#queue.unshift(this.#sending);
    this.#sending = undefined;
    this.#keep();
    this.#queue = [];
    this.#staged = undefined;
  }

  /** The part of the witness's answer about this output. */
  get sight(): OutputReport {
    const isBuffered = this.#world.settings.buffer !== 'none';
    return {
      ...OUTPUT,
      receipt: { ...UNCOUNTED, aside: this.#aside, drops: { ...UNCOUNTED.drops, ...this.#drops } },
      class: `Fluent::Plugin::${isBuffered ? 'HTTPOutput' : 'StdoutOutput'}`,
      buffer: isBuffered ? 'there' : 'none',
      isRetrying: this.#retryAt !== undefined,
      chunks: this.#held.length,
      bytes: this.#records * LINE_BYTES,
      ids: this.#held.map(({ id }) => id),
    };
  }

  get #held(): readonly Chunk[] {
    return [this.#staged, ...this.#queue, this.#sending].filter((chunk) => chunk !== undefined);
  }

  get #records(): number {
    return this.#held.reduce((sum, { lines }) => sum + lines.length, 0);
  }

  #newChunk(): Chunk {
    const { wall } = this.#world.clock;
    this.#chunks += 1;
    // unique_id.rb: 52 bits of microseconds, then chance.
    const birth = 1_000_000_000_000 + Math.round(wall * 1_000);
    const id = birth.toString(16).padStart(13, '0') + this.#chunks.toString(16).padStart(19, '0');
    return { id, lines: [], begunAt: wall };
  }

  /** The enqueue thread: a chunk is queued at flush_interval, or up to a second later (output.rb:1491). */
  #tick(): void {
    const { flushInterval } = this.#world.settings;
    this.#world.clock.in(Math.max(1_000, flushInterval / 11), () => {
      if (this.#isOver) return;
      if (this.#staged !== undefined && this.#world.clock.wall - this.#staged.begunAt >= flushInterval)
        this.enqueue();
      this.#tick();
    });
  }

  /** The flush thread looks again. */
  #wake(wait: Millis): void {
    const at = this.#world.clock.now + wait;
    if (this.#isOver || this.#queue.length === 0 || at >= this.#wakesAt) return;
    this.#wakesAt = at;
    this.#world.clock.at(at, () => {
      if (this.#wakesAt !== at) return;
      this.#wakesAt = Number.POSITIVE_INFINITY;
      if (this.#isOver || this.#sending !== undefined) return;
      const wait = (this.#retryAt ?? 0) - this.#world.clock.now;
      if (wait > 0) this.#wake(wait);
      else this.#send();
    });
  }

  #send(): void {
    const chunk = this.#queue.shift();
    if (chunk === undefined) return;
    this.#sending = chunk;
    this.#world.clock.in(this.#world.settings.sendTakes, () => {
      if (this.#sending !== chunk) return;
      this.#sending = undefined;
      this.#ended(chunk);
      this.#keep();
      this.#wake(FLUSH_THREAD);
    });
    this.#keep();
  }

  #ended(chunk: Chunk): void {
    switch (this.#world.destination.is) {
      case 'up':
        this.#world.lines.become(chunk.lines, 'delivered');
        if (this.#retryAt !== undefined) this.#history.logs({ level: 'warn', text: 'retry succeeded.' });
        this.#retryAt = undefined;
        this.#steps = 0;
        return;
      case 'rejecting':
        // An unrecoverable error: backed up, and committed as if it had been sent.
        this.#setAside([chunk], 'backup/worker0', REFUSED);
        this.#retryAt = undefined;
        return;
      case 'dead':
        this.#failed(chunk);
    }
  }

  #failed(chunk: Chunk): void {
    const { retryMaxTimes, buffer, version } = this.#world.settings;
    this.#queue.unshift(chunk);
    this.#steps += 1;
    if (retryMaxTimes === 0 || this.#steps <= retryMaxTimes) {
      this.#retryAt = this.#world.clock.now + 1_000 * 2 ** (this.#steps - 1);
      return;
    }
    // handle_limit_reached clears the whole queue; a file buffer copies it first, since 1.19.
    if (buffer === 'file' && version === '1.20') this.#setAside(this.#queue, 'buffer', GIVEN_UP);
    else this.#throwAway(this.#queue, 'exhausted', GIVEN_UP);
    this.#queue = [];
    this.#retryAt = undefined;
    this.#steps = 0;
  }

  #setAside(chunks: readonly Chunk[], folder: string, message: LogLine): void {
    this.#history.logs(message);
    for (const { id, lines } of chunks) {
      this.#aside += lines.length;
      this.#world.lines.become(lines, 'set aside');
      const path = `/root/${folder}/out/${id}.log`;
      this.#history.aside.push(path);
      this.#world.disk.backups.push({ path, size: lines.length * LINE_BYTES });
    }
  }

  #throwAway(chunks: readonly Chunk[], cause: 'exhausted' | 'overflown', message: LogLine): void {
    this.#history.logs(message);
    for (const { lines } of chunks) {
      this.#drops[cause] += lines.length;
      this.#world.lines.become(lines, 'thrown away');
    }
  }

  #keep(): void {
    if (this.#world.settings.buffer !== 'file') return;
    this.#world.disk.staged = this.#staged;
    this.#world.disk.queue = this.#sending === undefined ? this.#queue : [this.#sending, ...this.#queue];
  }
}
