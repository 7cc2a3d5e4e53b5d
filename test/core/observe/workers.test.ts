import { describe, expect, test } from 'vitest';
import { NO_BUFFERS } from '../../../src/core/fluentd/buffer-contents.ts';
import type { Snapshot } from '../../../src/core/look/snapshot.ts';
import { ABSENT, entry, outputReading, POS, running, seen, snapshot } from '../../support/builders.ts';

const at = (position: number | null) => entry({ position });

describe('a worker', () => {
  const worker = (pid: number) => ({ pid, startTime: String(pid) });
  const runs = (when: number, ...workers: readonly number[]) =>
    snapshot(when, [[at(5)]], { fluentd: running({ workers: workers.map(worker) }) });

  test.each<[string, readonly Snapshot[], boolean]>([
    ['in whose place another one runs has been replaced', [runs(0, 1), runs(1, 2)], true],
    ['that was away for a look has been replaced', [runs(0, 1), runs(1), runs(2, 2)], true],
    ['beside whom another one starts has not', [runs(0, 1), runs(1, 1, 2)], false],
    ['that ends with its Fluentd has not', [runs(0, 1, 2), runs(1, 2), runs(2)], false],
    [
      'of a Fluentd in whose place another one runs has been replaced',
      [
        runs(0, 1),
        snapshot(1, [[at(5)]], {
          fluentd: running({ supervisor: { pid: 9, startTime: '9' }, workers: [worker(2)] }),
        }),
      ],
      true,
    ],
  ])('%s', (_, looks, replaced) => {
    expect(seen(looks).memory.workerReplaced).toBe(replaced);
  });

  test('has still to start where another supervisor has taken over and has none yet', () => {
    const by = (when: number, supervisor: number, ...workers: readonly number[]) =>
      snapshot(when, [[at(5)]], {
        fluentd: running({ supervisor: worker(supervisor), workers: workers.map(worker) }),
      });
    const isStarting = (...looks: readonly Snapshot[]) => seen(looks).memory.workerStarting;
    const [first, other, later] = [by(0, 1, 2), by(1, 3), by(2, 3)];
    expect(isStarting(first, other)).toBe(true);
    expect(isStarting(first, other, later)).toBe(true);
    expect(isStarting(first, other, by(2, 3, 4))).toBe(false);
    expect(isStarting(by(0, 1), by(1, 1))).toBe(false);
    expect(isStarting(first, by(1, 1))).toBe(false);
    const handing = { ...first, fluentd: { ...first.fluentd, successor: worker(3) } } as Snapshot;
    expect(isStarting(handing, other, later)).toBe(false);
    const starting = { ...first, fluentd: { ...first.fluentd, isStarting: true } } as Snapshot;
    expect([isStarting(starting), isStarting(starting, by(1, 1, 5))]).toEqual([true, false]);
  });

  test('that is new dates the workers anew: until it is up, a signal would kill it', () => {
    const since = (...looks: readonly Snapshot[]) => seen(looks).memory.workersSince;
    expect(since(runs(0))).toBeUndefined();
    expect(since(runs(0, 1), runs(500, 1))).toBe(0);
    expect(since(runs(0, 1), runs(500, 2), runs(900, 2))).toBe(500);
  });

  test('of the supervisor that SIGUSR2 started has not been replaced, but one of the next after it has', () => {
    const supervisors = [1, 2, 3].map((pid) => ({ pid, startTime: String(pid) }));
    const led = (when: number, by: number, successor?: number) =>
      snapshot(when, [[at(5)]], {
        fluentd: running({
          supervisor: supervisors[by - 1] ?? { pid: 0, startTime: '' },
          workers: [worker(by * 10)],
          ...(successor !== undefined && { successor: supervisors[successor - 1] }),
        }),
      });
    const replacedIn = (...looks: readonly Snapshot[]) => seen(looks).memory.workerReplaced;
    expect(replacedIn(led(0, 1, 2), led(1, 1), led(2, 2))).toBe(false);
    expect(replacedIn(led(0, 1, 2), led(1, 2), led(2, 1), led(3, 2))).toBe(true);
    expect(replacedIn(led(0, 1, 2), led(1, 3))).toBe(true);
  });

  describe('that is replaced while the pos file is empty', () => {
    const outputs = [outputReading({ inMemory: true, told: undefined })];
    const followed = (...files: readonly { path: string; inode: string; size: number }[]) => ({
      followed: [{ posFile: POS, refreshInterval: 60_000, byInode: false, files }],
      posFiles: [{ path: POS, kind: 'empty' }] as const,
      buffers: { ...NO_BUFFERS, none: false, outputs },
    });
    const fresh = { path: '/new', inode: '8', size: 3 };
    const by = (pid: number, isStarting = false) => running({ workers: [worker(pid)], isStarting });
    const isLost = (...looks: readonly Partial<Snapshot>[]) =>
      seen(looks.map((look, index) => snapshot(index, [], look))).memory.ledger.lostWithProcess;

    test('may have read what waited for it', () => {
      const waiting = followed(fresh);
      expect(isLost({ ...waiting, fluentd: by(1) }, { ...waiting, fluentd: by(2) })).toBe(true);
    });

    test('has read nothing where nothing waited, or where it had still to start', () => {
      const [waiting, nothing] = [followed(fresh), followed()];
      expect(isLost({ ...nothing, fluentd: by(1) }, { ...nothing, fluentd: by(2) })).toBe(false);
      expect(isLost({ ...waiting, fluentd: by(1, true) }, { ...waiting, fluentd: by(2) })).toBe(false);
      expect(isLost({ ...waiting, fluentd: by(1) }, { ...waiting, fluentd: by(1) })).toBe(false);
    });
  });

  test.each([
    ['never seen has been replaced, unseen', '13 1', true],
    ['seen goes on', '12 1', false],
  ])('that answers without its supervisor, and was %s', (_, agent, isLost) => {
    const reading = {
      ...NO_BUFFERS,
      none: false,
      outputs: [outputReading({ inMemory: true, told: undefined })],
    };
    const answering = { ...reading, agents: new Map([[0, agent]]) };
    const looks = [
      { ...runs(0, 12), buffers: reading },
      snapshot(500, [[at(9)]], { fluentd: ABSENT, buffers: answering }),
    ];
    expect(seen(looks).memory.ledger.lostWithProcess).toBe(isLost);
    // Nothing was replaced where Fluentd runs, or no worker had been seen.
    const there = { ...runs(500, 12), buffers: answering };
    expect(seen([runs(0, 12), there]).memory.ledger.lostWithProcess).toBe(false);
    expect(seen([{ ...runs(0), buffers: reading }, looks[1] as Snapshot]).memory.ledger.lostWithProcess).toBe(
      false,
    );
  });
});
