import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodePath } from '../../src/core/pos-file/path-bytes.ts';
import { LARGEST_POSITION, parsePosFile } from '../../src/core/pos-file/pos-file.ts';
import { bytesOf, posFileBytes } from '../support/arbitraries.ts';
import { skipFor } from '../support/needs.ts';

/** Fluentd's own regex over the same bytes: an entry a line, `end` after each file. */
const PROGRAM = String.raw`
  STDIN.binmode
  while (header = STDIN.read(4))
    content = STDIN.read(header.unpack1('N')) || ''.b
    content.each_line do |line|
      next unless line.end_with?("\n")
      m = /^([^\t]+)\t([0-9a-fA-F]+)\t([0-9a-fA-F]+)/.match(line)
      puts [m[1].unpack1('H*'), m[2].to_i(16), m[3].to_i(16)].join(' ') if m
    end
    puts 'end'
  end
`;
const FILES = 10_000;
const FLUENTDS_OWN_TEST = [
  'valid_path\t0000000000000002\t0000000000000001\n',
  'inode23bit\t0000000000000000\t00000000\n',
  'invalidpath100000000000000000000000000000000\n',
  'unwatched\tffffffffffffffff\t0000000000000000\n',
];
const missing =
  spawnSync('ruby', ['-e', '']).status === 0 ? undefined : 'ruby is not there: run .ci/install-fluentd';

describe("the parser and Fluentd's regex run by ruby", () => {
  skipFor(missing);

  test("agree on the first lines of Fluentd's own position-file test", () => {
    const file = bytesOf(...FLUENTDS_OWN_TEST);
    expect(linesBy(file)).toEqual(askRuby([file])[0]);
    expect(linesBy(file)).toHaveLength(3);
  });

  test(`agree on ${FILES} generated files, entry for entry`, { timeout: 240_000 }, () => {
    const files = fc.sample(posFileBytes, { numRuns: FILES, seed: 947 });
    const expected = askRuby(files);
    expect(expected).toHaveLength(FILES);
    const differing = files.findIndex((file, index) => linesBy(file).join() !== expected[index]?.join());
    expect(files[differing] && Buffer.from(files[differing]).toString('latin1')).toBeUndefined();
    expect(expected.flat().length).toBeGreaterThan(FILES);
  });
});

function askRuby(files: readonly Uint8Array[]): readonly (readonly string[])[] {
  const input = Buffer.concat(files.flatMap((file) => [header(file), file]));
  const { status, stdout, stderr, error } = spawnSync('ruby', ['-Eascii-8bit:ascii-8bit', '-e', PROGRAM], {
    input,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw error ?? new Error(stderr);
  const answers = stdout.split('end\n');
  return answers.slice(0, -1).map((answer) => answer.split('\n').filter(Boolean).map(normalized));
}

function header(file: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(file.length);
  return length;
}

/** What the parser makes of a file, in the form in which ruby tells it. */
function linesBy(file: Uint8Array): readonly string[] {
  return parsePosFile(file).entries.map(({ path, position, inode }) => {
    const hex = Buffer.from(encodePath(path)).toString('hex');
    return `${hex} ${position ?? 'unwatched'} ${inode}`;
  });
}

/** Positions are numbers here: those that no file can have are one and the same. */
function normalized(line: string): string {
  const [path, position = '', inode] = line.split(' ');
  const isUnwatched = BigInt(position) === 2n ** 64n - 1n;
  return `${path} ${isUnwatched ? 'unwatched' : Math.min(Number(position), LARGEST_POSITION)} ${inode}`;
}
