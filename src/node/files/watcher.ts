import { watch } from 'chokidar';

/** The least time between two starts of the watch: a busy file costs one event a second instead of one for each write. */
const REST = 1_000;

/** What inotify_init(2) and inotify_add_watch(2) mean. */
const INOTIFY: Readonly<Record<string, string>> = {
  EMFILE:
    'no inotify instance is left for its user, fs.inotify.max_user_instances, or too many files are open',
  ENOSPC: 'no inotify watch is left for its user, fs.inotify.max_user_watches',
};

/**
 * Reports possible changes of files. A report only shortens a sleep, so a lost one costs one poll interval. Each report stops the watch
 * until the next sleep.
 */
export class Watcher {
  readonly #paths: readonly string[];
  #watch: ReturnType<typeof watch> | undefined;
  #armedAt = Number.NEGATIVE_INFINITY;
  readonly #refused: (why: string) => void;
  #failed = false;

  /** Calls `refused` once, with the reason, if the system cannot watch (ENOSPC, EMFILE). */
  constructor(paths: readonly string[], refused: (why: string) => void) {
    this.#paths = paths;
    this.#refused = refused;
  }

  /** Calls `changed` at most once, at the next change. */
  arm(changed: () => void): void {
    if (this.#failed || this.#paths.length === 0) return;
    if (this.#watch !== undefined) this.#listen(this.#watch, changed);
    else if (performance.now() - this.#armedAt >= REST) this.#start(changed);
  }

  close(): void {
    const watching = this.#watch;
    this.#watch = undefined;
    watching?.close().catch(() => {});
  }

  #start(changed: () => void): void {
    this.#armedAt = performance.now();
    this.#watch = watch([...this.#paths], { ignoreInitial: true, depth: 0, ignorePermissionErrors: true });
    this.#listen(this.#watch, changed);
  }

  #listen(watching: ReturnType<typeof watch>, changed: () => void): void {
    watching.removeAllListeners();
    // In chokidar 5 `change` drops the last write of a burst; `raw` reports every write.
    for (const event of ['raw', 'all'] as const) watching.on(event, () => this.#hint(changed));
    watching.on('error', (error) => {
      this.#failed = true;
      const { code = '', message } = error as NodeJS.ErrnoException;
      this.#refused(INOTIFY[code] ?? message);
      this.#hint(changed);
    });
  }

  #hint(changed: () => void): void {
    this.close();
    changed();
  }
}
