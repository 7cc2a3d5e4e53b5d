import { readdirSync, readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';

export const LINE_BYTES = 100;
const BLOCK_LINES = 10_000;

/** Appends lines of 100 bytes, each with an id of its own, to any number of files. */
export class NumberedLines {
  written = 0;

  async append(path: string, count: number): Promise<void> {
    // Also without a line there is a file then.
    for (let left = count; left >= 0; left -= BLOCK_LINES)
      await appendFile(path, this.next(Math.min(left, BLOCK_LINES)));
  }

  /** One more line, without the newline that would end it. */
  async appendUnended(path: string): Promise<void> {
    await appendFile(path, this.next(1).trimEnd());
  }

  /** So many lines more, to be written. */
  next(count: number): string {
    const from = this.written;
    this.written += count;
    return Array.from({ length: count }, (_, index) => lineOf(from + index)).join('');
  }
}

function lineOf(id: number): string {
  return `${`id=${String(id).padStart(10, '0')} `.padEnd(LINE_BYTES - 1, 'x')}\n`;
}

/** Counts ids in whatever they are wrapped in: plain lines, JSON, MessagePack. */
export class IdTally {
  readonly #ids = new Set<number>();

  get unique(): number {
    return this.#ids.size;
  }

  add(bytes: Buffer): void {
    for (const [, digits] of bytes.toString('latin1').matchAll(/id=(\d{10})/g)) this.#ids.add(Number(digits));
  }

  addDirectory(dir: string): void {
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) this.add(readFileSync(join(entry.parentPath, entry.name)));
  }
}
