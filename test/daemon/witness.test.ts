import { describe, expect, test, vi } from 'vitest';
import { LOG, POS, posText, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { sight } from '../support/said.ts';
import { alive, gone } from '../support/witnesses.ts';
import { busyHost } from './busy-host.ts';

const WITNESS = '/posidle';
const CALLED = 5_000;

/** A Fluentd in another container, visible only by its witness and its files, and the orders that it gets. */
function remote(onTold = () => gone()) {
  const host = new FakeHost();
  const told: [word: string, at: number][] = [];
  host.appendLog(LOG, 'one line\n');
  const inode = host.files.get(LOG)?.inode ?? '';
  host.writeFile(POS, posText([{ path: LOG, position: 9, inode }]));
  host.witnesses = [alive()];
  host.onWitnessTold = (_, word) => {
    told.push([word, host.now() - CALLED]);
    host.witnesses = [onTold()];
    return true;
  };
  return { host, told };
}

const drainIn = (host: FakeHost, by: 'done-file' | 'SIGTERM' = 'done-file', rules = {}) =>
  run(
    host.at(CALLED, (h) => h.request(by)),
    { quiet: 'off', ...rules },
    { witness: WITNESS },
  );

test('Fluentd is told to stop within 100 ms of the trigger if nothing is left, and nothing is flushed', async () => {
  const { host, told } = remote();
  const { outcome } = await drainIn(host);
  expect(told).toEqual([['stop', expect.closeTo(0, -2)]]);
  const nothing = { left: { count: 0 }, doubts: { count: 0 } };
  expect(outcome).toMatchObject({ end: 'stopped', outcome: 'drained', ...nothing });
});

test("after the stop order no witness is asked until Fluentd is gone: its answer would delay Fluentd's end", async () => {
  const host = new FakeHost();
  host.witnesses = [alive()];
  host.request('main-ended');
  const ask = vi.spyOn(host, 'askWitnesses');
  let asks = 0;
  host.onWitnessTold = () => {
    asks = ask.mock.calls.length;
    host.at(host.now() + 3_000, (h) => {
      h.witnesses = [gone()];
    });
    return true;
  };
  const subject = { posFiles: [], witness: WITNESS, fluentd: { by: 'witness' } } as const;
  const { outcome } = await run(host, { quiet: 'off' }, subject);
  expect(outcome).toMatchObject({ end: 'stopped', outcome: 'drained' });
  expect(ask.mock.calls.length - asks).toBe(1);
});

describe('as a guess', () => {
  /** The witness is asked some time after the trigger. `onAsked`: what happens until then. */
  function asked(host: FakeHost, onAsked: (times: number) => void, files: () => readonly object[]) {
    let times = 0;
    host.askWitnesses = async () => {
      await host.sleep(host.now() + 5);
      onAsked(++times);
      return { at: host.now(), witnesses: [alive({ files: files() })] };
    };
    return run(host, { quiet: 5_000, startTimeout: 20_000 }, { witness: WITNESS });
  }

  test('a drain is taken back where Fluentd reads a line before its witness first answers', async () => {
    const { host } = busyHost();
    const size = () => Number(host.files.get(LOG)?.bytes.length);
    const { report } = await asked(
      host,
      (times) => times === 1 && host.appendLog(LOG, 'late\n'),
      () => [sight({ pos: size(), size: size() })],
    );
    const once = ['draining', 'watching', 'draining'];
    expect(report.path).toEqual(['waiting', 'watching', ...once, 'stopping', 'stopped']);
    expect(host.now()).toBeGreaterThan(10_000);
  });

  test('a drain does not end with a first answer, which is older than the look at the files', async () => {
    const { host } = busyHost();
    const size = Number(host.files.get(LOG)?.bytes.length);
    let asks = 0;
    // A line comes after the first answer.
    const late = () => sight({ pos: size, size: size + (asks === 2 ? 5 : 0) });
    await asked(
      host,
      (times) => {
        asks = times;
      },
      () => [late()],
    );
    expect(asks).toBeGreaterThan(2);
  });

  test('a drain goes on where Fluentd never read a line', async () => {
    const host = new FakeHost();
    host.startFluentd();
    host.writeFile(POS, '');
    const { outcome } = await asked(
      host,
      () => {},
      () => [],
    );
    expect(outcome).toMatchObject({ trigger: 'start-timeout', end: 'stopped' });
  });
});

test('a Fluentd that only its witness can tell to stop is told at the deadline also where no look ends any more', async () => {
  const { host, told } = remote();
  host.at(3_000, (h) => {
    h.readFile = () => new Promise(() => {});
  });
  await drainIn(host, 'SIGTERM', { grace: 25_000 });
  expect(told.map(([word]) => word)).toEqual(['stop']);
  expect(told[0]?.[1]).toBeLessThanOrEqual(16_000);
});

test('a Fluentd of another user is waited for until its witness listens', async () => {
  const { host } = busyHost({ permitted: false });
  host.at(CALLED, (h) => h.request('done-file'));
  host.at(2_000, (h) => {
    h.witnesses = [alive()];
  });
  host.onWitnessTold = () => {
    host.witnesses = [gone()];
    for (const pid of [...host.processes.keys()]) host.processes.delete(pid);
    return true;
  };
  const { outcome } = await run(host, { quiet: 'off' }, { witness: WITNESS });
  expect(outcome).toMatchObject({ end: 'stopped', outcome: 'drained' });
});

test('a false witness cannot make posidle kill a process that only calls itself Fluentd', async () => {
  const host = new FakeHost().at(CALLED, (h) => h.request('done-file'));
  host.startProcess({ pid: 77, argv: ['/usr/bin/ruby', '/usr/bin/fluentd'] });
  host.witnesses = [alive()];
  const { outcome } = await run(host, { quiet: 'off' }, { witness: WITNESS });
  expect(host.sent).toEqual([]);
  expect(outcome).toMatchObject({ end: 'survived', outcome: 'unproven' });
});
