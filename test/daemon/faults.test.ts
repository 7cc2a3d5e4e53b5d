import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import { confOf, LOG, POS, run } from '../support/builders.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { busyHost, namesOf, stoppedAt } from './busy-host.ts';

const MOMENT = 100;
const DRAIN = { quiet: 'off', drainTimeout: 60_000 } as const;

/** From 4 s to 20 s nobody can tell what has been read; main ends at 5 s. */
function hostWith(fault: (host: FakeHost) => () => void, mended = 20_000): FakeHost {
  const { host } = busyHost();
  host.at(4_000, () => host.at(mended, fault(host)));
  return host.at(5_000, (h) => h.request('http'));
}

const broken = (why: string) => (host: FakeHost) => {
  host.broken.set(POS, why);
  return () => void host.broken.delete(POS);
};
const deleted = (host: FakeHost) => {
  const { bytes = '' } = host.files.get(POS) ?? {};
  host.files.delete(POS);
  return () => host.writeFile(POS, bytes);
};

describe.each([
  ['cannot be read', broken('EACCES: permission denied, open')],
  ['is a directory', broken('it is a directory')],
  ['is deleted', deleted],
])('a pos file that %s', (_, fault) => {
  test('holds the stop up until it is back', async () => {
    const host = hostWith(fault);
    const { outcome } = await run(host, DRAIN);
    expect(stoppedAt(host)).toBeGreaterThanOrEqual(20_000);
    expect(stoppedAt(host)).toBeLessThan(30_000);
    expect(outcome).toMatchObject({ end: 'stopped', left: { count: 0 } });
  });

  test('for good holds it up until the drain timeout, and is named', async () => {
    const host = hostWith(fault, 10_000_000);
    const { outcome } = await run(host, DRAIN);
    expect(stoppedAt(host)).toBeGreaterThanOrEqual(65_000 - MOMENT);
    expect(outcome).toMatchObject({ outcome: 'unproven' });
    expect(outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'pos-file', about: POS }));
    expect([true, false].map((strict) => exitCodeOf(outcome, { strict }))).toEqual([3, 0]);
  });
});

describe('a log directory that is removed with its files', () => {
  const OTHER = '/var/log/other.log';
  const conf = confOf(['/var/log/*.log']);
  /** Both files go at 4 s; main ends at 5 s. */
  const hostWithout = (isRead: boolean) => {
    const { host, fluentd } = busyHost();
    host.appendLog(OTHER, 'first line\n');
    fluentd.read(OTHER);
    fluentd.reads = isRead;
    host.at(1_000, () => host.appendLog(OTHER, 'second line\n'));
    host.at(4_000, () => {
      for (const path of [LOG, OTHER]) host.files.delete(path);
    });
    return host.at(5_000, (h) => h.request('http'));
  };

  test('holds nothing up where all of them were read', async () => {
    const host = hostWithout(true);
    const { outcome } = await run(host, DRAIN, { conf });
    expect(outcome).toMatchObject({ end: 'stopped', left: { count: 0 }, doubts: { count: 1 } });
    expect(stoppedAt(host)).toBeLessThan(65_000 - MOMENT);
  });

  test('is reported if one of them was not', async () => {
    const { outcome } = await run(hostWithout(false), DRAIN, { conf });
    const unread = { kind: 'closed-unread', about: OTHER, bytes: 12 };
    expect(outcome.doubts.worst).toContainEqual(expect.objectContaining(unread));
  });
});

describe('posidle that is killed', () => {
  const killed = () => {
    throw new Error('killed');
  };
  const hostWithDoneFile = (stopTakes: number) => {
    const world = busyHost({ stopTakes });
    world.host.at(5_000, (h) => h.request('done-file'));
    return world;
  };

  test('in the middle of a drain begins anew, and waits for what is unread', async () => {
    const { host, fluentd } = hostWithDoneFile(1_000);
    fluentd.reads = false;
    host.at(4_500, () => host.appendLog(LOG, 'second line\n')).at(8_000, killed);
    await expect(run(host, DRAIN, { conf: confOf([LOG]) })).rejects.toThrow('killed');
    expect(host.stops).toEqual([]);
    host.at(20_000, () => {
      fluentd.reads = true;
      fluentd.read(LOG);
    });
    const { outcome } = await run(host, DRAIN, { conf: confOf([LOG]) });
    expect(outcome).toMatchObject({ end: 'stopped', left: { count: 0 } });
    expect(host.stops).toHaveLength(1);
    expect(stoppedAt(host)).toBeGreaterThanOrEqual(20_000);
  });

  test('after its stop signal signals the same Fluentd once more, which does no harm, and waits for its end', async () => {
    const { host, fluentd } = hostWithDoneFile(30_000);
    host.onStop = () => {
      host.onStop = () => {};
      host.at(host.now() + 1_000, killed);
    };
    await expect(run(host, DRAIN, { conf: confOf([LOG]) })).rejects.toThrow('killed');
    const { outcome } = await run(host, DRAIN, { conf: confOf([LOG]) });
    expect(outcome).toMatchObject({ end: 'stopped', left: { count: 0 } });
    expect(namesOf(host.stops)).toEqual(['SIGINT 4242', 'SIGINT 4242']);
    expect(fluentd.isAlive).toBe(false);
  });
});
