import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodePath } from '../../src/core/pos-file/path-bytes.ts';
import { LARGEST_POSITION, parsePosFile } from '../../src/core/pos-file/pos-file.ts';
import { posFileBytes } from '../support/arbitraries.ts';
import { skipFor } from '../support/needs.ts';
import { askRuby } from '../support/ruby-oracle.ts';

/** Fluentd's own regex over the same bytes. */
const PROGRAM = String.raw`
  puts JSON.dump(INPUT.map do |file|
    file.unpack1('m').each_line.filter_map do |line|
      next unless line.end_with?("\n")
      m = /^([^\t]+)\t([0-9a-fA-F]+)\t([0-9a-fA-F]+)/.match(line)
      [m[1].unpack1('H*'), m[2].to_i(16), m[3].to_i(16)].join(' ') if m
    end
  end)`;
const FILES = 10_000;
const missing =
  spawnSync('ruby', ['-e', '']).status === 0 ? undefined : 'ruby is not there: run .ci/install-fluentd';

skipFor(missing);

test(`the parser and Fluentd's regex, run by ruby, agree on ${FILES} generated files, entry for entry`, {
  timeout: 240_000,
}, () => {
  const files = fc.sample(posFileBytes, { numRuns: FILES, seed: 947 });
  const expected = linesByRuby(files);
  expect(expected).toHaveLength(FILES);
  const differing = files.findIndex((file, index) => linesBy(file).join() !== expected[index]?.join());
  expect(files[differing] && Buffer.from(files[differing]).toString('latin1')).toBeUndefined();
  expect(expected.flat().length).toBeGreaterThan(FILES);
});

function linesByRuby(files: readonly Uint8Array[]): readonly (readonly string[])[] {
  const input = files.map((file) => Buffer.from(file).toString('base64'));
  return (askRuby(PROGRAM, input, process.env) as string[][]).map((lines) => lines.map(normalized));
}

/** The parser's result for a file, in ruby's output format. */
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
