import type { DrainRequest } from '../../src/core/progress/drain-request.ts';
import type { ProcessRow } from '../../src/core/progress/fluentd-reading.ts';
import type { Millis } from '../../src/core/text/units.ts';
import { row } from '../support/builders.ts';
import type { Disk } from './chunk-files.ts';
import { Clock } from './clock.ts';
import { Fluentd } from './fluentd.ts';
import { Lines } from './lines.ts';
import { isFollowed, LINE_BYTES, type LogFile, LogFiles } from './log-files.ts';
import type { Deed, DestinationState, Harm, Plan, Settings } from './plan.ts';
import { PosFile } from './pos-file.ts';
import { Random } from './random.ts';
import type { Worker } from './worker.ts';

const MAIN = row({ pid: 50, argv: ['/usr/bin/job'] });

/** Everything but posidle: main, Fluentd, its destination, the kernel and the kubelet. */
export class World {
  readonly clock = new Clock();
  readonly lines = new Lines(this.clock);
  readonly logs = new LogFiles(this.clock, this.lines);
  readonly posFile = new PosFile(this.clock);
  readonly disk: Disk = { staged: undefined, queue: [], backups: [] };
  readonly destination: { is: DestinationState } = { is: 'up' };
  readonly settings: Settings;
  readonly random: Random;
  readonly requests: DrainRequest[] = [];
  readonly timeline: string[] = [];
  /** The names of the faults that happened. */
  readonly faults = new Set<string>();
  fluentd: Fluentd | undefined;
  isWoken = false;
  /** posidle gets no CPU until then. */
  stalledUntil: Millis = 0;
  stalledFor: Millis = 0;
  /** No witness answers until then. */
  silentUntil: Millis = 0;
  /** When posidle last began to look. */
  lookedAt: Millis = -1;
  /** Every worker that was ever started. */
  readonly workers: Worker[] = [];
  readonly #past: Fluentd[] = [];
  readonly #strangers: ProcessRow[] = [];
  #main: ProcessRow | undefined = MAIN;
  #lastPid = 100;
  readonly #isTold: boolean;

