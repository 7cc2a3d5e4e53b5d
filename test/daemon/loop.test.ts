import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import { RUNS } from '../support/arbitraries.ts';
import { confOf, expectStops, LOG, POS, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { busyHost, stoppedAt } from './busy-host.ts';

const OTHER = '/var/log/other.log';

/** A Fluentd that reads no more from 2 s on, when a line comes. */
function blockedHost() {
  const { host, fluentd } = busyHost();
  fluentd.reads = false;
  host.at(2_000, (h) => h.appendLog(LOG, 'unread\n'));
  return host;
}

describe('a quiet window', () => {
  test('ends 60 s after the last of 20 lines that come 3 s apart', async () => {
    const host = new FakeHost();
    host.startFluentd();
    for (let line = 1; line <= 20; line += 1)
      host.at(line * 3_000, (h) => h.appendLog(LOG, `line ${line}\n`));
    const { outcome, report } = await run(host, {}, { conf: confOf([LOG]) });
    expectStops(host, ['SIGINT 4242 @120000']);
    expect(report.path).toEqual(['waiting', 'watching', 'draining', 'stopping', 'stopped']);
    expect(outcome).toMatchObject({
      end: 'stopped',
      outcome: 'unproven',
      trigger: 'quiet',
      left: { count: 0 },
    });
    expect(outcome.doubts.worst.map(({ kind }) => kind)).toEqual(['no-witness']);
    expect([true, false].map((strict) => exitCodeOf(outcome, { strict }))).toEqual([3, 0]);
  });

  test('does not end in the moment of a compaction, nor begin anew by it', async () => {
    const { host, fluentd } = busyHost();
    host.at(59_990, () => fluentd.compact(20));
    const { outcome } = await run(host);
    expect(stoppedAt(host)).toBeGreaterThan(60_000);
    expect(stoppedAt(host)).toBeLessThan(63_500);
    expect(outcome.outcome).toBe('unproven');
  });

  test('ends with a last line that has no newline, since Fluentd never reads it, and reports what is left', async () => {
    const { host } = busyHost();
    host.at(10_000, (h) => h.appendLog(LOG, 'whole\nhalf'));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @70000']);
    expect(outcome.left.worst).toEqual([{ kind: 'unfinished', path: LOG, bytes: 4 }]);
  });

  test('looks about once a second while nothing happens', async () => {
    const { host } = busyHost();
    await run(host);
    expect(host.sleeps).toBeLessThan(90);
  });

  test('looks no more often when it has passed and bytes are left', async () => {
    const { host, fluentd } = busyHost();
    fluentd.reads = false;
    host.at(1_000, (h) => h.appendLog(LOG, 'blocked\n'));
    host.at(160_000, () => fluentd.end());
    await run(host);
    expect(host.sleeps).toBeLessThan(200);
  });
});

test('a change of a pos file wakes it only where the look before found no movement', async () => {
  const { host } = busyHost();
  const waking: [number, boolean | undefined][] = [];
  const sleep = host.sleep.bind(host);
  host.sleep = (until, options) => {
    waking.push([host.now(), options?.wakeOnChange]);
    return sleep(until);
  };
  for (const at of [3_500, 4_500]) host.at(at, (h) => h.appendLog(LOG, 'line\n'));
  await run(host);
  expect(waking.slice(0, 8).map(([at]) => at)).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((second) => second * 1_000),
  );
  expect(waking.slice(0, 8).map(([, wakes]) => wakes)).toEqual([
    false,
    true,
    true,
    true,
    false,
    false,
    true,
    true,
  ]);
});

describe('before anything is logged', () => {
  test('an empty pos file is left alone for three windows and more', async () => {
    const host = new FakeHost();
    host.startFluentd();
    host.at(200_000, (h) => expect(h.sent).toEqual([]));
    host.at(200_001, (h) => h.startFluentd().end());
    const { outcome, report } = await run(host, { role: 'parent' });
    expect(host.sent).toEqual([]);
    expect(report.path).toEqual(['waiting', 'stopped']);
    expect(outcome.end).toBe('ended-by-itself');
  });
});

