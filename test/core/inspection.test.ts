import { describe, expect, test } from 'vitest';
import { inspect } from '../../src/core/inspection.ts';
import type { PosFileReading } from '../../src/core/snapshot.ts';
import { entry, fileOf, LOG, looksOf, POS, reading, type Watched } from '../support/builders.ts';

describe('an inspection', () => {
  test('shows every entry with its position, inode, size, lag and state, and sums up the lag', () => {
    const behind = entry({ path: '/b', position: 40, inode: '18446744073709551615' });
    expect(inspectFiles([[entry()], [behind, fileOf(behind, 60)]])).toEqual({
      posFiles: [
        {
          path: POS,
          entries: [
            { path: LOG, position: 100, inode: '7', size: 100, lag: 0, state: 'caught-up' },
            { path: '/b', position: 40, inode: '18446744073709551615', size: 60, lag: 20, state: 'behind' },
          ],
          unparsable: [],
        },
      ],
      undiscovered: [],
      lag: 20,
      caughtUp: false,
    });
  });

  test('is caught up where everything is read', () => {
    expect(inspectFiles([[entry()]])).toMatchObject({ lag: 0, caughtUp: true });
  });

  test('is caught up where only an unfinished line is left, and counts its bytes', () => {
    const look = { atPath: { inode: '7', size: 130 }, newlineLeft: false };
    expect(inspectFiles([[entry(), look]])).toMatchObject({ lag: 30, caughtUp: true });
  });

  test('has an unknown lag, and is not caught up, where one file is unknown', () => {
    expect(inspectFiles([[entry()], [entry({ path: '/gone' }), {}]])).toMatchObject({
      lag: null,
      caughtUp: false,
    });
  });

  test.each([
    { kind: 'missing' } as const,
    { kind: 'empty' } as const,
    { kind: 'unreadable', error: 'EACCES' } as const,
  ])('has an unknown lag and an error where a pos file is $kind', (kind) => {
    const { posFiles, lag, caughtUp } = inspect([{ path: POS, ...kind }], new Map(), []);
    expect(posFiles).toMatchObject([{ path: POS, entries: [], error: expect.stringMatching(/./) }]);
    expect({ lag, caughtUp }).toEqual({ lag: null, caughtUp: false });
  });

  test('shows unparsable lines', () => {
    const unparsable = [{ line: 3, text: 'rubbish' }];
    const torn: PosFileReading = { path: POS, kind: 'read', entries: [], unparsable, writtenAgo: 0 };
    expect(inspect([torn], new Map(), []).posFiles[0]?.unparsable).toEqual(unparsable);
  });

  test('shows an unwatched entry without a position and without a lag', () => {
    expect(inspectFiles([[entry({ position: null })]])).toMatchObject({
      posFiles: [{ entries: [{ position: null, lag: 0, state: 'unwatched' }] }],
      lag: 0,
      caughtUp: true,
    });
  });

  test('leaves out an older line of a path whose file is nowhere any more', () => {
    const older = entry({ inode: '6', position: 3 });
    const files: readonly Watched[] = [[older, { atPath: { inode: '7', size: 100 } }], [entry()]];
    expect(inspectFiles(files).posFiles[0]?.entries.map(({ inode }) => inode)).toEqual(['7']);
  });

  test('keeps both lines of a path with follow_inodes, whose files are both there', () => {
    const older = entry({ inode: '6', position: 50 });
    const renamed = { path: `${LOG}.1`, stat: { inode: '6', size: 50 } };
    const files: readonly Watched[] = [[older, { atPath: { inode: '7', size: 100 }, renamed }], [entry()]];
    expect(inspectFiles(files)).toMatchObject({ lag: 0, caughtUp: true });
    expect(inspectFiles(files).posFiles[0]?.entries).toHaveLength(2);
  });
});

function inspectFiles(files: readonly Watched[]): ReturnType<typeof inspect> {
  return inspect([reading(files)], looksOf(files), []);
}
