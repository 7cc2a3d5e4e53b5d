import type { ProcessRow } from '../../src/core/fluentd/processes.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Disk } from './chunk-files.ts';
import { OutputBuffer, type OutputWorld } from './output-buffer.ts';
import { Tail, type TailWorld } from './tail.ts';

/** Before this a signal ends the supervisor; a SIGUSR1 passed on before the second ends the worker (measured). */
const DEAF_SUPERVISOR: Millis = 350;
/** The engine looks at its stop flag this often (engine.rb:50). */
const ENGINE_TICK: Millis = 300;

/** From fork to exec: until then a worker has its supervisor's command line. */
const FORK_TAKES: Millis = 30;

export interface FluentdWorld extends TailWorld, OutputWorld {
  readonly disk: Disk;
  newPid(): number;
  tell(what: string): void;
}

/** A supervisor and its worker (supervisor.rb). */
export class Fluentd {
  readonly pid: number;
  readonly startedAt: Millis;
  worker: Worker | undefined;
  /** The supervisor runs. */
  isUp = true;
  #isStopping = false;
  readonly #world: FluentdWorld;

  constructor(world: FluentdWorld) {
    this.#world = world;
    this.pid = world.newPid();
    this.startedAt = world.clock.now;
    world.tell(`Fluentd starts as pid ${this.pid}`);
    world.clock.in(world.settings.startTakes / 2, () => this.#startWorker());
  }

  get isAlive(): boolean {
    return this.isUp || this.worker !== undefined;
  }

  get rows(): readonly ProcessRow[] {
    const rows: ProcessRow[] = [];
    const session = this.pid;
    if (this.isUp) rows.push(rowOf(this.pid, 1, session, this.startedAt, SUPERVISOR));
    if (this.worker !== undefined) {
      const { pid, startedAt } = this.worker;
      const argv = this.#world.clock.now - startedAt < FORK_TAKES ? SUPERVISOR : WORKER;
      rows.push(rowOf(pid, this.isUp ? this.pid : 1, session, startedAt, argv));
    }
    return rows;
  }

  /** What a signal to the supervisor does. */
  signal(signal: string): void {
    const isEarly = this.#world.clock.now - this.startedAt < DEAF_SUPERVISOR;
    if (signal === 'SIGKILL') this.killSupervisor();
    else if (isEarly) this.die(`${signal} in its first moments`);
    else if (signal === 'SIGUSR1') this.worker?.flush();
    else if (!this.#world.settings.isDeaf) this.#stop();
  }

  signalWorker(signal: string): void {
    if (this.worker === undefined) return;
    if (signal === 'SIGKILL') this.killWorker();
    else if (signal === 'SIGUSR1') this.worker.flush();
    else if (signal === 'SIGTERM') this.worker.shutDown(() => this.#workerEnded());
  }

  /** In another container the supervisor is what the container runs: with it all of it ends. */
  killSupervisor(): void {
    this.isUp = false;
    this.#world.tell('the supervisor is gone');
    if (this.#world.settings.placement === 'rpc') this.die('its container ends');
  }

  killWorker(): void {
    this.worker?.die();
    this.worker = undefined;
    this.#world.tell('the worker is gone');
    this.#workerEnded();
  }

  die(why: string): void {
    this.#world.tell(`Fluentd ends: ${why}`);
    this.isUp = false;
    this.worker?.die();
    this.worker = undefined;
  }

  #stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (this.worker === undefined) this.#world.clock.in(ENGINE_TICK, () => this.#end());
    else this.worker.shutDown(() => this.#workerEnded());
  }

  #workerEnded(): void {
    this.worker = undefined;
    if (this.#isStopping) this.#world.clock.in(100, () => this.#end());
    else this.#world.clock.in(20, () => this.#startWorker());
  }

  #end(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#world.tell('Fluentd has ended');
  }

  #startWorker(): void {
    if (!this.isUp || this.#isStopping || this.worker !== undefined) return;
    const worker = new Worker(this.#world, () => {
      if (this.worker === worker) this.killWorker();
    });
    this.worker = worker;
  }
}

/** Reads and sends. */
export class Worker {
  readonly pid: number;
  readonly startedAt: Millis;
  /** It follows its files; before, it dies of SIGUSR1. */
  tail: Tail | undefined;
  output: OutputBuffer | undefined;
  readonly #world: FluentdWorld;
  readonly #dieEarly: () => void;
  #isOver = false;

  constructor(world: FluentdWorld, dieEarly: () => void) {
    this.#world = world;
    this.#dieEarly = dieEarly;
    this.pid = world.newPid();
    this.startedAt = world.clock.now;
    world.tell(`a worker starts as pid ${this.pid}`);
    world.clock.in(world.settings.startTakes / 2, () => this.#begin());
  }

  flush(): void {
    if (this.tail === undefined) this.#dieEarly();
    else this.output?.enqueue();
  }

  shutDown(done: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock } = this.#world;
    clock.in(ENGINE_TICK, () => {
      const wait = this.tail?.shutDown() ?? 0;
      clock.in(wait, () => {
        const end = () => {
          this.output?.die();
          done();
        };
        if (this.output === undefined) end();
        else this.output.shutDown(end);
      });
    });
  }

  die(): void {
    this.#isOver = true;
    this.tail?.die();
    this.output?.die();
  }

  #begin(): void {
    if (this.#isOver) return;
    const output = new OutputBuffer(this.#world, this.#world.disk);
    this.output = output;
    this.tail = new Tail(this.#world, (ids) => output.take(ids));
    this.#world.tell('the worker follows its files');
  }
}

const SUPERVISOR = ['/usr/bin/ruby', '/usr/bin/fluentd', '-c', '/etc/fluent.conf'];
const WORKER = ['/usr/bin/ruby', '-Eascii-8bit:ascii-8bit', '/usr/bin/fluentd', '--under-supervisor'];

function rowOf(
  pid: number,
  ppid: number,
  session: number,
  startedAt: Millis,
  argv: readonly string[],
): ProcessRow {
  return { pid, ppid, session, startTime: String(startedAt), zombie: false, argv };
}