describe('the drain', () => {
  test('is taken back when main writes again after a quiet window', async () => {
    const { host } = busyHost();
    host.at(6_000, (h) => h.appendLog(LOG, 'awake\n'));
    const { report } = await run(host, { quiet: 5_000, settle: 10_000 });
    expect(report.path.slice(0, 4)).toEqual(['waiting', 'watching', 'draining', 'watching']);
    expectStops(host, ['SIGINT 4242 @16000']);
  });

  test('is not taken back after a signal, however much main writes', async () => {
    const { host } = busyHost();
    host.at(5_000, (h) => h.request('SIGTERM'));
    for (let at = 5_500; at < 40_000; at += 500) host.at(at, (h) => h.appendLog(LOG, 'more\n'));
    const { outcome, report } = await run(host);
    expect(report.path).toEqual(['waiting', 'watching', 'draining', 'stopping', 'stopped']);
    expectStops(host, ['SIGINT 4242 @20000']);
    expect(outcome.trigger).toBe('SIGTERM');
  });

  test('waits for lines that Fluentd has not read yet', async () => {
    const { host } = busyHost({ readTakes: 4_000 });
    host.at(9_900, (h) => h.appendLog(LOG, 'slow\n'));
    host.at(10_000, (h) => h.request('SIGTERM'));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @15900']);
    expect(outcome).toMatchObject({ outcome: 'unproven', left: { count: 0 } });
  });

  test('that runs out of time names what is left', async () => {
    const host = blockedHost().at(3_000, (h) => h.request('SIGTERM'));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @18000']);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'not-drained', why: 'Fluentd is gone' });
    expect(outcome.left.worst).toEqual([{ kind: 'unread', path: LOG, bytes: 7 }]);
    expect([true, false].map((strict) => exitCodeOf(outcome, { strict }))).toEqual([3, 3]);
  });

  test('counts the time in every state, also where a signal overtakes a quiet window', async () => {
    const { host } = busyHost();
    host.at(7_000, (h) => h.request('SIGTERM'));
    const { outcome } = await run(host, { quiet: 5_000, settle: 9_000 });
    const total = Object.values(outcome.durationsMs).reduce((sum, span) => sum + span, 0);
    expect(total).toBeCloseTo(host.now());
  });

  test('is not begun by one look at a pos file that lacks the entry of a blocked file', async () => {
    const { host, fluentd } = busyHost();
    host.appendLog(OTHER, 'other\n');
    fluentd.read(OTHER);
    host.at(1_000, (h) => {
      fluentd.reads = false;
      h.appendLog(OTHER, 'blocked\n');
    });
    host.at(99_950, (h) => {
      const whole = h.files.get(POS)?.bytes ?? new Uint8Array();
      h.writeFile(POS, whole.subarray(0, whole.indexOf(0x0a) + 1));
      h.at(100_050, () => h.writeFile(POS, whole));
    });
    host.at(150_000, () => fluentd.end());
    const { report } = await run(host, { role: 'parent' });
    expect(report.path).not.toContain('draining');
  });
});

describe('the stop', () => {
  test('is one SIGINT to the supervisor, and is waited for', async () => {
    const { host } = busyHost({ stopTakes: 90_000, workers: 2 });
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @60000']);
    expect(host.now()).toBeGreaterThanOrEqual(150_000);
    expect(host.now()).toBeLessThanOrEqual(150_250);
    expect(outcome).toMatchObject({
      end: 'stopped',
      durationsMs: { stopping: host.now() - stoppedAt(host) },
    });
  });

  test('that is ignored ends in SIGKILL to the whole family after the stop timeout', async () => {
    const { host } = busyHost({ ignores: ['SIGINT'] });
    const { outcome, report } = await run(host, { stopTimeout: 30_000 });
    expectStops(host, ['SIGINT 4242 @60000', 'SIGKILL 4242 @90000', 'SIGKILL 4243 @90000']);
    expect(report.path.slice(-3)).toEqual(['stopping', 'killing', 'stopped']);
    expect(outcome.end).toBe('killed');
  });

  test('that even SIGKILL does not end is given up and told', async () => {
    const { host } = busyHost({ ignores: ['SIGINT'] });
    host.at(61_000, (h) => h.forbid(4242));
    const { outcome } = await run(host, { stopTimeout: 30_000 });
    expect(outcome).toMatchObject({ end: 'survived', outcome: 'unproven' });
    expect(outcome.doubts.worst).toContainEqual(expect.objectContaining({ kind: 'killed' }));
    expect(exitCodeOf(outcome, { strict: true })).toBe(3);
    expect(host.now()).toBeLessThan(105_000);
  });

  test('sends SIGTERM, once, to workers that outlive their supervisor', async () => {
    const { host } = busyHost({ ignores: ['SIGINT'] });
    host.at(65_000, (h) => h.endProcess(4242));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @60000', 'SIGTERM 4243 @120000']);
    expect(outcome.end).toBe('stopped');
  });

  test('leaves another fluentd alone that starts meanwhile', async () => {
    const { host } = busyHost({ stopTakes: 5_000 });
    host.at(62_000, (h) => h.startFluentd({ pid: 5000, posFile: '/var/log/pos/other.pos' }));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @60000']);
    expect(outcome.end).toBe('stopped');
    expect(host.now()).toBeLessThanOrEqual(65_250);
  });

  test('after SIGTERM to posidle keeps within the grace period', async () => {
    const { host } = busyHost({ ignores: ['SIGINT'] });
    host.at(10_000, (h) => h.request('SIGTERM'));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 4242 @12000', 'SIGKILL 4242 @35000', 'SIGKILL 4243 @35000']);
    expect(outcome.trigger).toBe('SIGTERM');
  });

  test('counts as a loss what was written after the last read', async () => {
    const { host, fluentd } = busyHost();
    host.at(60_500, (h) => {
      fluentd.reads = false;
      h.appendLog(LOG, 'too late\n');
    });
    const { outcome } = await run(host);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'not-drained', left: { count: 1, bytes: 9 } });
    expect(exitCodeOf(outcome, { strict: true })).toBe(3);
  });

  test('counts as read what Fluentd read on its way out', async () => {
    const { host, fluentd } = busyHost();
    host.at(60_500, (h) => {
      h.appendLog(LOG, 'just in time\n');
      fluentd.read(LOG);
    });
    const { outcome } = await run(host);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven', left: { count: 0 } });
  });
});

