import { describe, expect, test } from 'vitest';
import type { Policy } from '../../src/core/drain/policy.ts';
import { expectStops, LOG, run } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const MAIN = 500;
const JAVA = { pid: MAIN, argv: ['java', '-jar', 'main.jar'] };
const AGAIN = { ...JAVA, pid: MAIN + 1 };
const WATCHING: Partial<Policy> = { quiet: 'off' };

/** A Fluentd that reads, and a main that runs from the first second on. */
function worldWithMain(): FakeHost {
  const host = new FakeHost();
  host.startFluentd();
  host.at(1_000, (h) => h.startProcess(JAVA));
  host.at(2_000, (h) => h.appendLog(LOG, 'line 1\n'));
  return host;
}

function runUntilMainIsGone(host: FakeHost, rules: Partial<Policy> = {}) {
  return run(host, { ...WATCHING, doneProcess: true, ...rules }, { doneProcess: /main\.jar$/ });
}

describe("main's process", () => {
  test('counts as ended when it has been gone for --main-gone, and what was read by then is believed', async () => {
    const host = worldWithMain();
    host.at(10_000, (h) => h.endProcess(MAIN));
    const { outcome } = await runUntilMainIsGone(host);
    expectStops(host, ['SIGINT 4242 @12000']);
    expect(outcome).toMatchObject({ outcome: 'unproven', trigger: 'done-process' });
  });

  test('is counted from the look that missed it first, and waits for no look more', async () => {
    const host = worldWithMain();
    host.at(10_050, (h) => h.endProcess(MAIN));
    // Nothing else wakes posidle on a whole look.
    const { report } = await runUntilMainIsGone(host, { doneProcessGone: 2_100 });
    const missed = report.looks.find(({ seen }) => seen.memory.main.goneSince !== undefined);
    const over = (missed?.seen.at ?? 0) + 2_100;
    expectStops(host, [`SIGINT 4242 @${over}`]);
    expect(report.transitions.find(({ to }) => to === 'draining')?.seen.at).toBe(over);
  });

  test('that leaves a last line is settled from that line on', async () => {
    const host = worldWithMain();
    host.at(10_000, (h) => h.endProcess(MAIN));
    host.at(11_500, (h) => h.appendLog(LOG, 'from a child of main\n'));
    const { outcome } = await runUntilMainIsGone(host);
    expectStops(host, ['SIGINT 4242 @13500']);
    expect(outcome.left.bytes).toBe(0);
  });

  test('that comes again within --main-gone was restarted: its second attempt is waited for', async () => {
    const host = worldWithMain();
    host.at(10_000, (h) => h.endProcess(MAIN)).at(29_000, (h) => h.startProcess(AGAIN));
    host.at(40_000, (h) => h.endProcess(AGAIN.pid));
    const { report } = await runUntilMainIsGone(host, { doneProcessGone: 20_000 });
    expectStops(host, ['SIGINT 4242 @60000']);
    expect(report.transitions.filter(({ to }) => to === 'draining')).toHaveLength(1);
  });

  test('that comes again while Fluentd still drains takes the trigger back', async () => {
    const host = new FakeHost();
    const fluentd = host.startFluentd();
    host.startProcess(JAVA);
    host.at(2_000, (h) => h.appendLog(LOG, 'line 1\n'));
    host.at(9_900, (h) => {
      fluentd.reads = false;
      h.appendLog(LOG, 'line 2\n');
    });
    host.at(20_000, () => {
      fluentd.reads = true;
      fluentd.read(LOG);
    });
    host.at(10_000, (h) => h.endProcess(MAIN)).at(15_000, (h) => h.startProcess(AGAIN));
    host.at(40_000, (h) => h.endProcess(AGAIN.pid));
    const { report } = await runUntilMainIsGone(host);
    expectStops(host, ['SIGINT 4242 @42200']);
    expect(report.transitions.map(({ why }) => why)).toContain("main's process runs again");
  });
});

describe('a main that sleeps for five minutes between two lines', () => {
  const sleepingMain = () => {
    const host = worldWithMain();
    host.at(302_000, (h) => h.appendLog(LOG, 'line 2\n'));
    host.at(303_000, (h) => h.endProcess(MAIN));
    return host;
  };

  test.each([
    ['done-file', 304_000],
    ['http', 305_000],
    ['SIGTERM', 305_000],
  ] as const)('loses nothing with %s as the trigger, and is stopped at %i ms', async (by, at) => {
    const host = sleepingMain();
    host.at(303_000, (h) => h.request(by));
    const { outcome } = await run(host, WATCHING);
    expectStops(host, [`SIGINT 4242 @${at}`]);
    expect(outcome).toMatchObject({ outcome: 'unproven', trigger: by, left: { bytes: 0 } });
  });

  test("loses nothing with main's process as the trigger", async () => {
    const host = sleepingMain();
    const { outcome } = await runUntilMainIsGone(host);
    expectStops(host, ['SIGINT 4242 @305000']);
    expect(outcome).toMatchObject({ outcome: 'unproven', left: { bytes: 0 } });
  });

  test('is not taken as ended while nobody can list the processes', async () => {
    const host = sleepingMain();
    const { listProcesses } = host;
    host.at(100_000, (h) => {
      h.listProcesses = () => Promise.reject(new Error('the system has too many files open'));
    });
    host.at(200_000, (h) => {
      h.listProcesses = listProcesses;
    });
    await runUntilMainIsGone(host);
    expectStops(host, ['SIGINT 4242 @305000']);
  });

  test('is taken as ended by a quiet window of one minute', async () => {
    const host = sleepingMain();
    await run(host, { quiet: 60_000 });
    expectStops(host, ['SIGINT 4242 @62000']);
  });
});
