import type { FileLook, FileStat, PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import type { KeyedEntry } from '../core/pos-file/pos-file.ts';
import type { Host } from '../host.ts';

type Looks = Snapshot['looks'];

/** Looks at the log file of every entry that counts, by `entryKeyIn`. Where nothing has changed the answer is the very same object. */
export class LogFileLooks {
  readonly #host: Pick<Host, 'lookAt'>;
  #entries: readonly (readonly KeyedEntry[])[] = [];
  #list: readonly FileLook[] = [];
  #looks: Looks = new Map();

  constructor(host: Pick<Host, 'lookAt'>) {
    this.#host = host;
  }

  async look(posFiles: readonly PosFileReading[]): Promise<Looks> {
    const entries = posFiles.flatMap((reading) => (reading.kind === 'read' ? [reading.entries] : []));
    const hasOthers = !haveSameItems(entries, this.#entries);
    const before = hasOthers ? [] : this.#list;
    const list = await this.#lookAt(entries, before);
    if (!hasOthers && haveSameItems(list, before)) return this.#looks;
    this.#entries = entries;
    this.#list = list;
    this.#looks = new Map(entries.flat().map(({ key }, index) => [key, list[index] ?? {}]));
    return this.#looks;
  }

  async #lookAt(
    entries: readonly (readonly KeyedEntry[])[],
    before: readonly FileLook[],
  ): Promise<readonly FileLook[]> {
    const list: FileLook[] = [];
    for (const ofPosFile of entries)
      await this.#host.lookAt(ofPosFile, (_, look) => {
        const known = before[list.length];
        list.push(known !== undefined && isSameLook(known, look) ? known : look);
      });
    return list;
  }
}

function haveSameItems(list: readonly unknown[], other: readonly unknown[]): boolean {
  return list.length === other.length && list.every((item, index) => item === other[index]);
}

/** Apart from the time that has passed since the file was written. */
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
