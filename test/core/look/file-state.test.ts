import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lagOf } from '../../../src/core/look/file-state.ts';
import type { FileLook } from '../../../src/core/look/snapshot.ts';
import { RUNS } from '../../support/arbitraries.ts';
import { entry, fileOf, NO_CONTEXT } from '../../support/builders.ts';

const at100 = entry({ position: 100, inode: '7' });
const sized = (size: number): FileLook => ({ atPath: { inode: '7', size } });
const elsewhere = { inode: '8', size: 50 };
const renamed = (size: number) => ({ path: '/var/log/app.log.1', stat: { inode: '7', size } });

describe('a log file', () => {
  test('whose position is its size is caught up', () => {
    expect(lagOf(at100, sized(100), NO_CONTEXT)).toEqual({
      state: 'caught-up',
      size: 100,
      lag: 0,
      read: true,
    });
  });

  test('with a line left is behind', () => {
    expect(lagOf(at100, fileOf(at100, 130), NO_CONTEXT)).toEqual({
      state: 'behind',
      size: 130,
      lag: 30,
      read: false,
    });
  });

  test('with a line left and a position that stands still is blocked', () => {
    expect(lagOf(at100, fileOf(at100, 130), { ...NO_CONTEXT, stuck: true })).toMatchObject({
      state: 'blocked',
      read: false,
    });
  });

  test('with no newline left is a partial line: as read as it ever will be, with its bytes told', () => {
    expect(lagOf(at100, { ...sized(130), newlineLeft: false }, NO_CONTEXT)).toEqual({
      state: 'partial-line',
      size: 130,
      lag: 30,
      read: true,
    });
  });

  test('of whose rest nothing is known is behind', () => {
    expect(lagOf(at100, sized(130), NO_CONTEXT)).toMatchObject({ state: 'behind', read: false });
  });

  test('that is shorter than its position is truncated, and all of it is new', () => {
    expect(lagOf(at100, sized(99), NO_CONTEXT)).toEqual({
      state: 'truncated',
      size: 99,
      lag: 99,
      read: false,
    });
    expect(lagOf(at100, sized(0), NO_CONTEXT)).toMatchObject({ state: 'truncated', read: false });
  });

  test('that in_tail let go has nothing left', () => {
    expect(lagOf(entry({ position: null }), sized(130), NO_CONTEXT)).toEqual({
      state: 'unwatched',
      size: 130,
      lag: 0,
      read: true,
    });
  });

  test('that cannot be looked at is unknown, not read', () => {
    const readBefore = { ...NO_CONTEXT, lastSize: 100 };
    for (const context of [NO_CONTEXT, readBefore])
      expect(lagOf(at100, { error: 'EACCES' }, context)).toMatchObject({ lag: null, read: false });
  });

  test('that is not opened yet (inode 0) is measured at its path', () => {
    expect(lagOf(entry({ position: 0, inode: '0' }), sized(130), NO_CONTEXT)).toMatchObject({ lag: 130 });
    expect(lagOf(entry({ position: 0, inode: '0' }), sized(0), NO_CONTEXT)).toMatchObject({ read: true });
  });
});

describe('a file with another inode at its path', () => {
  test('is rotated; without a trace of the old one what is left is unknown', () => {
    expect(lagOf(at100, { atPath: elsewhere }, NO_CONTEXT)).toEqual({
      state: 'rotated',
      size: null,
      lag: null,
      read: false,
    });
  });

  test('has the lag of the old one, where that is found', () => {
    expect(lagOf(at100, { atPath: elsewhere, renamed: renamed(130), newlineLeft: true }, NO_CONTEXT)).toEqual(
      {
        state: 'rotated',
        size: 130,
        lag: 30,
        read: false,
      },
    );
  });

  test('is read to its end, and still not read: the new file has no entry', () => {
    expect(lagOf(at100, { atPath: elsewhere, renamed: renamed(100) }, NO_CONTEXT)).toMatchObject({
      lag: 0,
      read: false,
    });
  });

  test('is read where the new file has an entry of its own and the old one is read to its end', () => {
    const succeeded = { ...NO_CONTEXT, succeeded: true };
    expect(lagOf(at100, { atPath: elsewhere, renamed: renamed(100) }, succeeded).read).toBe(true);
    const left = { atPath: elsewhere, renamed: renamed(130), newlineLeft: true };
    expect(lagOf(at100, left, succeeded).read).toBe(false);
  });
});

describe('a file that is gone', () => {
  test('is unknown where it was never seen', () => {
    expect(lagOf(at100, {}, NO_CONTEXT)).toEqual({ state: 'missing', size: null, lag: null, read: false });
    // Bytes that were seen are left, whoever has it open.
    expect(lagOf(at100, { isClosed: true }, NO_CONTEXT).read).toBe(false);
  });

  test('is read where it was read to its end before', () => {
    expect(lagOf(at100, {}, { ...NO_CONTEXT, lastSize: 100 })).toMatchObject({
      state: 'missing',
      lag: 0,
      read: true,
    });
  });

  test('is unknown where bytes were left before', () => {
    expect(lagOf(at100, {}, { ...NO_CONTEXT, lastSize: 130 })).toMatchObject({ lag: null, read: false });
  });

  test('has the lag of the file that it was renamed to', () => {
    expect(lagOf(at100, { renamed: renamed(130) }, NO_CONTEXT)).toMatchObject({ lag: 30, read: false });
    expect(lagOf(at100, { renamed: renamed(100) }, NO_CONTEXT)).toMatchObject({ lag: 0, read: true });
  });
});

test('nothing unknown counts as read, and nothing with a whole line left does', () => {
  const size = fc.nat({ max: 200 });
  const stat = fc.record({ inode: fc.constantFrom('7', '8'), size });
  const look: fc.Arbitrary<FileLook> = fc.record(
    {
      atPath: stat,
      renamed: size.map(renamed),
      newlineLeft: fc.boolean(),
      error: fc.constant('EACCES'),
    },
    { requiredKeys: [] },
  );
  const context = fc.record({
    lastSize: fc.constant(null),
    neverSeen: fc.boolean(),
    stuck: fc.boolean(),
    succeeded: fc.boolean(),
  });
  fc.assert(
    fc.property(size, look, context, (position, look, context) => {
      const { lag, read } = lagOf(entry({ position }), look, context);
      if (lag === null) expect(read).toBe(false);
      if (read && lag !== 0) expect(look.newlineLeft).toBe(false);
      if (lag !== null) expect(lag).toBeGreaterThanOrEqual(0);
    }),
    RUNS,
  );
});
