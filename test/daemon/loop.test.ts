import { describe, expect, test } from 'vitest';
import { expectStops, LOG, run } from '../support/builders.ts';
import { busyHost, namesOf } from './busy-host.ts';

test('a change of a pos file wakes it only where the look before found no movement', async () => {
  const { host } = busyHost();
  const waking: [number, boolean | undefined][] = [];
  const sleep = host.sleep.bind(host);
  host.sleep = (until, wakeOnChange) => {
    waking.push([host.now(), wakeOnChange]);
    return sleep(until);
  };
  for (const at of [3_500, 4_500]) host.at(at, (h) => h.appendLog(LOG, 'line\n'));
  await run(host);
  const woken = [1, 2, 3, 6, 7];
  expect(waking.slice(0, 8)).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((second) => [second * 1_000, woken.includes(second)]),
  );
});

test('it looks once a second while it watches, and ten times a second while Fluentd stops', async () => {
  const { host } = busyHost({ stopTakes: 5_000 });
  const slept = new Map<number, number>();
  const sleep = host.sleep.bind(host);
  host.sleep = (until) => {
    slept.set(host.now(), Math.round(until - host.now()));
    return sleep(until);
  };
  await run(host);
  const between = (from: number, to: number) =>
    new Set([...slept].filter(([at]) => at > from && at < to).map(([, span]) => span));
  expect(between(10_000, 50_000)).toEqual(new Set([1_000]));
  expect(between(61_000, 64_000)).toEqual(new Set([100]));
});

test('the outcome counts the time in every state, also where a signal overtakes a quiet window', async () => {
  const { host } = busyHost();
  host.at(7_000, (h) => h.request('SIGTERM'));
  const { outcome } = await run(host, { quiet: 5_000, settle: 9_000 });
  const total = Object.values(outcome.durationsMs).reduce((sum, span) => sum + span, 0);
  expect(total).toBeCloseTo(host.now());
});

describe('the stop', () => {
  test('that is ignored ends in SIGKILL to the whole family after the stop timeout', async () => {
    const { host } = busyHost({ ignores: ['SIGINT'] });
    const { outcome, report } = await run(host, { stopTimeout: 30_000 });
    expectStops(host, ['SIGINT 4242 @60000', 'SIGKILL 4242 @90000', 'SIGKILL 4243 @90000']);
    expect(report.path.slice(-3)).toEqual(['stopping', 'killing', 'stopped']);
    expect(outcome.end).toBe('killed');
  });

  test('leaves another fluentd alone that starts meanwhile', async () => {
    const { host } = busyHost({ stopTakes: 5_000 });
    host.at(62_000, (h) => h.startFluentd({ pid: 5000 }));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @60000']);
    expect(outcome.end).toBe('stopped');
    expect(host.now()).toBeLessThanOrEqual(65_250);
  });

  test('comes once more from a posidle that was killed and started again, and does no harm', async () => {
    const { host } = busyHost({ stopTakes: 30_000 });
    host.at(5_000, (h) => h.request('done-file'));
    host.at(20_000, () => {
      throw new Error('killed');
    });
    await expect(run(host)).rejects.toThrow('killed');
    expect(namesOf(host.stops)).toEqual(['SIGINT 4242']);
    const { outcome } = await run(host);
    expect(outcome).toMatchObject({ end: 'stopped', left: { count: 0 } });
    expect(namesOf(host.stops)).toEqual(['SIGINT 4242', 'SIGINT 4242']);
  });
});
