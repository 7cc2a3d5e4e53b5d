import { closeSync, openSync, readSync } from 'node:fs';

const CHUNK = 1 << 20;

/** Tells whether `text` has come up in a growing file from `start` on; reads only what is new since the last call. */
export function searcher(path: string, text: string, start = 0): () => boolean {
  let position = start;
  let carry = '';
  let found = false;
  return () => {
    while (!found) {
      const part = readAt(path, position);
      if (part.length === 0) break;
      position += part.length;
      const seen = carry + part.toString('latin1');
      found = seen.includes(text);
      carry = seen.slice(-text.length);
    }
    return found;
  };
}

function readAt(path: string, position: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    return buffer.subarray(0, readSync(fd, buffer, 0, CHUNK, position));
  } finally {
    closeSync(fd);
  }
}
