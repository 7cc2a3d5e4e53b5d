import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { isStillAtRest } from '../../../src/core/observe/observe.ts';
import { ABSENT, entry, fileOf, reading, running, seen, snapshot, WRAPPER } from '../../support/builders.ts';
import { alive } from '../../support/witnesses.ts';

const old = entry({ position: 5 });
const rest = snapshot(0, [[old]]);
const { atRest } = seen([rest]);

describe('at rest', () => {
  test('is a look at which everything is read, and that shows plainly whether Fluentd runs', () => {
    expect(atRest).toMatchObject({ looks: rest.looks, followed: rest.followed, fluentd: rest.fluentd });
    expect(seen([snapshot(0, [[old, fileOf(old, 9)]])]).atRest).toBeUndefined();
    expect(seen([snapshot(0, [[old]], { fluentd: ABSENT })]).atRest).toBeDefined();
    expect(seen([snapshot(0, [[old]], { fluentd: WRAPPER })]).atRest).toBeUndefined();
  });

  test('stays where the next look finds the very same objects', () => {
    expect(isStillAtRest(atRest, rest)).toBe(true);
    expect(isStillAtRest(undefined, rest)).toBe(false);
  });

  test.each<[string, Partial<Snapshot>]>([
    ['entries', { posFiles: [reading([[{ ...old }]])] }],
    ['pos files', { posFiles: [...rest.posFiles, { path: '/pos/other', kind: 'missing' }] }],
    ['looks', { looks: new Map(rest.looks) }],
    ['followed files', { followed: [] }],
    ['processes', { fluentd: running() }],
  ])('ends with other %s', (_, changes) => {
    expect(isStillAtRest(atRest, { ...rest, ...changes })).toBe(false);
  });

  test('ends with other entries in one of two pos files', () => {
    const second = { path: '/pos/other', kind: 'read', unparsable: [], writtenAgo: 0 } as const;
    const both = { ...rest, posFiles: [...rest.posFiles, { ...second, entries: [] }] };
    const { atRest: known } = seen([both]);
    expect(isStillAtRest(known, both)).toBe(true);
    expect(isStillAtRest(known, { ...both, posFiles: [...rest.posFiles, { ...second, entries: [] }] })).toBe(
      false,
    );
  });

  test('the witness, the buffers, the calls and main tell anew', () => {
    const changes: Partial<Snapshot> = {
      lookedAt: 900,
      at: 1_000,
      testimony: { at: 900, witnesses: [alive()] },
      buffers: undefined,
      requests: [{ by: 'http', at: 950 }],
      mains: [{ pid: 1, startTime: '1' }],
    };
    const looks = [rest, { ...rest, ...changes }, { ...rest, ...changes, at: 2_000 }];
    expect(seen(looks)).toMatchObject({
      lookedAt: 900,
      at: 2_000,
      readSince: 0,
      witness: { testimony: changes.testimony, progress: { files: 1 } },
      buffers: undefined,
      requests: changes.requests,
      memory: { main: { seen: true } },
    });
  });
});
