import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { PosFileReading, Snapshot } from '../../../src/core/look/snapshot.ts';
import { entry, POS, policy, seen, snapshot } from '../../support/builders.ts';

const SECOND = 1_000;
const at = (position: number | null) => entry({ position });
const empty: readonly PosFileReading[] = [{ path: POS, kind: 'empty' }];
const missing: readonly PosFileReading[] = [{ path: POS, kind: 'missing' }];
const without = (when: number, posFiles: readonly PosFileReading[]): Snapshot =>
  snapshot(when, [], { posFiles });

describe('an empty pos file', () => {
  test('that had entries is believed after the settle time', () => {
    const looks = [snapshot(0, [[at(5)]]), without(SECOND, empty), without(2_900, empty)];
    expect(seen(looks).unknown).toHaveLength(1);
    expect(seen([...looks, without(3_000, empty)]).unknown).toEqual([]);
  });

  test('that never had any is believed after in_tail must have looked for files', () => {
    const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 10_000 }, settle: 2_000 });
    expect(seen([without(0, empty), without(11_900, empty)], rules).unknown).toHaveLength(1);
    expect(seen([without(0, empty), without(12_000, empty)], rules).unknown).toEqual([]);
  });

  test('says that Fluentd has started, and not that it has read', () => {
    expect(seen([without(0, empty)])).toMatchObject({ started: true, logged: false });
    expect(seen([without(0, missing)])).toMatchObject({ started: false, logged: false });
  });
});

test('a pos file that has no entry yet has lost none', () => {
  expect(seen([snapshot(0, [])]).unknown).toEqual([]);
});
