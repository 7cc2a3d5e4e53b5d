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
const at100 = entry({ position: 100 });
const letGo = entry({ position: null });
const unopened = entry({ position: 0, inode: '0' });

const both = (here: number, there: number, newlineLeft?: boolean) => ({
  ...elsewhere(here),
  ...renamed(there, newlineLeft),
});
const unreadable = { error: 'EACCES' };
const [STUCK, SUCCEEDED] = [{ stuck: true }, { succeeded: true }];

/** State, size, lag and whether it is read. */
type Is = readonly [Lag['state'], size: number | null, lag: number | null, read: boolean];
type Row = [title: string, look: FileLook, is: Is, context?: Partial<LagContext>, of?: PositionEntry];

describe('a log file', () => {
  test.each<Row>([
    ['whose position is its size', sized(100), ['caught-up', 100, 0, true]],
    ['with a line left', sized(130, true), ['behind', 130, 30, false]],
    ['with a line left and a position that stays', sized(130, true), ['blocked', 130, 30, false], STUCK],
    ['of whose rest nothing is known', sized(130), ['behind', 130, 30, false]],
    ['with no newline left', sized(130, false), ['partial-line', 130, 30, true]],
    ['that was cut short and written anew', sized(99), ['truncated', 99, 99, false]],
    ['that was emptied: nothing is left of it', sized(0), ['truncated', 0, 0, true]],
    ['that in_tail let go', sized(130), ['unwatched', 130, 0, true], {}, letGo],
    ['that in_tail let go and is gone', {}, ['unwatched', null, 0, true], {}, letGo],
    ['not opened yet (inode 0): its path counts', sized(130), ['behind', 130, 130, false], {}, unopened],
    [
      'not opened (inode 0), and whose path has a file that is followed',
      sized(130),
      ['rotated', null, null, true],
      SUCCEEDED,
      unopened,
    ],
    ['that cannot be looked at', unreadable, ['unreadable', null, null, false]],
    ['that cannot be looked at any more', unreadable, ['unreadable', null, null, false], { lastSize: 100 }],
    ['that is gone and was never seen', {}, ['missing', null, null, true]],
    ['that is gone', {}, ['missing', 130, 30, true], { lastSize: 130 }],
    ['that is gone and was cut short', {}, ['missing', 9, 0, true], { lastSize: 9 }],
    ['that has another name now', renamed(130), ['missing', 130, 30, true]],
  ])('%s', check);
});

describe('a log file whose path has another file', () => {
  const halfLeft = both(50, 130, false);
  test.each<Row>([
    ['leaves what that holds, without a trace of its own', elsewhere(), ['rotated', null, 50, false]],
    ['leaves nothing where that is empty, without a trace of it', elsewhere(0), ['rotated', null, 0, true]],
    ['leaves nothing where that is followed', elsewhere(), ['rotated', null, null, true], SUCCEEDED],
    ['leaves both where it has another name', both(50, 130, true), ['rotated', 130, 80, false]],
    ['leaves what that holds where it is read itself', both(50, 100), ['rotated', 100, 50, false]],
    ['leaves nothing where it is read and that is empty', both(0, 100), ['rotated', 100, 0, true]],
    ['leaves nothing where all is read or followed', both(50, 100), ['rotated', 100, 0, true], SUCCEEDED],
    ['leaves its line where that is followed', both(50, 130, true), ['rotated', 130, 30, false], SUCCEEDED],
    ['is read but for half a line where that is followed', halfLeft, ['rotated', 130, 30, true], SUCCEEDED],
    ['is unread with half a line before that is followed', both(0, 130, false), ['rotated', 130, 30, false]],
  ])('%s', check);
});

function check(...[, look, is, context, of = at100]: Row): void {
  const { state, size, lag, read } = lagOf(of, look, { ...NO_CONTEXT, ...context });
  expect([state, size, lag, read]).toEqual(is);
}

test('an unread file has bytes left or is unreadable; a read file has no complete line left at its path', () => {
  const size = fc.nat({ max: 200 });
  const stat = fc.record({ inode: fc.constantFrom('7', '8'), size });
  const away = size.map((one) => renamed(one).renamed);
  const fields = { atPath: stat, renamed: away, newlineLeft: fc.boolean(), error: fc.constant('EACCES') };
  const look: fc.Arbitrary<FileLook> = fc.record(fields, { requiredKeys: [] });
  const context = fc.record({ lastSize: fc.option(size), stuck: fc.boolean(), succeeded: fc.boolean() });
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
