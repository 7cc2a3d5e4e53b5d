import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { PositionEntry } from '../../../src/core/pos-file/pos-file.ts';
import { ABSENT, entry, fileOf, LOG, running, seen, snapshot } from '../../support/builders.ts';

const look = (second: number, changes: Partial<Snapshot> = {}) =>
  snapshot(second * 1_000, [[entry()]], changes);

describe('the memory of Fluentd', () => {
  const other = {
    fluentd: running({ supervisor: { pid: 5, startTime: '5' }, workers: [{ pid: 6, startTime: '6' }] }),
  };
  const worker = { fluentd: running({ workers: [{ pid: 6, startTime: '6' }] }) };
  const fewer = { fluentd: running({ workers: [] }) };
  const memoryOf = (...looks: readonly Snapshot[]) => {
    const { supervisor, workersSince, fluentdSeen } = seen(looks).memory;
    return [supervisor?.identity.pid, supervisor?.since, workersSince, fluentdSeen];
  };

  test.each<[string, readonly Snapshot[], readonly unknown[]]>([
    ['nothing where it was never seen', [look(0, { fluentd: ABSENT })], [...Array(3), false]],
    ['since when it has been seen', [look(0), look(1)], [4242, 0, 0, true]],
    ['the one that took its place', [look(0), look(1, other)], [5, 1_000, 1_000, true]],
    ['a worker that was started anew', [look(0), look(1, worker), look(2, worker)], [4242, 0, 1_000, true]],
    ['no start where a worker is gone', [look(0), look(1, fewer)], [4242, 0, 0, true]],
    ['no worker where none ever was', [look(0, fewer), look(1, fewer)], [4242, 0, undefined, true]],
    ['it, where it is away', [look(0), look(1, { fluentd: ABSENT })], [4242, 0, 0, true]],
  ])('%s', (_, looks, known) => {
    expect(memoryOf(...looks)).toEqual(known);
  });
});

describe('entries that vanish', () => {
  const [one, other] = [entry(), entry({ path: '/other', inode: '8' })];
  const rememberedOf = (...looks: readonly (readonly PositionEntry[])[]) => {
    const of = (found: readonly PositionEntry[]) => found.map((one) => [one] as const);
    const all = looks.map((found, second) => snapshot(second * 1_000, of(found)));
    return [...seen(all).memory.entries.values()].map(({ path }) => path);
  };

  test('are remembered while the pos file is unknown', () => {
    expect(rememberedOf([one, other], [other])).toEqual([LOG, '/other']);
  });

  test('are forgotten when it is known: a later file may get their inode', () => {
    expect(rememberedOf([one, other], [other], [other])).toEqual(['/other']);
    expect(rememberedOf([one], [entry({ inode: '8' })])).toEqual([LOG]);
  });
});

test('the newest thousand of endless departed files are remembered', () => {
  const files = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const one = entry({ path: `/${from + index}`, inode: `${from + index}`, position: 1 });
      return [one, fileOf(one, 2)] as const;
    });
  const looks = [files(1, 700), files(1_001, 700), [], []].map((all, second) =>
    snapshot(second * 1_000, all),
  );
  const paths = [...seen(looks).memory.departed.values()].map(({ path }) => path);
  expect([paths.length, paths[0], paths.at(-1)]).toEqual([1_000, '/401', '/1700']);
});
