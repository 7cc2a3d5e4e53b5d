import { expect, test } from 'vitest';
import type { FollowedReading } from '../../../src/core/look/snapshot.ts';
import { POS, seen, snapshot } from '../../support/builders.ts';
import { EMPTY } from '../worlds.ts';

const source = (sizes: readonly number[], changes: Partial<FollowedReading> = {}): FollowedReading => ({
  ...{ posFile: POS, byInode: false },
  files: sizes.map((size, at) => ({ path: `/${at}`, inode: String(at), size })),
  ...changes,
});

test.each<[string, readonly FollowedReading[], boolean]>([
  ['nothing, where its only file is empty', [source([0])], true],
  ['nothing, where it has no file', [source([])], true],
  ['a file of one byte', [source([1])], false],
  ['one file among empty ones', [source([0, 1])], false],
  ['perhaps a file, where a source is not listed', [source([]), source([], { unknown: 'EACCES' })], false],
  ['perhaps a file, where no source is known', [], false],
  ['nothing, where only another pos file has a file', [source([0]), source([5], { posFile: '/b' })], true],
])('an empty pos file is believed at once where it has an entry for %s', (_, followed, is) => {
  expect(seen([snapshot(0, [], { ...EMPTY, followed })]).unknown.length === 0).toBe(is);
});
