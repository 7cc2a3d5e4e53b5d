import type { Millis } from '../../src/core/text/units.ts';
import type { Report } from '../../src/core/witness/answer.ts';
import type { Witness } from '../../src/core/witness/reports.ts';
import { ENGINE_TICK } from './fluentd.ts';
import { isFollowed, sizeOf } from './log-files.ts';
import { OutputBuffer } from './output-buffer.ts';
import { Tail } from './tail.ts';
import { FileHistory, factsOf } from './witness.ts';
import type { World } from './world.ts';

interface Under {
  readonly dieEarly: () => void;
  /** It reads nothing for now: in_tail is not zero_downtime_restart_ready. */
  readonly isWaiting: boolean;
}

/** Reads and sends. */
export class Worker {
  readonly pid: number;
  readonly startedAt: Millis;
  endedAt: Millis = Number.POSITIVE_INFINITY;
  /** It follows its files; before, it dies of SIGUSR1. */
  tail: Tail | undefined;
  followsSince: Millis | undefined;
  output: OutputBuffer | undefined;
  readonly history = new FileHistory();
  readonly #world: World;
  readonly #under: Under;
  #isOver = false;
  #isUp = false;
  #isWaiting: boolean;
  #lastReport: Report | undefined;

  constructor(world: World, under: Under) {
    this.#world = world;
    this.#under = under;
    this.#isWaiting = under.isWaiting;
    this.pid = world.newPid();
    this.startedAt = world.clock.now;
    world.tell(`a worker starts as pid ${this.pid}`);
    world.clock.in(world.settings.startTakes / 2, () => {
      this.#isUp = true;
      if (!this.#isWaiting) this.#begin();
    });
  }

  get socket(): string {
    return `${this.startedAt}-${this.pid}.sock`;
  }

  get isGone(): boolean {
    return this.endedAt <= this.#world.clock.now;
  }

  /** The answer or the last report of its witness. */
  witness(isSilent: boolean): Witness {
    const { socket: worker, pid } = this;
    if (this.isGone) return { worker, kind: 'gone', report: this.#lastReport };
    if (isSilent)
      return { worker, kind: 'silent', why: 'its witness did not answer within 2 s', isBusy: true };
    const report = this.history.report(pid, {
      isReady: this.isReady,
      siblings: this.#siblings(),
      outputs: this.output === undefined ? [] : [this.output.sight],
      files: this.tail?.seen() ?? [],
      unfound: this.#unfound(),
    });
    return { worker, kind: 'alive', report };
  }

  get isReady(): boolean {
    return this.tail !== undefined;
  }

  #unfound(): Report['unfound'] {
    if (!this.history.isReading) return [];
    const files = [...this.#world.logs.byPath].filter(
      ([path, file]) => isFollowed(path) && sizeOf(file) > 0 && !this.history.hasBegun(file),
    );
    return files.map(([path, file]) => factsOf(path, file, this.#world.clock.now));
  }

  /** Files that look like the rotated form of one that matches its paths, and that it has not read. */
  #siblings(): Report['siblings'] {
    const { now, wall } = this.#world.clock;
    return [...this.#world.logs.byPath]
      .filter(([path, file]) => isRotated(path) && sizeOf(file) > 0 && !this.history.hasBegun(file))
      .map(([path, file]) => ({
        // Renamed, not copied.
        ...factsOf(path, file, file.writtenAt - (wall - now)),
        plain: undefined,
        cuts: [],
      }));
  }

  takeOver(): void {
    this.#isWaiting = false;
    if (this.#isUp) this.#begin();
  }

  flush(): void {
    if (!this.#isUp) this.#under.dieEarly();
    else this.output?.enqueue();
  }

  shutDown(done: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock } = this.#world;
    clock.in(ENGINE_TICK, () => {
      if (this.isGone) return;
      const wait = this.tail?.shutDown() ?? 0;
      clock.in(wait, () => {
        const end = () => {
          if (this.isGone) return;
          const held = this.output === undefined ? [] : [this.output.sight];
          const seen = { siblings: this.#siblings(), unfound: this.#unfound() };
          this.die();
          this.#lastReport = this.history.lastReport(this.pid, seen, held);
          done();
        };
        if (this.output === undefined) end();
        else this.output.shutDown(end);
      });
    });
  }

  die(): void {
    this.#isOver = true;
    this.endedAt = this.#world.clock.now;
    this.tail?.die();
    this.output?.die();
  }

  #begin(): void {
    if (this.#isOver) return;
    this.history.isReading = true;
    const output = new OutputBuffer(this.#world, this.history);
    this.output = output;
    this.tail = new Tail(this.#world, this.history, (ids) => output.take(ids));
    this.followsSince = this.#world.clock.now;
    this.#world.tell('the worker follows its files');
  }
}

function isRotated(path: string): boolean {
  return path.endsWith('.1') && isFollowed(path.slice(0, -2));
}
