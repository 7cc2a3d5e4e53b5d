import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { progressOf } from '../../../src/core/observe/progress-of.ts';
import type { Witness } from '../../../src/core/witness/testimony.ts';
import {
  ABSENT,
  entry,
  fileOf,
  onDisk,
  policy,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { sight } from '../../support/said.ts';
import { alive, gone, SILENT } from '../../support/witnesses.ts';
import { said, sized, unfound } from '../worlds.ts';

const PATH = '/log/a.log';
const found = entry({ path: PATH });
const behind = sized(130, PATH);
const ENDED = { fluentd: ABSENT, ...said(gone()) };

/** The progress if the looks find 30 unread bytes, and the witnesses say this. */
function known(witnesses: readonly Witness[] | undefined, changes: Partial<Snapshot> = {}) {
  const testimony = witnesses && { at: 0, witnesses };
  const look = snapshot(1_000, [behind], { testimony, buffers: onDisk(5), ...changes });
  const { left, doubts } = progressOf(seen([look]), policy());
  return {
    left: left.map((one) => [one.kind, 'bytes' in one && one.bytes]),
    doubts: doubts.map(({ kind }) => kind),
  };
}

describe('the progress comes from', () => {
  const LOOKS = {
    left: [
      ['unread', 30],
      ['held', 5],
    ],
    doubts: ['no-witness'],
  };

  test('the looks, if there is no witness', () => {
    expect(known(undefined)).toEqual(LOOKS);
    expect(known([])).toEqual(LOOKS);
  });

  test('the witnesses, if all that live have answered: they see more than the looks', () => {
    expect(known([alive()])).toEqual({ left: [], doubts: [] });
    expect(known([gone(), alive()])).toEqual({ left: [], doubts: [] });
  });

  test('both, if a witness does not answer', () => {
    const doubts = ['no-answer'];
    expect(known([SILENT])).toEqual({ left: LOOKS.left, doubts });
    const left = [['unread', 60], ...LOOKS.left];
    expect(known([alive({ files: [sight({ pos: 40 })] }), SILENT])).toEqual({ left, doubts });
  });

  test('both, if Fluentd runs without its witness', () => {
    expect(known([gone()])).toEqual(LOOKS);
    expect(known([gone({ gap: 6 })])).toEqual({ left: LOOKS.left, doubts: ['not-looked', 'no-witness'] });
  });
});

test('the progress of one look is computed once', () => {
  const [once, rules] = [seen([snapshot(0, [behind])]), policy()];
  expect(progressOf(once, rules)).toBe(progressOf(once, rules));
});

describe('when Fluentd has ended, beside its last word', () => {
  const made = unfound(4, '/new', '9');
  const read = [sight(), sight({ path: '/new', inode: 9, pos: 3, size: 3 })];
  const told = { unfound: [{ path: '/new', size: 4, inode: 9 }] };

  test.each<[string, object, Partial<Snapshot>, string]>([
    ['a line that main wrote afterwards', {}, {}, 'unread 30'],
    ['a line of a file that the last word does not name', { closed: [] }, {}, 'unread 30'],
    ['a file that main made afterwards', {}, made, 'unread 30, unfound 4'],
    ['of a new file only what no worker has read', { closed: read }, made, 'unread 30, unfound 1'],
    ['a file that was let go, once', { closed: [sight({ pos: 80, size: 130 })] }, {}, 'let-go 50'],
    ['a file that was not found, once', told, made, 'unfound 4, unread 30'],
  ])('there is left %s', (_, word, look, left) => {
    const found = known([gone(word)], { fluentd: ABSENT, ...look }).left;
    expect(found.map(([kind, bytes]) => `${kind} ${bytes}`).join(', ')).toBe(left);
  });

  test('one byte is left that main wrote afterwards', () => {
    const left = (size: number) => progressOf(seen([snapshot(0, [sized(size, PATH)], ENDED)]), policy()).left;
    expect(left(101)).toEqual([{ kind: 'unread', path: PATH, bytes: 1 }]);
    expect(left(100)).toEqual([]);
  });

  const atPath = { inode: '9', size: 20 };
  const next: Watched = [entry({ path: PATH, inode: '9', position: 20 }), { atPath }];
  const renamed = (size: number) => ({ path: '/log/a.log.1', stat: { inode: '7', size } });

  test.each<[string, readonly Watched[], readonly number[]]>([
    ['a file that took the place of one that was read', [[found, { atPath, renamed: renamed(120) }]], [20]],
    ['a file that took the place of one that nobody finds', [[{ ...found, position: 0 }, { atPath }]], [20]],
    ['such a file, and what came to the one before', [[found, { atPath, renamed: renamed(130) }]], [30]],
    ['nothing of one that was read, and that nobody finds, beside the next', [next, [found, { atPath }]], []],
    ['nothing of one that in_tail let go of', [[{ ...found, position: null }, fileOf(found, 130)]], []],
  ])('left is %s', (_, files, left) => {
    const witnesses = [gone({ closed: [sight({ pos: 120, size: 120 })] })];
    const look = snapshot(1_000, files, { fluentd: ABSENT, ...said(...witnesses) });
    const progress = progressOf(seen([look]), policy());
    expect(progress.left.map((one) => 'bytes' in one && one.bytes)).toEqual(left);
  });

  const away = (at: number, changes: Partial<Snapshot> = {}) => snapshot(at, [[found, {}]], changes);
  const unread = [{ kind: 'closed-unread', about: PATH, bytes: 30 }];
  test.each<[string, readonly Snapshot[], readonly object[]]>([
    ['is doubted', [snapshot(0, [behind], ENDED), away(1_000, ENDED)], unread],
    ['is doubted also where that look missed Fluentd', [snapshot(0, [behind]), away(1_000, ENDED)], unread],
    ['is not doubted where it was read', [snapshot(0, [sized(100, PATH)], ENDED), away(1_000, ENDED)], []],
    ['is not doubted where it went before', [snapshot(0, [behind]), away(1_000), away(2_000, ENDED)], []],
  ])('a file that went away with bytes that no worker had read %s', (_, looks, doubts) => {
    expect(progressOf(seen(looks), policy()).doubts).toMatchObject(doubts);
  });

  test('one byte of a file is doubted of which the last word does not tell, and that is away at the first look', () => {
    const end = { fluentd: ABSENT, ...said(gone({ closed: [] })) };
    const look = snapshot(0, [[found, { renamed: renamed(1) }]], end);
    expect(progressOf(seen([look]), policy()).doubts).toMatchObject([{ kind: 'closed-unread', bytes: 1 }]);
  });

  test('the missing witness causes no doubt', () => {
    expect(known([gone()], { fluentd: ABSENT }).doubts).toEqual([]);
  });
});
