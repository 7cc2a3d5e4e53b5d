import type { ChunkListing } from '../../src/core/fluentd/buffers.ts';
import type { PathRules } from '../../src/core/in-tail/path-pattern.ts';
import type { FileLook, FileStat } from '../../src/core/look/snapshot.ts';
import { encodePath } from '../../src/core/pos-file/path-bytes.ts';
import { type KeyedEntry, NEWLINE } from '../../src/core/pos-file/pos-file.ts';
import type { Millis } from '../../src/core/text/units.ts';
import type { FileContent, Followed, ReadOptions } from '../../src/host.ts';
import { lookOf } from './builders.ts';

export interface FakeFile {
  readonly bytes: Uint8Array;
  readonly inode: string;
  readonly writtenAt: Millis;
}

/** The files of the fake world, and the looks at them. */
export abstract class FakeFiles {
  readonly files = new Map<string, FakeFile>();
  #lastInode = 100;

  abstract now(): Millis;

  writeFile(path: string, content: string | Uint8Array, inode = this.files.get(path)?.inode): void {
    const bytes = typeof content === 'string' ? encodePath(content) : content;
    if (inode === undefined) this.#lastInode += 1;
    this.files.set(path, { bytes, inode: inode ?? String(this.#lastInode), writtenAt: this.now() });
  }

  rename(from: string, to: string): void {
    const file = this.files.get(from);
    if (file === undefined) throw new Error(`no ${from} to rename`);
    this.files.delete(from);
    this.files.set(to, file);
  }

  async readFile(path: string, { known }: ReadOptions = {}): Promise<FileContent | undefined> {
    const file = this.files.get(path);
    if (file === undefined) return undefined;
    const stamp = `${file.inode} ${file.bytes.length} ${file.writtenAt}`;
    const bytes = stamp === known ? undefined : file.bytes;
    return { stamp, file: file.inode, bytes, writtenAgo: this.now() - file.writtenAt };
  }

  async lookAt(
    entries: Iterable<KeyedEntry>,
    found: (entry: KeyedEntry, look: FileLook) => void,
  ): Promise<void> {
    for (const entry of entries)
      found(
        entry,
        lookOf(entry, this.#statOf(entry.path), (position) => this.#newlineIn(entry.path, position)),
      );
  }

  #statOf(path: string): FileStat | undefined {
    const file = this.files.get(path);
    if (file === undefined) return undefined;
    return { inode: file.inode, size: file.bytes.length, writtenAgo: this.now() - file.writtenAt };
  }

  #newlineIn(path: string, position: number): Pick<FileLook, 'newlineLeft'> {
    const rest = this.files.get(path)?.bytes.subarray(position) ?? new Uint8Array();
    return rest.length === 0 ? {} : { newlineLeft: rest.includes(NEWLINE) };
  }

  async listFollowed({ paths }: Pick<PathRules, 'paths'>): Promise<Followed> {
    const files = this.#matching(paths).flatMap((path) => {
      const file = this.files.get(path);
      return file === undefined ? [] : [{ path, inode: file.inode, size: file.bytes.length }];
    });
    return { files };
  }

  async listChunks(globs: readonly string[]): Promise<ChunkListing> {
    const chunks = this.#matching(globs).map((path) => {
      return { path, size: this.files.get(path)?.bytes.length ?? 0 };
    });
    return { chunks, isThere: true };
  }

  #matching(globs: readonly string[]): readonly string[] {
    const matchers = globs.map(matcherOf);
    return [...this.files.keys()].filter((path) => matchers.some((matcher) => matcher.test(path))).toSorted();
  }
}

/** `*` and `?` only. */
function matcherOf(glob: string): RegExp {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${source}$`);
}
