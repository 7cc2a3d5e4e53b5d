import { expect, test } from 'vitest';
import { parsePosFile } from '../../../src/core/pos-file/pos-file.ts';
import { whyUnparsable } from '../../../src/core/pos-file/pos-line.ts';
import { bytesOf } from '../../support/arbitraries.ts';

test.each([
  ['', 'it is empty'],
  ['\0\0', 'nothing but NUL bytes, as a crash of the machine leaves them'],
  ['abc', 'it holds no tab'],
  ['\t1\t2', 'its path is empty'],
  ['a\tx\t2', 'its position is no hexadecimal number'],
  ['a\t1', 'it holds no inode'],
  ['a\t1\tx', 'its inode is no hexadecimal number'],
])('the line %j is unparsable because %s', (text, why) => {
  expect(parsePosFile(bytesOf(`${text}\n`)).unparsable).toHaveLength(1);
  expect(whyUnparsable({ text })).toBe(why);
});

test('a line that no newline ends is torn, whatever stands in it', () => {
  for (const text of ['', 'a\t1', 'a\t1\t2'])
    expect(whyUnparsable({ text, torn: true })).toMatch(/^it is torn/);
});

test('a line with two entries is told as such', () => {
  expect(whyUnparsable({ text: 'a\t1\t2/b\t3\t4', merged: true })).toMatch(/^it holds two entries/);
});
