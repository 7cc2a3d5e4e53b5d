import type { FileLook, FileStat, PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import type { Host } from '../host.ts';

/** Looks at the log file of each latest entry, by `entryKeyIn`. Gives the same object if nothing has changed. */
export class LogFileLooks {
  readonly #host: Pick<Host, 'lookAt'>;
  #looks: Snapshot['looks'] = new Map();

  constructor(host: Pick<Host, 'lookAt'>) {
    this.#host = host;
  }

  async look(posFiles: readonly PosFileReading[]): Promise<Snapshot['looks']> {
    const before = this.#looks;
    const entries = posFiles.flatMap((reading) => (reading.kind === 'read' ? reading.entries : []));
    // At rest nothing outlives the look of its file: otherwise V8 moves it into the old generation, which is costly to clear.
    const changed = new Map<string, FileLook>();
    await this.#host.lookAt(entries, ({ key }, look) => {
      const known = before.get(key);
      if (known === undefined || !isSameLook(known, look)) changed.set(key, look);
    });
    if (changed.size > 0 || entries.length !== before.size)
      this.#looks =
        changed.size === entries.length
          ? changed
          : new Map(entries.map(({ key }) => [key, changed.get(key) ?? before.get(key) ?? {}]));
    return this.#looks;
  }
}

/** Ignores `writtenAgo`, which always changes. */
function isSameLook(before: FileLook, now: FileLook): boolean {
  return (
    isSameFile(before.atPath, now.atPath) &&
    before.newlineLeft === now.newlineLeft &&
    before.error === now.error
  );
}

function isSameFile(before: FileStat | undefined, now: FileStat | undefined): boolean {
  return before?.inode === now?.inode && before?.size === now?.size;
}
