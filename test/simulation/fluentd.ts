import type { ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { row, SUPERVISOR, WORKER } from '../support/builders.ts';
import { Worker } from './worker.ts';
import type { World } from './world.ts';

/** Before this a signal ends the supervisor; a SIGUSR1 passed on before the second ends the worker (measured). */
const DEAF_SUPERVISOR: Millis = 350;
/** The engine looks at its stop flag this often (engine.rb:50). */
export const ENGINE_TICK: Millis = 300;
/** After SIGUSR2 the new supervisor tells the old one to stop so long after its own start (supervisor.rb, since 1.18). */
const TAKES_OVER_AFTER: Millis = 10_000;
/** From fork to exec: until then a worker has its supervisor's command line. */
const FORK_TAKES: Millis = 30;

/** A supervisor and its worker (supervisor.rb). */
export class Fluentd {
  readonly pid: number;
  readonly startedAt: Millis;
  worker: Worker | undefined;
  /** The supervisor runs. */
  isUp = true;
  /** The one that SIGUSR2 has brought. */
  successor: Fluentd | undefined;
  /** It was told to, so no other worker comes. */
  isStopping = false;
  readonly #world: World;
  readonly #session: number;
  /** The one that it replaces: until that has ended, its worker reads nothing. */
  #old: Fluentd | undefined;

  constructor(world: World, old?: Fluentd) {
    this.#world = world;
    this.pid = world.newPid();
    this.#session = old === undefined ? this.pid : old.#session;
    this.startedAt = world.clock.now;
    this.#old = old;
    world.tell(`Fluentd starts as pid ${this.pid}`);
    const { startTakes } = world.settings;
    world.clock.in(startTakes / 2, () => this.#startWorker());
    if (old !== undefined) world.clock.in(startTakes / 2 + TAKES_OVER_AFTER, () => this.#stopOld());
  }

  get isAlive(): boolean {
    return this.isUp || this.worker !== undefined;
  }

  get rows(): readonly ProcessRow[] {
    const rows: ProcessRow[] = [];
    const session = this.#session;
    const startTime = String(this.startedAt);
    const parent = this.#old?.isUp ? this.#old.pid : 1;
    if (this.isUp) rows.push(row({ pid: this.pid, ppid: parent, session, startTime, argv: SUPERVISOR }));
    if (this.worker !== undefined) {
      const { pid, startedAt } = this.worker;
      const argv = this.#world.clock.now - startedAt < FORK_TAKES ? SUPERVISOR : WORKER;
      const ppid = this.isUp ? this.pid : 1;
      rows.push(row({ pid, ppid, session, startTime: String(startedAt), argv }));
    }
    return rows;
  }

  /** The effect of a signal to the supervisor. */
  signal(signal: string): void {
    const isEarly = this.#world.clock.now - this.startedAt < DEAF_SUPERVISOR;
    if (signal === 'SIGKILL') this.killSupervisor();
    else if (isEarly) this.die(`${signal} in its first moments`);
    else if (signal === 'SIGUSR1') this.worker?.flush();
    else if (signal === 'SIGUSR2') this.#restart();
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
    if (this.#world.settings.placement === 'remote') this.die('its container ends');
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
    this.successor?.die(why);
  }

  /** Without a pause: another supervisor starts beside this one, and takes over. */
  #restart(): void {
    if (this.isStopping || this.successor?.isUp || this.#old !== undefined) return;
    this.successor = new Fluentd(this.#world, this);
  }

  #stopOld(): void {
    if (this.isUp) this.#old?.signal('SIGTERM');
  }

  /** The old one has ended: all of it starts to work. */
  takeOver(): void {
    this.#old = undefined;
    this.worker?.takeOver();
  }

  #stop(): void {
    if (this.isStopping) return;
    this.isStopping = true;
    if (this.worker === undefined) this.#world.clock.in(ENGINE_TICK, () => this.#end());
    else this.worker.shutDown(() => this.#workerEnded());
  }

  #workerEnded(): void {
    this.worker = undefined;
    if (this.isStopping) this.#world.clock.in(100, () => this.#end());
    else this.#world.clock.in(20, () => this.#startWorker());
  }

  #end(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#world.tell('Fluentd has ended');
    if (this.successor?.isUp) {
      this.#world.handedOver();
      this.successor.takeOver();
    }
  }

  #startWorker(): void {
    if (!this.isUp || this.isStopping || this.worker !== undefined) return;
    const dieEarly = () => {
      if (this.worker === worker) this.killWorker();
    };
    const worker = new Worker(this.#world, {
      dieEarly,
      isWaiting: this.#old !== undefined,
    });
    this.worker = worker;
    this.#world.workers.push(worker);
  }
}
