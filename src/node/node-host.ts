import { setTimeout as pause } from 'node:timers/promises';
import type { PathRules } from '../core/in-tail/path-pattern.ts';
import type { DrainRequest } from '../core/progress/drain-request.ts';
import { andMore, type Millis } from '../core/text/units.ts';
import type { Followed, Host } from '../host.ts';
import { leadsAway, placesBelow } from './files/below-root.ts';
import { listChunks } from './files/chunks.ts';
import { readFile } from './files/files.ts';
import { LED_AWAY, lookAt } from './files/log-files.ts';
import type { TriggerFile } from './files/trigger-files.ts';
import { listFollowed } from './files/walk.ts';
import { Watcher } from './files/watcher.ts';
import { holdsOpen } from './processes/open-files.ts';
import { listProcesses, signalProcess } from './processes/processes.ts';
import { askWitnesses, lookForFluentd, tellWitness } from './witness/ask-witnesses.ts';

/** A request waits this long for the current look, because nearly every look ends in time. */
const LOOK_HEAD_START: Millis = 500;

export class NodeHost implements Host {
  readonly listProcesses = listProcesses;
  readonly signal = signalProcess;
  readonly holdsOpen = holdsOpen;
  readonly lookForFluentd = lookForFluentd;
  readonly askWitnesses = askWitnesses;
  readonly tellWitness = tellWitness;
  #requests: DrainRequest[] = [];
  #triggers: readonly TriggerFile[] = [];
  readonly #root: string | undefined;
  #watcher: Watcher | undefined;
  #resolveSleep: () => void = () => {};
  /** Something may have changed since the last sleep. */
  #isWoken = false;

  /** `root`: the root directory of another file system, whose files posidle inspects. */
  constructor(root?: string) {
    this.#root = root;
  }

  /** Changes of these paths wake the loop. `refused` gets the reason if the system cannot watch. */
  watchFiles(paths: readonly string[], refused: (why: string) => void): void {
    this.#watcher = new Watcher(paths, refused);
  }

  now(): Millis {
    return performance.now();
  }

  async sleep(until: Millis, wakeOnChange: boolean): Promise<void> {
    if (!this.#isWoken) {
      const woken = this.#wokenBefore(until);
      if (wakeOnChange) this.#watcher?.arm(() => this.wake());
      await woken;
    }
    this.#isWoken = false;
  }

  async within<T extends object>(work: Promise<T>, until: Millis): Promise<T | undefined> {
    const first = await Promise.race([work, this.#wokenBefore(until)]);
    this.#resolveSleep();
    return first ?? (await Promise.race([work, pause(LOOK_HEAD_START, undefined)]));
  }

  #wokenBefore(until: Millis): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, until - this.now()));
      this.#resolveSleep = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  wake(): void {
    this.#isWoken = true;
    this.#resolveSleep();
  }

  readFile: Host['readFile'] = async (path, options) => readFile(placesBelow(this.#root)(path), options);

  lookAt: Host['lookAt'] = (entries, found) => lookAt(entries, found, this.#root);

  listChunks: Host['listChunks'] = (globs) => listChunks(globs, placesBelow(this.#root));

  async listFollowed(rules: PathRules, alreadyKept?: number): Promise<Followed> {
    const away = new Set<string>();
    const isAway = leadsAway(this.#root);
    const missed = (path: string) => void (isAway(path) && away.add(path));
    const placeOf = placesBelow(this.#root);
    const now = new Date();
    const clock = { instant: now.getTime(), minutesEast: -now.getTimezoneOffset() };
    const { files, unknown } = await listFollowed(rules, clock, { placeOf, missed, alreadyKept });
    const ledAway = away.size === 0 ? undefined : `${andMore([...away])} is ${LED_AWAY}`;
    return { files, unknown: unknown ?? ledAway };
  }

  /** Looks at these files, too, whenever the loop asks for requests. */
  watchTriggers(triggers: readonly TriggerFile[]): void {
    this.#triggers = triggers;
  }

  requests(): readonly DrainRequest[] {
    for (const trigger of this.#triggers) {
      const { by } = trigger;
      const others = this.#requests.filter((request) => request.by !== by);
      if (!trigger.look()) this.#requests = others;
      else if (others.length === this.#requests.length) this.#requests.push({ by, at: this.now() });
    }
    return [...this.#requests];
  }

  request(by: DrainRequest['by'], at = this.now()): void {
    this.#requests.push({ by, at });
    this.wake();
  }

  close(): void {
    this.#watcher?.close();
  }
}
