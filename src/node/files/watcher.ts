import { watch } from 'chokidar';

/** Between two armings: a busy file costs one event a second, not one a write. */
const REST = 1_000;

/**
 * Hints that a file has changed. An event only cuts a sleep short; losing one, or all of them, costs a poll interval.
 * After each hint the watch is taken down until the next sleep.
 */
export class Watcher {
  readonly #paths: readonly string[];
  #watch: ReturnType<typeof watch> | undefined;
  #armedAt = Number.NEGATIVE_INFINITY;
  readonly #refused: (why: string) => void;
  #failed = false;

  /** `refused` is told, once, why the system will not watch (ENOSPC, EMFILE). */
  constructor(paths: readonly string[], refused: (why: string) => void) {
    this.#paths = paths;
    this.#refused = refused;
  }

  /** Calls back at most once, at the next change. */
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
    // `change` drops the last write of a burst in chokidar 5; `raw` tells of each.
    for (const event of ['raw', 'all'] as const) watching.on(event, () => this.#hint(changed));
    watching.on('error', (error) => {
      this.#failed = true;
      this.#refused(error instanceof Error ? error.message : String(error));
      this.#hint(changed);
    });
  }

  #hint(changed: () => void): void {
    this.close();
    changed();
  }
}