describe('in any world', () => {
  const often = ['line', 'line', 'other', 'half', 'block', 'go on'] as const;
  const event = fc.record({
    after: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 12_000 })),
    what: fc.constantFrom(...often, 'compact', 'rewrite', 'restart', 'rotate'),
  });

  test('no stop signal is sent while a line is unread, unless a deadline has passed', async () => {
    const property = fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 25 }),
      fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined }),
      fc.constantFrom(5_000, 20_000),
      async (events, termedAt, quiet) => {
        const { host, unread } = world(events);
        if (termedAt !== undefined) host.at(termedAt, (h) => h.request('SIGTERM'));
        const rules = { quiet, startTimeout: 120_000 };
        const { report } = await run(host, rules, { conf: confOf(['/var/log/*.log']) });
        expect(host.stops.filter((stop) => !stop.startsWith('SIGKILL')).length).toBeLessThanOrEqual(1);
        const isClean = report.transitions.some(({ why }) => why.startsWith('everything is read'));
        if (isClean) expect(unread).toEqual([]);
        expect(host.now()).toBeLessThan(2_000_000);
      },
    );
    await fc.assert(property, { ...RUNS, numRuns: 100 });
  });
});

/** A host in which all this happens, and what was unread at the moment of a stop signal. */
function world(events: readonly { after: number; what: string }[]) {
  const { host, fluentd } = busyHost();
  let current = fluentd;
  const unread: string[] = [];
  const readAll = () => [LOG, OTHER].forEach((path) => void current.read(path));
  const happenings: Readonly<Record<string, () => void>> = {
    line: () => host.appendLog(LOG, 'line\n'),
    other: () => host.appendLog(OTHER, 'other\n'),
    half: () => host.appendLog(OTHER, 'half'),
    block: () => {
      current.reads = false;
    },
    'go on': () => {
      current.reads = true;
      readAll();
    },
    compact: () => current.compact(80),
    rewrite: () => current.writePosFile(),
    restart: () => {
      if (host.stops.length > 0 || !current.isAlive) return;
      current.end();
      current = host.startFluentd({ pid: current.pid + 100 });
      readAll();
    },
    rotate: () => {
      host.rename(LOG, `${LOG}.${host.now()}`);
      host.appendLog(LOG, 'new\n');
    },
  };
  let at = 0;
  for (const { after, what } of events) {
    at += after;
    host.at(at, () => happenings[what]?.());
  }
  // Blocked for ever would be watched for ever.
  host.at(at + 100_000, () => happenings['go on']?.());
  host.onStop = () => {
    for (const path of [LOG, OTHER])
      if (host.files.has(path) && current.unreadIn(path) > 0) unread.push(path);
  };
  return { host, unread };
}
