import { constants } from 'node:fs';
import { openUnlinked } from './no-link.ts';

/** Ends the last line of a text file, unless somebody has written to it since. */
export async function appendNewline(path: string, size: number): Promise<void> {
  const file = await openUnlinked(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const head = Buffer.alloc(HEAD);
    const { bytesRead } = await file.read(head, 0, HEAD, 0);
    if (!isText(head.subarray(0, bytesRead))) throw new Error('it is compressed or binary, and no text');
    if ((await file.stat()).size === size) await file.write('\n');
  } finally {
    await file.close();
  }
}

/** How gzip, zstd, xz and bzip2 begin: a glob may take rotated files too. */
const COMPRESSED = ['1f8b', '28b52ffd', 'fd377a585a', '425a68'].map((hex) => Buffer.from(hex, 'hex'));
const HEAD = 4_096;

function isText(head: Buffer): boolean {
  const isCompressed = COMPRESSED.some((magic) => head.subarray(0, magic.length).equals(magic));
  return !isCompressed && !head.includes(0);
}
