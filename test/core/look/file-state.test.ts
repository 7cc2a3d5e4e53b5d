import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Lag, type LagContext, lagOf } from '../../../src/core/look/file-state.ts';
import type { FileLook } from '../../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../../src/core/pos-file/pos-file.ts';
import { RUNS } from '../../support/arbitraries.ts';
import { entry, NO_CONTEXT } from '../../support/builders.ts';

const sized = (size: number, newlineLeft?: boolean): FileLook => ({
  atPath: { inode: '7', size },
  ...(newlineLeft !== undefined && { newlineLeft }),
});
const elsewhere = (size = 50) => ({ atPath: { inode: '8', size } });
const renamed = (size: number, newlineLeft?: boolean) => ({
  renamed: { path: '/var/log/app.log.1', stat: { inode: '7', size } },
  ...(newlineLeft !== undefined && { newlineLeft }),
});
const [at100, letGo, unopened] = [
  entry({ position: 100 }),
  entry({ position: null }),
  entry({ position: 0, inode: '0' }),
];

interface Row {
  readonly title: string;
  readonly of?: PositionEntry;
  readonly look: FileLook;
  readonly context?: Partial<LagContext>;
  /** State, size, lag and whether it is read. */
  readonly is: readonly [Lag['state'], number | null, number | null, boolean];
}

describe('a log file', () => {
  test.each<Row>([
    { title: 'whose position is its size', look: sized(100), is: ['caught-up', 100, 0, true] },
    { title: 'with a line left', look: sized(130, true), is: ['behind', 130, 30, false] },
    {
      title: 'with a line left and a position that stands still',
      look: sized(130, true),
      context: { stuck: true },
      is: ['blocked', 130, 30, false],
    },
    { title: 'of whose rest nothing is known', look: sized(130), is: ['behind', 130, 30, false] },
    { title: 'with no newline left', look: sized(130, false), is: ['partial-line', 130, 30, true] },
    { title: 'that was cut short and written anew', look: sized(99), is: ['truncated', 99, 99, false] },
    { title: 'that was emptied: nothing is left of it', look: sized(0), is: ['truncated', 0, 0, true] },
    { title: 'that in_tail let go', of: letGo, look: sized(130), is: ['unwatched', 130, 0, true] },
    { title: 'that in_tail let go and is gone', of: letGo, look: {}, is: ['unwatched', null, 0, true] },
    {
      title: 'that is not opened yet (inode 0): its path counts',
      of: unopened,
      look: sized(130),
      is: ['behind', 130, 130, false],
    },
    {
      title: 'that is not opened (inode 0), and whose path has a file that is followed',
      of: unopened,
      look: sized(130),
      context: { succeeded: true },
      is: ['rotated', null, null, true],
    },
    { title: 'that cannot be looked at', look: { error: 'EACCES' }, is: ['unreadable', null, null, false] },
    {
      title: 'that cannot be looked at any more',
      look: { error: 'EACCES' },
      context: { lastSize: 100 },
      is: ['unreadable', null, null, false],
    },
    { title: 'that is gone and was never seen', look: {}, is: ['missing', null, null, true] },
    { title: 'that is gone', look: {}, context: { lastSize: 130 }, is: ['missing', null, 30, true] },
    {
      title: 'that is gone and was cut short',
      look: {},
      context: { lastSize: 9 },
      is: ['missing', null, 0, true],
    },
    { title: 'that has another name now', look: renamed(130), is: ['missing', 130, 30, true] },
    {
      title: 'whose path has another file, without a trace of its own',
      look: elsewhere(),
      is: ['rotated', null, 50, false],
    },
    {
      title: 'whose path has an empty file, without a trace of its own',
      look: elsewhere(0),
      is: ['rotated', null, 0, true],
    },
    {
      title: 'whose path has another file that is followed, without a trace of its own',
      look: elsewhere(),
      context: { succeeded: true },
      is: ['rotated', null, null, true],
    },
    {
      title: 'that has another name, and whose path has another file: both are left',
      look: { ...elsewhere(), ...renamed(130, true) },
      is: ['rotated', 130, 80, false],
    },
    {
      title: 'that has another name and is read, and whose path has another file',
      look: { ...elsewhere(), ...renamed(100) },
      is: ['rotated', 100, 50, false],
    },
    {
      title: 'that has another name and is read, and whose path has an empty file',
      look: { ...elsewhere(0), ...renamed(100) },
      is: ['rotated', 100, 0, true],
    },
    {
      title: 'that has another name and is read, and whose path has a file that is followed',
      look: { ...elsewhere(), ...renamed(100) },
      context: { succeeded: true },
      is: ['rotated', 100, 0, true],
    },
    {
      title: 'that has another name and a line left, and whose path has a file that is followed',
      look: { ...elsewhere(), ...renamed(130, true) },
      context: { succeeded: true },
      is: ['rotated', 130, 30, false],
    },
    {
      title: 'that has another name and no newline left, and whose path has a file that is followed',
      look: { ...elsewhere(), ...renamed(130, false) },
      context: { succeeded: true },
      is: ['rotated', 130, 30, true],
    },
    {
      title: 'that has another name and no newline left, and whose path has a file that nobody follows yet',
      look: { ...elsewhere(0), ...renamed(130, false) },
      is: ['rotated', 130, 30, false],
    },
  ])('$title', ({ of = at100, look, context, is: [state, size, lag, read] }) => {
    expect(lagOf(of, look, { ...NO_CONTEXT, ...context })).toEqual({ state, size, lag, read });
  });
});

test('what is not read has bytes left, or cannot be looked at; what is read has no whole line left at its path', () => {
  const size = fc.nat({ max: 200 });
  const stat = fc.record({ inode: fc.constantFrom('7', '8'), size });
  const look: fc.Arbitrary<FileLook> = fc.record(
    {
      atPath: stat,
      renamed: size.map((one) => renamed(one).renamed),
      newlineLeft: fc.boolean(),
      error: fc.constant('EACCES'),
    },
    { requiredKeys: [] },
  );
  const context = fc.record({
    lastSize: fc.option(size),
    stuck: fc.boolean(),
    succeeded: fc.boolean(),
  });
  fc.assert(
    fc.property(size, look, context, (position, look, context) => {
      const { state, lag, read } = lagOf(entry({ position }), look, context);
      if (!read) expect(look.error !== undefined || (lag ?? 0) > 0).toBe(true);
      if (read && state !== 'missing' && (lag ?? 0) > 0) expect(look.newlineLeft).toBe(false);
      expect(lag ?? 0).toBeGreaterThanOrEqual(0);
    }),
    RUNS,
  );
});
