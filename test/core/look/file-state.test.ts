import { expect, test } from 'vitest';
import { type Lag, lagOf } from '../../../src/core/look/file-state.ts';
import type { FileLook } from '../../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../../src/core/pos-file/pos-file.ts';
import { entry } from '../../support/builders.ts';

const sized = (size: number, newlineLeft?: boolean): FileLook => ({
  atPath: { inode: '7', size },
  ...(newlineLeft !== undefined && { newlineLeft }),
});
const elsewhere = (size = 50) => ({ atPath: { inode: '8', size } });
const at100 = entry({ position: 100 });
const letGo = entry({ position: null });
const unopened = entry({ position: 0, inode: '0' });

const unreadable = { error: 'EACCES' };
const SUCCEEDED = { succeeded: true };

interface Context {
  readonly lastSize?: number;
  readonly succeeded?: boolean;
}

/** State, size, lag and whether it is read. */
type Is = readonly [Lag['state'], size: number | null, lag: number | null, read: boolean];
type Row = [title: string, look: FileLook, is: Is, context?: Context, of?: PositionEntry];

test.each<Row>([
  ['whose position is its size', sized(100), ['caught-up', 100, 0, true]],
  ['with a line left', sized(130, true), ['behind', 130, 30, false]],
  ['of whose rest nothing is known', sized(130), ['behind', 130, 30, false]],
  ['with no newline left', sized(130, false), ['partial-line', 130, 30, true]],
  ['that was cut short and written anew', sized(99), ['truncated', 99, 99, false]],
  ['that was emptied: nothing is left of it', sized(0), ['truncated', 0, 0, true]],
  ['that in_tail let go', sized(130), ['unwatched', 130, 0, true], {}, letGo],
  ['that in_tail let go and is gone', {}, ['unwatched', null, 0, true], {}, letGo],
  ['not opened yet (inode 0): its path counts', sized(130), ['behind', 130, 130, false], {}, unopened],
  [
    'not opened, whose path has a followed file',
    sized(130),
    ['rotated', null, null, true],
    SUCCEEDED,
    unopened,
  ],
  ['that cannot be looked at', unreadable, ['unreadable', null, null, false]],
  ['that cannot be looked at any more', unreadable, ['unreadable', 100, null, false], { lastSize: 100 }],
  ['that is gone and was never seen', {}, ['missing', null, null, true]],
  ['that is gone', {}, ['missing', 130, 30, true], { lastSize: 130 }],
  ['that is gone and was cut short', {}, ['missing', 9, 0, true], { lastSize: 9 }],
])('a log file %s', check);

const [LARGER, READ] = [{ lastSize: 130 }, { lastSize: 100 }];
test.each<Row>([
  ['leaves what that holds, if it was never seen itself', elsewhere(), ['rotated', null, 50, false]],
  ['leaves nothing if that is empty', elsewhere(0), ['rotated', null, 0, true]],
  ['leaves what it held itself and what that holds', elsewhere(), ['rotated', 130, 80, false], LARGER],
  ['leaves what that holds if it is read itself', elsewhere(), ['rotated', 100, 50, false], READ],
  ['is not waited for if that is empty', elsewhere(0), ['rotated', 130, 30, true], LARGER],
  [
    'is not waited for if that is followed',
    elsewhere(),
    ['rotated', 130, 30, true],
    { ...LARGER, ...SUCCEEDED },
  ],
  ['leaves what nobody knows if that is followed', elsewhere(), ['rotated', null, null, true], SUCCEEDED],
])('a log file whose path has another file %s', check);

function check(...[, look, is, context, of = at100]: Row): void {
  const { lastSize = null, succeeded = false } = context ?? {};
  const { state, size, lag, read } = lagOf(of, look, lastSize, succeeded);
  expect([state, size, lag, read]).toEqual(is);
}
