import fc from 'fast-check';

/** One seed in CI, so that a red run can be run again; any seed elsewhere. */
export const RUNS = process.env.CI === undefined ? {} : { seed: 20_261_121 };

const TAB = 0x09;
const NEWLINE = 0x0a;
const UNWATCHED = 'f'.repeat(16);

/** Bytes of a path as it stands in a pos file: anything but tab and newline, also what is no UTF-8. */
export const pathBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.stringMatching(/^\/[a-z]{1,8}(\/[a-z. -]{1,12}){0,3}$/).map(bytesOf),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map(bytesOf).map(asPath),
  fc.uint8Array({ minLength: 1, maxLength: 40 }).map(asPath),
);

/** Hexadecimal digits in either case, leading zeros too. */
function hexDigits(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength, maxLength });
}

/** Ignored text after the inode. It cannot begin with a digit of the inode. */
const rest: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(new Uint8Array()) },
  fc.constantFrom('\r', ' ', '\t', '\tmore', 'g', '\0').map(bytesOf),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => bytesOf('\t', without(bytes, NEWLINE))),
);

const position = fc.oneof(
  hexDigits(1, 20),
  hexDigits(16, 16),
  fc.nat().map((value) => value.toString(16).padStart(16, '0')),
  fc.constantFrom(
    UNWATCHED,
    UNWATCHED.toUpperCase(),
    `0000${UNWATCHED}`,
    'fffffffffffffffe',
    '1fffffffffffff',
  ),
);
const inode = fc.oneof(
  hexDigits(1, 20),
  hexDigits(8, 8),
  fc.constantFrom(UNWATCHED, '0'.repeat(16), '0', '20000000000001'),
);

/** A line that Fluentd's regex accepts, made by the grammar that it is. */
export const entryLine = fc
  .record({ path: pathBytes, position, inode, rest })
  .map(({ path, position, inode, rest }) => ({
    bytes: bytesOf(path, `\t${position}\t${inode}`, rest, '\n'),
    path,
    position,
    inode,
  }));

/** A line that is none, or nearly one. */
const brokenLine: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc
    .constantFrom(...'|\t|\t1\t2|p|p\t1|p\t\t2|p\tx\t2|p 1 2|p\t0x1\t2|p\t1\tg|p\t-1\t2'.split('|'))
    .map((line) => bytesOf(line, '\n')),
  fc
    .tuple(pathBytes, pathBytes, position, inode)
    .map(([a, b, at, ino]) => bytesOf(a, '\t', b, `\t${at}\t${ino}\n`)),
  fc.oneof(fc.constant(new Uint8Array(40)), fc.uint8Array({ maxLength: 60 })),
);

/** Bytes of whole pos files, good and bad; the last line may be torn. */
export const posFileBytes: fc.Arbitrary<Uint8Array> = fc
  .array(fc.oneof({ weight: 3, arbitrary: entryLine.map(({ bytes }) => bytes) }, brokenLine), {
    maxLength: 8,
  })
  .chain((lines) => {
    const whole = bytesOf(...lines);
    const torn = fc.nat(whole.length).map((length) => whole.subarray(0, length));
    return fc.oneof({ weight: 3, arbitrary: fc.constant(whole) }, torn);
  });

/** Strings and bytes in one row; a string is UTF-8. */
export function bytesOf(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

/** The bytes without those that cannot stand in a path; one letter where nothing is left. */
function asPath(bytes: Uint8Array): Uint8Array {
  const path = without(bytes, TAB, NEWLINE);
  return path.length === 0 ? bytesOf('p') : path;
}

function without(bytes: Uint8Array, ...unwanted: readonly number[]): Uint8Array {
  return bytes.filter((byte) => !unwanted.includes(byte));
}
