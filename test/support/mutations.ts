import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Random = () => number;

/** Tokens of the parsed languages. The last ones break encodings. */
export const WORDS: readonly string[] = [
  ...'< > </ <source> </source> #{ } " \' \\ #{ENV["X"]} [ ] { } , : <<: |\n $type: * ? **/ {a,b} [!a-z] / ..'.split(
    ' ',
  ),
  ...'%Y 0 ffffffffffffffff 1e999 -1 --workers -c -i = ( ) "retry": null'.split(' '),
  ...['<match **>', '@include f\n', '@type tail\n', '- ', '  ', '&a ', '*a ', '<<: *a\n', '!include ', '|\n'],
  ...['!fluent/json ', ' ', '\t', '\n', '\r\n', '\0', '\xff', '\xc3', '\xed\xa0\x80', '\xef\xbb\xbf'],
];

interface Bounds {
  readonly largest: number;
  /** The inserted text. */
  readonly words?: readonly string[];
}

/** One to six changes. */
export function mutated(seed: Buffer, random: Random, bounds: Bounds): Buffer {
  let bytes = seed;
  for (let left = 1 + Math.floor(random() * 6); left > 0; left -= 1) bytes = changed(bytes, random, bounds);
  return bytes.subarray(0, bounds.largest);
}

/** Takes a piece away, doubles it, puts another one in, or says one thing very often. */
function changed(bytes: Buffer, random: Random, { largest, words = WORDS }: Bounds): Buffer {
  const at = Math.floor(random() * (bytes.length + 1));
  const end = Math.min(bytes.length, at + Math.floor(random() * 64));
  const word = Buffer.from(one(words, random), 'latin1');
  const piece = random() < 0.5 ? word : Buffer.concat([word, bytes.subarray(at, end)]);
  const often = Math.floor(largest / (2 * piece.length));
  const put = [
    () => Buffer.alloc(0),
    () => bytes.subarray(at, end),
    () => word,
    () =>
      Buffer.concat(
        Array.from({ length: Math.floor(random() * 20) }, () => Buffer.from(one(words, random), 'latin1')),
      ),
    () => Buffer.concat(Array.from({ length: Math.floor(random() ** 4 * often) }, () => piece)),
  ];
  return Buffer.concat([
    bytes.subarray(0, at),
    one(put, random)(),
    bytes.subarray(random() < 0.5 ? at : end),
  ]);
}

export function one<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random() * all.length)] as T;
}

/** mulberry32 */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function textsIn(directory: string, which: RegExp): readonly string[] {
  const names = readdirSync(directory).filter((name) => which.test(name));
  return names.map((name) => readFileSync(join(directory, name), 'latin1'));
}
