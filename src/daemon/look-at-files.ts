import type { FileLook, FileStat, PosFileReading, Snapshot } from '../core/look/snapshot.ts';
import { entryKeyIn, latestEntries, type PositionEntry } from '../core/pos-file/pos-file.ts';
import type { Host, OpenFiles } from '../host.ts';
import { lookAtOpen } from './look-at-gone.ts';

type Looks = Snapshot['looks'];

/** Looks at the log file of every entry that counts, by `entryKeyIn`. Where nothing has changed the answer is the very same object. */
export class LogFileLooks {
  readonly #host: Host;
  #entries: readonly (readonly PositionEntry[])[] = [];
  #latest: readonly (readonly PositionEntry[])[] = [];
  #list: readonly FileLook[] = [];
  #looks: Looks = new Map();

  constructor(host: Host) {
    this.#host = host;
  }

  async look(posFiles: readonly PosFileReading[], open: OpenFiles): Promise<Looks> {
    const readings = posFiles.filter((reading) => reading.kind === 'read');
    const entries = readings.map((reading) => reading.entries);
    const hasOthers = !haveSameItems(entries, this.#entries);
    if (hasOthers) this.#latest = entries.map(latestEntries);
    const before = hasOthers ? [] : this.#list;
    const list = await this.#lookAt(before, open);
    if (!hasOthers && haveSameItems(list, before)) return this.#looks;
    const keys = readings.flatMap(({ path }, index) =>
      (this.#latest[index] ?? []).map((entry) => entryKeyIn(path, entry)),
    );
    this.#entries = entries;
    this.#list = list;
    this.#looks = new Map(keys.map((key, index) => [key, list[index] ?? {}]));
    return this.#looks;
  }

  async #lookAt(before: readonly FileLook[], open: OpenFiles): Promise<readonly FileLook[]> {
    const list: FileLook[] = [];
    for (const entries of this.#latest)
      await this.#host.lookAt(entries, (entry, look) => {
        const known = before[list.length];
        const found = lookAtOpen(open, look, entry);
        list.push(known !== undefined && isSameLook(known, found) ? known : found);
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
    before.isClosed === now.isClosed &&
    before.newlineLeft === now.newlineLeft &&
    before.error === now.error
  );
}

function isSameFile(before: FileStat | undefined, now: FileStat | undefined): boolean {
  return before?.inode === now?.inode && before?.size === now?.size && before?.born === now?.born;
}
