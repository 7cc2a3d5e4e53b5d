import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { progressOf } from '../../../src/core/observe/progress-of.ts';
import type { Witness } from '../../../src/core/witness/testimony.ts';
import {
  ABSENT,
  entry,
  fileOf,
  onDisk,
  POS,
  policy,
  seen,
  snapshot,
  type Watched,
} from '../../support/builders.ts';
import { sight } from '../../support/said.ts';
import { alive, gone, SILENT } from '../../support/witnesses.ts';

const PATH = '/log/a.log';
const behind: Watched = [entry({ path: PATH }), fileOf(entry(), 130)];

/** What is known when the looks find 30 bytes unread, and the witnesses say this. */
function known(witnesses: readonly Witness[] | undefined, changes: Partial<Snapshot> = {}) {
  const testimony = witnesses && { at: 0, witnesses };
  const look = snapshot(1_000, [behind], { testimony, buffers: onDisk(5), ...changes });
  const { left, doubts } = progressOf(seen([look]), policy());
  return {
    left: left.map((one) => [one.kind, 'bytes' in one && one.bytes]),
    doubts: doubts.map(({ kind }) => kind),
  };
}

describe('what is left and what is doubted come from', () => {
  const LOOKS = {
    left: [
      ['unread', 30],
      ['held', 5],
    ],
    doubts: ['no-witness'],
  };

  test('the looks, where there is no witness', () => {
    expect(known(undefined)).toEqual(LOOKS);
    expect(known([])).toEqual(LOOKS);
  });

  test('the witnesses, where all that live have answered: they see more than the looks', () => {
    expect(known([alive()])).toEqual({ left: [], doubts: [] });
    expect(known([gone(), alive()])).toEqual({ left: [], doubts: [] });
  });

  test('both, where a witness does not answer', () => {
    expect(known([SILENT])).toEqual({ left: LOOKS.left, doubts: ['no-answer'] });
    expect(known([alive({ files: [sight({ pos: 40 })] }), SILENT])).toEqual({
      left: [['unread', 60], ...LOOKS.left],
      doubts: ['no-answer'],
    });
  });

  test('both, where a Fluentd is there and its witness is not', () => {
    expect(known([gone()])).toEqual(LOOKS);
    expect(known([gone({ gap: 6 })])).toEqual({ left: LOOKS.left, doubts: ['not-looked', 'no-witness'] });
  });
});

test('what is known of one look is made once', () => {
  const [once, rules] = [seen([snapshot(0, [behind])]), policy()];
  expect(progressOf(once, rules)).toBe(progressOf(once, rules));
});

