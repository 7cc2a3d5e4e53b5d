import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

/** Tokens of the parsed languages. The last ones break encodings. */
export const WORDS: readonly string[] = [
  ...'< > </ <source> </source> #{ } " \' \\ #{ENV["X"]} [ ] { } , : <<: |\n $type: * ? **/ {a,b} [!a-z] / ..'.split(
    ' ',
  ),
  ...'%Y 0 ffffffffffffffff 1e999 -1 --workers -c -i = ( ) "retry": null'.split(' '),
  ...['<match **>', '@include f\n', '@type tail\n', '- ', '  ', '&a ', '*a ', '<<: *a\n', '!include ', '|\n'],
  ...['!fluent/json ', ' ', '\t', '\n', '\r\n', '\0', '\xff', '\xc3', '\xed\xa0\x80', '\xef\xbb\xbf'],
];

/** What happens at one place: a piece goes or stays, and words come, with the piece or without it, at times very often. */
interface Change {
  readonly at: number;
  readonly length: number;
  readonly stays: boolean;
  readonly words: readonly string[];
  readonly again: boolean;
  readonly times: number;
}

/** One of the seeds after one to six changes. */
export function mutated(
  seeds: readonly string[],
  { words = WORDS, largest = 256 * 1024 }: { words?: readonly string[] | undefined; largest?: number } = {},
): fc.Arbitrary<Buffer> {
  const change = fc.record<Change>({
    at: fc.nat(),
    length: fc.nat(64),
    stays: fc.boolean(),
    words: fc.array(fc.constantFrom(...words), { maxLength: 20 }),
    again: fc.boolean(),
    times: fc.oneof({ weight: 50, arbitrary: fc.nat(2) }, fc.nat(largest)),
  });
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([seed, changes]) => changes.reduce(changed(largest), Buffer.from(seed, 'latin1')));
}

const changed =
  (largest: number) =>
  (bytes: Buffer, { at, length, stays, words, again, times }: Change): Buffer => {
    const from = at % (bytes.length + 1);
    const piece = bytes.subarray(from, from + length);
    const put = Buffer.concat([Buffer.from(words.join(''), 'latin1'), ...(again ? [piece] : [])]);
    const most = Math.min(times, Math.floor(largest / (2 * put.length || 1)));
    const rest = bytes.subarray(stays ? from : from + piece.length);
    return Buffer.concat([bytes.subarray(0, from), ...Array(most).fill(put), rest]).subarray(0, largest);
  };

export function textsIn(directory: string, which: RegExp): readonly string[] {
  const names = readdirSync(directory).filter((name) => which.test(name));
  return names.map((name) => readFileSync(join(directory, name), 'latin1'));
}