  constructor({ seed, settings, deeds }: Plan, isTold: boolean) {
    this.settings = settings;
    this.random = new Random(seed + 1);
    this.#isTold = isTold;
    this.logs.onChange = (path) => this.fluentd?.worker?.tail?.notice(path);
    for (const deed of deeds) this.clock.at(deed.at, () => this.#happen(deed));
  }

  tell(what: string): void {
    if (this.#isTold) this.timeline.push(`${(this.clock.now / 1_000).toFixed(3).padStart(8)} s  ${what}`);
  }

  newPid(): number {
    this.#lastPid += 1;
    return this.#lastPid;
  }

  get processes(): readonly ProcessRow[] {
    const { fluentds } = this;
    if (this.settings.reusesPids) this.#reusePids(fluentds);
    const rows = fluentds.flatMap(({ rows }) => rows);
    return [...(this.#main === undefined ? [] : [this.#main]), ...rows, ...this.#strangers];
  }

  get mainRuns(): boolean {
    return this.#main !== undefined;
  }

  /** Every Fluentd that was ever started. */
  get fluentds(): readonly Fluentd[] {
    const now = [this.fluentd, this.fluentd?.successor].filter((fluentd) => fluentd !== undefined);
    return [...this.#past, ...now];
  }

  handedOver(): void {
    if (this.fluentd === undefined) return;
    this.tell('another supervisor takes over');
    this.#past.push(this.fluentd);
    this.fluentd = this.fluentd.successor;
  }

  request(by: DrainRequest['by']): void {
    this.tell(`posidle gets ${by}`);
    this.requests.push({ by, at: this.clock.now });
    this.isWoken = true;
  }

  /** All is delivered, up to the last newline of each file, and no line is left unfinished. */
  get isDone(): boolean {
    return (
      this.lines.areDelivered && [...this.logs.byPath.values()].every(({ unfinished }) => unfinished === 0)
    );
  }

  /** The workers with a witness in them. */
  get witnessed(): readonly Worker[] {
    return this.settings.hasWitness ? this.workers : [];
  }

  #reusePids(fluentds: readonly Fluentd[]): void {
    for (const { pid, isUp, startedAt } of fluentds) {
      if (isUp || this.#strangers.some((stranger) => stranger.pid === pid)) continue;
      const startTime = `${startedAt} again`;
      this.#strangers.push(row({ pid, startTime, argv: ['sleep', '1'] }));
    }
  }

  #happen(deed: Deed): void {
    if (this.#isTold) this.tell(describe(deed));
    const { fluentd, logs } = this;
    switch (deed.do) {
      case 'write':
        this.#write(deed.file, deed.lines);
        break;
      case 'begin-line':
        logs.begin(deed.file);
        break;
      case 'truncate':
      case 'remove':
      case 'remove-rotated':
      case 'rotate':
        this.#meddle(deed.do, deed.file);
        break;
      case 'destination':
        this.destination.is = deed.is;
        if (deed.is !== 'up') this.faults.add(`destination ${deed.is}`);
        break;
      case 'fluentd-starts':
        if (fluentd !== undefined) this.#past.push(fluentd);
        if (fluentd?.isAlive === true) {
          this.faults.add('fluentd-dies');
          fluentd.die('replaced');
        }
        this.fluentd = new Fluentd(this);
        break;
      case 'compaction':
        if (fluentd?.worker?.tail !== undefined) this.posFile.compact(() => true);
        break;
      case 'clock-jumps':
        this.clock.jumped += deed.by;
        break;
      case 'stall':
        this.stalledUntil = this.clock.now + deed.takes;
        this.stalledFor += deed.takes;
        break;
      case 'silence':
        this.faults.add(deed.do);
        this.silentUntil = this.clock.now + deed.takes;
        break;
      case 'trigger':
        if (deed.by === 'main ends') this.#main = undefined;
        else this.request(deed.by);
        break;
      default:
        this.faults.add(deed.do);
        this.#hurt(deed.do);
    }
  }

  /** A program that has a renamed file open goes on writing to it. Where no worker follows it, no look shows that. */
  #write(path: string, lines: number): void {
    const { logs } = this;
    const file = logs.byPath.get(path);
    if (!isFollowed(path) && file === undefined) return;
    const isOpen = this.#watching.some(({ history }) => file !== undefined && history.hasBegun(file));
    if (file !== undefined && !isFollowed(path) && !isOpen) file.isUnseen = true;
    logs.append(path, lines);
  }

  /** The workers that follow files. */
  get #watching(): readonly Worker[] {
    return this.workers.filter(({ isGone, isReady }) => !isGone && isReady);
  }

  #hurt(how: Harm): void {
    const { fluentd } = this;
    if (fluentd === undefined || !fluentd.isAlive) return;
    if (how === 'fluentd-restarts') {
      fluentd.signal('SIGUSR2');
      return;
    }
    // The one that was to replace it would wait for its word for ever.
    if (how === 'supervisor-dies' && fluentd.successor !== undefined) return;
    if (how === 'fluentd-dies') fluentd.die('killed');
    else if (how === 'worker-dies') fluentd.signalWorker('SIGKILL');
    else if (how === 'supervisor-dies') fluentd.killSupervisor();
    else fluentd.signal('SIGTERM');
  }

  #meddle(how: 'truncate' | 'remove' | 'remove-rotated' | 'rotate', path: string): void {
    const { logs } = this;
    const target = how === 'remove-rotated' ? `${path}.1` : path;
    const file = logs.byPath.get(target);
    if (file === undefined) return;
    this.faults.add(how);
    if (isFollowed(target)) this.#leaves(target, file, how === 'truncate');
    this.#forget(how === 'rotate' ? logs.byPath.get(`${path}.1`) : how === 'truncate' ? undefined : file);
    if (how === 'rotate') logs.rename(path, `${path}.1`);
    else if (how === 'truncate') logs.truncate(target);
    else logs.remove(target);
  }

  /** A file that left its path while no worker ran, and is gone now: no witness has seen it. */
  #forget(file: LogFile | undefined): void {
    const isKnown = file !== undefined && this.workers.some(({ history }) => history.hasBegun(file));
    if (file?.hasLeftUnseen && !isKnown && this.settings.hasWitness) this.lines.areUnseen(file.lines);
  }

  /** A witness misses nothing, however short it was there. */
  #leaves(path: string, file: LogFile, isCut: boolean): void {
    for (const { history } of this.#watching) history.leaves(path, file);
    if (this.#watching.length > 0) return;
    // A witness takes no notice of what the looks from outside have listed.
    const known = this.settings.hasWitness && isCut ? 0 : Math.ceil(file.listed / LINE_BYTES);
    this.lines.areUnseen(file.lines.slice(known));
    file.hasLeftUnseen = true;
    if (isCut) file.cut = [...file.cut, ...file.lines];
    else file.isUnseen = file.listed === 0;
  }
}

function describe({ at: _, do: what, ...how }: Deed): string {
  return ['deed:', what, ...Object.values(how)].join(' ');
}
