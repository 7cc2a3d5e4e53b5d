import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

const LINE_BYTES = 100;
const MARK = Buffer.from('id=');
const DIGITS = 10;
const ID_BYTES = MARK.length + DIGITS;
const BLOCK_LINES = 10_000;
const READ_BYTES = 4 << 20;

/** Appends lines of 100 bytes, each with an id of its own, to any number of files. */
export class NumberedLines {
  written = 0;

  async append(path: string, count: number): Promise<void> {
    const file = await open(path, 'a');
    try {
      for (let left = count; left > 0; left -= BLOCK_LINES) {
        const lines = Math.min(left, BLOCK_LINES);
        await file.writeFile(block(this.written, lines));
        this.written += lines;
      }
    } finally {
      await file.close();
    }
  }

  /** One more line, without the newline that would end it. */
  async appendUnended(path: string): Promise<void> {
    const file = await open(path, 'a');
    await file.writeFile(block(this.written, 1).subarray(0, LINE_BYTES - 1));
    this.written += 1;
    await file.close();
  }
}

function block(first: number, lines: number): Buffer {
  const buffer = Buffer.alloc(lines * LINE_BYTES, 'x');
  for (let line = 0; line < lines; line++) {
    const start = line * LINE_BYTES;
    buffer.set(MARK, start);
    let rest = first + line;
    for (let digit = start + ID_BYTES - 1; digit >= start + MARK.length; digit--) {
      buffer[digit] = 0x30 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    buffer[start + ID_BYTES] = 0x20;
    buffer[start + LINE_BYTES - 1] = 0x0a;
  }
  return buffer;
}

/** Counts ids in whatever they are wrapped in: plain lines, JSON, MessagePack. */
export class IdTally {
  #times = new Uint8Array(1 << 16);
  unique = 0;
  duplicates = 0;

  add(bytes: Buffer): void {
    for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1)) {
      const id = idAt(bytes, at + MARK.length);
      if (id !== undefined) this.#count(id);
    }
  }

  addFile(path: string): void {
    const fd = openSync(path, 'r');
    try {
      const buffer = Buffer.allocUnsafe(READ_BYTES);
      let kept = 0;
      for (;;) {
        const read = readSync(fd, buffer, kept, READ_BYTES - kept, null);
        if (read === 0) break;
        const end = kept + read;
        this.add(buffer.subarray(0, end));
        // An id that straddles two reads is seen whole once: ID_BYTES - 1 bytes never hold a whole one.
        kept = Math.min(end, ID_BYTES - 1);
        buffer.copy(buffer, 0, end - kept, end);
      }
    } finally {
      closeSync(fd);
    }
  }

  addDirectory(dir: string): void {
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) this.addFile(join(entry.parentPath, entry.name));
    }
  }

  has(id: number): boolean {
    return (this.#times[id] ?? 0) > 0;
  }

  #count(id: number): void {
    while (id >= this.#times.length) this.#grow();
    const times = this.#times[id] ?? 0;
    if (times === 0) this.unique++;
    else this.duplicates++;
    this.#times[id] = 1;
  }

  #grow(): void {
    const larger = new Uint8Array(this.#times.length * 2);
    larger.set(this.#times);
    this.#times = larger;
  }
}

function idAt(bytes: Buffer, start: number): number | undefined {
  if (start + DIGITS > bytes.length) return undefined;
  let id = 0;
  for (let at = start; at < start + DIGITS; at++) {
    const digit = (bytes[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    id = id * 10 + digit;
  }
  return id;
}
