import type { ProcessRow } from '../../src/core/fluentd/processes.ts';
import type { StopRequest } from '../../src/core/look/snapshot.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { Disk } from './chunk-files.ts';
import { Clock } from './clock.ts';
import { Excuses } from './excuses.ts';
import { Fluentd, type FluentdWorld } from './fluentd.ts';
import { Lines } from './lines.ts';
import { isFollowed, type LogFile, LogFiles } from './log-files.ts';
import type { Deed, DestinationState, Harm, Plan, Settings } from './plan.ts';
import { PosFile } from './pos-file.ts';
import { Random } from './random.ts';

const MAIN: ProcessRow = {
  pid: 50,
  ppid: 1,
  session: 50,
  startTime: '0',
  zombie: false,
  argv: ['/usr/bin/job'],
};

/** Everything but posidle: main, Fluentd, its destination, the kernel and the kubelet. */
export class World implements FluentdWorld {
  readonly clock = new Clock();
  readonly lines = new Lines(this.clock);
  readonly logs = new LogFiles(this.clock, this.lines);
  readonly posFile = new PosFile(this.clock);
  readonly disk: Disk = { staged: undefined, queue: [], backups: [] };
  readonly excuses = new Excuses(this);
  readonly destination: { is: DestinationState } = { is: 'up' };
  readonly settings: Settings;
  readonly random: Random;
  readonly requests: StopRequest[] = [];
  readonly timeline: string[] = [];
  /** What went wrong, by name. */
  readonly faults = new Set<string>();
  fluentd: Fluentd | undefined;
  isWoken = false;
  /** posidle gets no CPU until then. */
  stalledUntil: Millis = 0;
  stalledFor: Millis = 0;
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

  request(by: StopRequest['by']): void {
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

  /** A file that has no name, or none that in_tail follows, takes what is unread with it. */
  abandon(file: LogFile, read: number): void {
    const at = this.logs.findByInode(file.inode)?.[0];
    if (at !== undefined && isFollowed(at)) return;
    this.excuses.abandoned(file, read);
    if (read < file.lines.length) this.tell(`in_tail lets go of ${file.lines.length - read} unread lines`);
  }

  found(file: LogFile): void {
    this.excuses.found(file);
  }

  turned(path: string): void {
    this.excuses.turned(path);
  }

  #reusePids(fluentds: readonly Fluentd[]): void {
    for (const { pid, isUp, startedAt } of fluentds) {
      if (isUp || this.#strangers.some((stranger) => stranger.pid === pid)) continue;
      const startTime = `${startedAt} again`;
      this.#strangers.push({ pid, ppid: 1, session: pid, startTime, zombie: false, argv: ['sleep', '1'] });
    }
  }

  #happen(deed: Deed): void {
    if (this.#isTold) this.tell(describe(deed));
    const { fluentd, logs } = this;
    switch (deed.do) {
      case 'write':
        logs.append(deed.file, deed.lines);
        this.#filled(deed.file);
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
          this.excuses.workerDies();
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
      case 'trigger':
        if (deed.by === 'main ends') this.#main = undefined;
        else this.request(deed.by);
        break;
      default:
        this.faults.add(deed.do);
        this.#hurt(deed.do);
    }
  }

  #filled(path: string): void {
    const file = this.logs.byPath.get(path);
    if (file !== undefined) this.excuses.filled(path, file);
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
    this.excuses.workerDies();
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
    if (how === 'rotate') {
      const old = logs.byPath.get(`${path}.1`);
      if (old !== undefined) this.excuses.goes(old, `${path}.1`, true);
      this.excuses.goes(file, path, false);
      logs.rename(path, `${path}.1`);
      return;
    }
    this.excuses.goes(file, path, how !== 'truncate');
    if (how === 'truncate') {
      this.excuses.truncated(target, file);
      logs.truncate(target);
    } else logs.remove(target);
  }
}

function describe(deed: Deed): string {
  switch (deed.do) {
    case 'write':
      return `main writes ${deed.lines} lines to ${deed.file}`;
    case 'destination':
      return `the destination is ${deed.is}`;
    case 'clock-jumps':
      return `the wall clock jumps by ${deed.by} ms`;
    case 'stall':
      return `posidle gets no CPU for ${deed.takes} ms`;
    case 'trigger':
      return `trigger: ${deed.by}`;
    default:
      return 'file' in deed ? `main: ${deed.do} ${deed.file}` : deed.do;
  }
}
