import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, POS, reading, seen, snapshot } from '../../support/builders.ts';

const look = (second: number, changes: Partial<Snapshot> = {}) =>
  snapshot(second * 1_000, [[entry()]], changes);

describe('that Fluentd had not begun to read', () => {
  const missing = { posFiles: [{ path: POS, kind: 'missing' }] } as const;
  const oneMissing = { posFiles: [...missing.posFiles, { path: '/other.pos', kind: 'empty' }] } as const;

  test.each([
    ['is remembered from when its pos file was not there', [look(0, missing), look(1)], true],
    ['is remembered where one of two was not there', [look(0, oneMissing), look(1)], true],
    ['is not known where its pos file was always there', [look(0), look(1)], false],
  ])('%s', (_, looks, beganSeen) => {
    expect(seen(looks).memory.beganSeen).toBe(beganSeen);
  });
});

test('which files Fluentd may not read stays known while there is no Fluentd', () => {
  const closed = (paths: readonly string[]) => ({ closed: new Set(paths) });
  const looks = [look(0, closed(['/closed'])), look(1, { ...closed([]), fluentd: ABSENT })];
  expect([...seen(looks).memory.closedSince]).toEqual([['/closed', 0]]);
  expect([...seen([...looks, look(2, closed([]))]).memory.closedSince]).toEqual([]);
});

test.each([
  ['an entry', [entry()], [POS]],
  ['none', [], []],
])('a pos file that holds %s counts as filled: %o', (_, entries, filled) => {
  const posFiles = [reading(entries.map((each) => [each]))];
  expect([...seen([look(0, { posFiles })]).memory.filled]).toEqual(filled);
});

test.each([
  ['one byte of it was left', 99, 1_000],
  ['nothing of it was left', 100, undefined],
])('a file that in_tail lets go of has been rotated where %s', (_, position, rotatedAt) => {
  const [known, letGo] = [entry({ position }), entry({ position: null })];
  const file = { atPath: { inode: '7', size: 100 }, newlineLeft: position < 100 };
  const looks = [snapshot(0, [[known, file]]), snapshot(1_000, [[letGo, file]])];
  expect(seen(looks).rotatedAt).toBe(rotatedAt);
});

test.each([
  ['is nowhere', 100, {}],
  ['was let go with bytes left', null, { atPath: { inode: '7', size: 100 }, newlineLeft: true }],
])('a file that %s has been rotated once, for as long as it stays so', (_, position, away) => {
  const known = entry({ position: 99 });
  const here = snapshot(0, [[known, { ...away, atPath: { inode: '7', size: 100 } }]]);
  const looks = [1_000, 2_000].map((at) => snapshot(at, [[{ ...known, position }, away]]));
  expect(seen([here, ...looks]).rotatedAt).toBe(1_000);
});

describe('entries that vanish', () => {
  const MOST = 10_000;
  const entries = Array.from({ length: MOST + 3 }, (_, index) =>
    entry({ path: `/${index}`, inode: String(100 + index) }),
  );
  const rememberedOf = (count: number) => {
    const before = snapshot(
      0,
      entries.slice(0, count).map((one) => [one]),
    );
    const first = entries.slice(0, 1).map((one) => [one] as const);
    return [...seen([before, snapshot(1_000, first)]).memory.entries.values()].map(({ path }) => path);
  };

  test('are remembered', () => {
    expect(rememberedOf(MOST)).toHaveLength(MOST);
    expect(rememberedOf(MOST + 1)).toHaveLength(MOST + 1);
  });

  test('are forgotten where they are too many: the oldest of them', () => {
    expect(rememberedOf(MOST + 2)).toHaveLength(MOST + 1);
    const remembered = rememberedOf(MOST + 3);
    expect(remembered).toHaveLength(MOST + 1);
    expect(remembered.slice(0, 2)).toEqual(['/0', '/3']);
  });
});