describe('when Fluentd has ended, beside its last word', () => {
  const ended = (word: object, changes: Partial<Snapshot> = {}) =>
    known([gone(word)], { fluentd: ABSENT, ...changes }).left;
  const followed = [
    { posFile: POS, refreshInterval: 0, byInode: false, files: [{ path: '/new', inode: '9', size: 4 }] },
  ];

  test('a line is left that main wrote afterwards', () => {
    expect(ended({})).toEqual([['unread', 30]]);
  });

  test('a file is left that main made afterwards', () => {
    expect(ended({}, { followed })).toEqual([
      ['unread', 30],
      ['unfound', 4],
    ]);
  });

  test('one byte is left that main wrote afterwards, wherever the last word says that reading came to', () => {
    const one = (size: number) => [entry({ path: PATH }), fileOf(entry(), size)] as const;
    const files = (size: number) =>
      snapshot(0, [one(size)], { fluentd: ABSENT, testimony: { at: 0, witnesses: [gone()] } });
    const bytes = (size: number) => progressOf(seen([files(size)]), policy()).left;
    expect(bytes(101)).toEqual([{ kind: 'unread', path: PATH, bytes: 1 }]);
    expect(bytes(100)).toEqual([]);
    expect(ended({ closed: [] })).toEqual([['unread', 30]]);
  });

  test('only the bytes of a new file are left that a worker has not read', () => {
    const word = { closed: [sight(), sight({ path: '/new', inode: 9, pos: 3, size: 3 })] };
    expect(ended(word, { followed })).toEqual([
      ['unread', 30],
      ['unfound', 1],
    ]);
  });

  const atPath = { inode: '9', size: 20 };
  const renamed = (size: number) => ({ path: '/log/a.log.1', stat: { inode: '7', size } });
  const found = entry({ path: PATH });

  test.each<[string, readonly Watched[], readonly number[]]>([
    ['a file that took the place of one that was read', [[found, { atPath, renamed: renamed(120) }]], [20]],
    ['a file that took the place of one that nobody finds', [[{ ...found, position: 0 }, { atPath }]], [20]],
    ['such a file, and what came to the one before', [[found, { atPath, renamed: renamed(130) }]], [30]],
    [
      'nothing of one that was read, and that nobody finds, beside the next',
      [
        [entry({ path: PATH, inode: '9', position: 20 }), { atPath }],
        [found, { atPath }],
      ],
      [],
    ],
    ['nothing of one that in_tail let go of', [[{ ...found, position: null }, fileOf(found, 130)]], []],
  ])('left is %s', (_, files, left) => {
    const witnesses = [gone({ closed: [sight({ pos: 120, size: 120 })] })];
    const look = snapshot(1_000, files, { fluentd: ABSENT, testimony: { at: 0, witnesses } });
    const progress = progressOf(seen([look]), policy());
    expect(progress.left.map((one) => 'bytes' in one && one.bytes)).toEqual(left);
  });

  test('a file is doubted that went away afterwards with bytes that no worker had read', () => {
    const look = (at: number, found: Watched) =>
      snapshot(at, [found], { fluentd: ABSENT, testimony: { at, witnesses: [gone()] } });
    const looks = [look(0, behind), look(1_000, [entry({ path: PATH }), {}])];
    expect(progressOf(seen(looks), policy()).doubts).toMatchObject([
      { kind: 'closed-unread', about: PATH, bytes: 30 },
    ]);
    const isRead = [entry({ path: PATH }), fileOf(entry(), 100)] as const;
    const read = [look(0, isRead), look(1_000, [entry({ path: PATH }), {}])];
    expect(progressOf(seen(read), policy())).toMatchObject({ left: [], doubts: [] });
  });

  test('a file that went away in the very look that found Fluentd gone is doubted too, and none that went before', () => {
    const end = { fluentd: ABSENT, testimony: { at: 0, witnesses: [gone()] } };
    const away = (at: number, changes = {}) => snapshot(at, [[found, {}]], changes);
    const doubts = (...looks: readonly Snapshot[]) => progressOf(seen(looks), policy()).doubts;
    expect(doubts(snapshot(0, [behind]), away(1_000, end))).toMatchObject([
      { kind: 'closed-unread', bytes: 30 },
    ]);
    expect(doubts(snapshot(0, [behind]), away(1_000), away(2_000, end))).toEqual([]);
  });

  test('one byte of a file is doubted of which the last word does not tell, and that is away at the first look', () => {
    const testimony = { at: 0, witnesses: [gone({ closed: [] })] };
    const look = snapshot(0, [[found, { renamed: renamed(1) }]], { fluentd: ABSENT, testimony });
    expect(progressOf(seen([look]), policy()).doubts).toMatchObject([{ kind: 'closed-unread', bytes: 1 }]);
  });

  test('no file is told twice', () => {
    expect(ended({ closed: [sight({ pos: 80, size: 130 })] })).toEqual([['let-go', 50]]);
    expect(ended({ unfound: [{ path: '/new', size: 4, inode: 9 }] }, { followed })).toEqual([
      ['unfound', 4],
      ['unread', 30],
    ]);
  });

  test('nothing is doubted for want of a witness', () => {
    expect(known([gone()], { fluentd: ABSENT }).doubts).toEqual([]);
  });
});
