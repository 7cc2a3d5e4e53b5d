import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_TAIL } from '../../../src/core/fluent-conf/facts.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import type { Observation } from '../../../src/core/observe/observation.ts';
import { observe } from '../../../src/core/observe/observe.ts';
import { entryKeyIn } from '../../../src/core/pos-file/pos-file.ts';
import type { Millis } from '../../../src/core/text/units.ts';
import { RUNS, worldRules, worlds } from '../../support/arbitraries.ts';
import { entry, fileOf, LOG, POS, policy, seen, snapshot } from '../../support/builders.ts';

describe('a look that finds the very same as the one before', () => {
  test('means what it would mean if everything were judged anew', () => {
    const spans = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 4 });
    let atRest = 0;
    fc.assert(
      fc.property(worlds, worldRules, spans, (world, rules, after) => {
        let seen: Observation | undefined;
        for (const snapshot of world) {
          seen = observe(seen, snapshot, rules);
          let [short, long] = [seen, seen];
          for (const same of again(snapshot, after)) {
            if (short.atRest !== undefined) atRest += 1;
            short = observe(short, same, rules);
            long = observe(long, copyOf(same), rules);
            expect(short).toEqual(long);
          }
        }
      }),
      RUNS,
    );
    expect(atRest).toBeGreaterThan(100);
  });
});

const SECOND = 1_000;
const old = entry({ position: 5 });
const next = entry({ position: 3, inode: '8' });
const away = (size: number) => ({ renamed: { path: `${LOG}.1`, stat: { inode: '7', size } } });
const begun = entry({ position: 0 });
const unfinished = { ...fileOf(begun, 3), newlineLeft: false };
const OTHER = '/var/log/other.log';
const unfound = {
  followed: [
    { posFile: POS, refreshInterval: 0, byInode: false, files: [{ path: OTHER, inode: '9', size: 9 }] },
  ],
};
const rotated = [snapshot(0, [[old]]), snapshot(SECOND, [[next]])];

/** The last two looks find the very same objects, but for what `changes` says. */
const lookAgain = (looks: readonly Snapshot[], changes: Partial<Snapshot>): readonly Snapshot[] => {
  const last = looks.at(-1) as Snapshot;
  return [...looks, { ...last, at: last.at + 60 * SECOND, depth: 'rest', ...changes }];
};

describe('a look that finds the same files as the one before tells', () => {
  const goneAt = (size: number) => ({
    gone: new Map([[entryKeyIn(POS, old), { size, isOpen: undefined }]]),
  });

  test('what was written late to a file that went away from its path', () => {
    const closed = [...rotated, { ...snapshot(20 * SECOND, [[next]]), ...goneAt(5) }];
    expect(closed.map((_, index) => seen(closed.slice(0, index + 1)).readSince)).not.toContain(undefined);
    const looks = lookAgain(closed, goneAt(9));
    expect([...seen(looks).memory.abandoned.values()]).toEqual([{ path: LOG, bytes: 4 }]);
  });

  test('what was written to a file that was renamed before the first look', () => {
    const looks = [snapshot(0, [[old, away(5)]]), snapshot(SECOND, [[old, away(9)]])];
    expect(seen(looks).readSince).toBeDefined();
    expect(seen(lookAgain(looks, {})).readSince).toBeUndefined();
  });

  test('that Fluentd may read what it could not, and has still to read it', () => {
    const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 0 } });
    const looks = [snapshot(0, [[next]], { ...unfound, closed: new Set([OTHER]) })];
    expect(seen(looks, rules).readSince).toBeDefined();
    expect(seen(lookAgain(looks, { closed: new Set() }), rules).readSince).toBeUndefined();
  });

  test('that Fluentd may not read a file which it has not begun, and of which an unfinished line is left', () => {
    const closed = { closed: new Set([LOG]) };
    const looks = lookAgain(lookAgain([snapshot(0, [[begun, unfinished]])], closed), closed);
    const rules = policy({ tail: { ...DEFAULT_TAIL, refreshInterval: 0 } });
    expect(seen(looks, rules).files).toMatchObject([{ state: 'unreadable' }]);
  });
});

function again(snapshot: Snapshot, after: readonly Millis[]): readonly Snapshot[] {
  let at = snapshot.at;
  return after.map((span) => {
    at += span;
    return { ...snapshot, at, depth: 'rest' };
  });
}

/** Equal, and no object of it the same: everything is judged. */
function copyOf(snapshot: Snapshot): Snapshot {
  return structuredClone(snapshot);
}
