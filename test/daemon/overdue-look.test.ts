import { describe, expect, test } from 'vitest';
import { confOf, LOG, type Run, run } from '../support/builders.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { busyHost, stoppedAt } from './busy-host.ts';

const GRACE = 25_000;
const IN_TIME = /^posidle waits no longer, pos-file: posidle could not look in time/;

/** From an instant on a listing takes so long: for ever, where a mount is dead. */
function slowHost(slowFrom: number, takes = Number.POSITIVE_INFINITY): FakeHost {
  const { host } = busyHost();
  const list = host.listFollowed.bind(host);
  host.listFollowed = async (source) => {
    const end = host.now() + takes;
    if (host.now() >= slowFrom) await new Promise<void>((resolve) => host.at(end, () => resolve()));
    return list(source);
  };
  return host;
}

const drainedAt = ({ transitions }: Run['report']) =>
  transitions.find(({ state }) => state.name === 'draining')?.seen.at;
const watch = (host: FakeHost, rules = {}) => run(host, rules, { conf: confOf([LOG]) });

describe('a look that never ends', () => {
  test('does not hold up a signal: the drain begins within a second, and ends at its bound', async () => {
    const host = slowHost(5_000).at(20_000, (h) => h.request('SIGTERM'));
    const { outcome, report } = await watch(host, { grace: GRACE });
    expect(drainedAt(report)).toBeLessThanOrEqual(21_000);
    expect(host.stops[0]).toMatch(/^SIGINT 4242 /);
    expect(stoppedAt(host)).toBeLessThanOrEqual(20_000 + GRACE - 10_000 + 1_000);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven' });
    expect(outcome.doubts.worst).toMatchObject([{ kind: 'main-may-run' }, { kind: 'not-looked-at' }]);
    expect(report.transitions.map(({ why }) => why)).toContainEqual(expect.stringMatching(IN_TIME));
    // Later the kubelet kills posidle, and nobody learns the outcome.
    expect(host.now()).toBeLessThanOrEqual(20_000 + GRACE);
  });

  test('that begins as a signal comes does not hold it up either', async () => {
    const host = slowHost(20_000).at(20_000, (h) => {
      h.readFile = () => new Promise(() => {});
      h.request('SIGTERM');
    });
    const { report } = await watch(host, { grace: GRACE });
    expect(drainedAt(report)).toBeLessThan(20_500);
  });

  test('does not hold up a second signal, which stops Fluentd at once', async () => {
    const host = slowHost(5_000);
    for (const at of [20_000, 21_500]) host.at(at, (h) => h.request('SIGTERM'));
    const { outcome } = await watch(host, { grace: GRACE });
    expect(stoppedAt(host)).toBeLessThanOrEqual(23_500);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven' });
  });

  test('is blamed on the files from the first one on, and on no witness', async () => {
    const host = slowHost(0).at(20_000, (h) => h.request('SIGTERM'));
    const { outcome } = await watch(host, { grace: GRACE });
    expect(outcome.doubts.worst.map(({ kind }) => kind)).not.toContain('no-answer');
    expect(outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'not-looked-at' }));
  });

  test('is no quiet window before the start timeout is over', async () => {
    const host = slowHost(5_000);
    const { outcome } = await watch(host, { startTimeout: 300_000, drainTimeout: 60_000 });
    expect(stoppedAt(host)).toBeGreaterThan(300_000);
    expect(outcome).toMatchObject({ trigger: 'quiet', outcome: 'unproven' });
  });
});

test('a look that takes three seconds is waited for: nothing is late before a call, and the drain ends drained', async () => {
  const host = slowHost(0, 3_000).at(20_000, (h) => h.request('SIGTERM'));
  const { outcome, report } = await watch(host, { grace: 60_000 });
  expect(report.looks.filter(({ seen }) => seen.extent === 'overdue' && seen.at < 20_000)).toEqual([]);
  expect(outcome).toMatchObject({ end: 'stopped', left: { count: 0 } });
  expect(outcome.doubts.worst.map(({ kind }) => kind)).toEqual(['main-may-run', 'no-witness']);
});
