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
    const looks = new Map<string, FileLook>();
    let changed = 0;
    for (const reading of posFiles)
      if (reading.kind === 'read')
        await this.#host.lookAt(reading.entries, ({ key }, look) => {
          const known = before.get(key);
          const isSame = known !== undefined && isSameLook(known, look);
          looks.set(key, isSame ? known : look);
          if (!isSame) changed += 1;
        });
    if (changed > 0 || looks.size !== before.size) this.#looks = looks;
    return this.#looks;
  }
}

/** Ignores `writtenAgo`, which always changes. */
function isSameLook(before: FileLook, now: FileLook): boolean {
  return (
    isSameFile(before.atPath, now.atPath) &&
    before.renamed?.path === now.renamed?.path &&
    isSameFile(before.renamed?.stat, now.renamed?.stat) &&
    before.newlineLeft === now.newlineLeft &&
    before.error === now.error
  );
}

function isSameFile(before: FileStat | undefined, now: FileStat | undefined): boolean {
  return before?.inode === now?.inode && before?.size === now?.size;
}
