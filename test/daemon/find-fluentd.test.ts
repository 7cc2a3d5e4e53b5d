import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/core/drain/outcome.ts';
import { FluentdFinder } from '../../src/daemon/find-fluentd.ts';
import { confOf, expectStops, LOG, POS, posText, run, subject } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';

const PID_FILE = '/var/run/fluentd.pid';

describe('fluentd', () => {
  test('that goes on is looked at without the whole process table, until something changes', async () => {
    const host = worldWithFluentd();
    const tables: number[] = [];
    const { listProcesses } = host;
    host.listProcesses = () => {
      tables.push(host.now());
      return listProcesses.call(host);
    };
    host.at(20_500, (h) => h.endProcess(4243));
    host.at(30_500, (h) => h.startProcess({ pid: 4244, ppid: 4242, argv: ['worker:fake'] }));
    await run(host);
    expect(tables.filter((at) => at > 11_000 && at < 60_000)).toEqual([21_000, 31_000]);
  });

  test('that ends by itself is waited for until the trigger, and then no longer than the settle time', async () => {
    const host = worldWithFluentd();
    host.at(20_000, (h) => h.endProcess(4243));
    host.at(20_000, (h) => h.endProcess(4242));
    host.at(40_000, (h) => h.request('done-file'));
    const { outcome } = await run(host, {}, { conf: confOf([LOG]) });
    expect(host.sent).toEqual([]);
    expect(outcome).toMatchObject({ end: 'ended-by-itself', left: { count: 0 }, trigger: 'done-file' });
    expect(host.now()).toBeLessThanOrEqual(42_250);
    expect(exitCodeOf(outcome, { strict: false })).toBe(0);
  });

  test('that ends by itself with lines unread is told as not drained', async () => {
    const host = worldWithFluentd();
    host.at(20_000, (h) => h.endProcess(4243));
    host.at(20_000, (h) => h.endProcess(4242));
    host.at(20_100, (h) => h.appendLog(LOG, 'nobody reads\n'));
    const { outcome } = await run(host);
    expect(outcome).toMatchObject({ outcome: 'not-drained', left: { count: 1, bytes: 13 } });
    expect(exitCodeOf(outcome, { strict: true })).toBe(3);
  });

  test('that restarts with another pid is followed, and the new one is stopped', async () => {
    const host = worldWithFluentd();
    host.at(20_000, (h) => h.endProcess(4243));
    host.at(20_000, (h) => h.endProcess(4242));
    host.at(21_500, (h) => h.startFluentd({ pid: 5000 }));
    const { outcome } = await run(host);
    expectStops(host, ['SIGINT 5000 @60000']);
    expect(outcome.end).toBe('stopped');
  });

  test('that has only just restarted gets no signal for the settle time: its start is not over', async () => {
    const host = worldWithFluentd();
    host.at(59_500, (h) => h.endProcess(4243));
    host.at(59_500, (h) => h.endProcess(4242));
    host.at(59_800, (h) => h.startFluentd({ pid: 5000 }));
    await run(host);
    expect(host.stops).toHaveLength(1);
    expect(Number(host.stops[0]?.split('@')[1])).toBeGreaterThanOrEqual(61_800);
  });

  test('that never comes ends in exit code 4 after the start timeout', async () => {
    const host = new FakeHost();
    const { outcome } = await run(host, { startTimeout: 30_000 });
    expect(host.now()).toBe(30_000);
    expect(outcome).toMatchObject({ end: 'no-fluentd', outcome: 'unproven' });
    expect(exitCodeOf(outcome, { strict: false })).toBe(4);
  });

  test('that comes after the SIGTERM of a main that was faster is drained within the grace period', async () => {
    const host = new FakeHost();
    host.at(1_000, (h) => h.appendLog(LOG, 'line\n'));
    host.at(3_000, (h) => h.request('SIGTERM'));
    host.at(9_000, (h) => h.startFluentd().read(LOG));
    const { outcome } = await run(host);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven', trigger: 'SIGTERM' });
    expect(host.now()).toBeLessThan(3_000 + 25_000);
  });

  test('that does not come after a SIGTERM is waited for until the stop reserve of the grace period', async () => {
    const host = new FakeHost();
    host.at(5_000, (h) => h.request('SIGTERM'));
    const { outcome } = await run(host);
    expect(host.now()).toBe(5_000 + 15_000);
    expect(exitCodeOf(outcome, { strict: false })).toBe(4);
  });

  test("that is another user's ends in exit code 5, at once", async () => {
    const host = worldWithFluentd({ permitted: false });
    const { outcome } = await run(host);
    expect(host.sent).toEqual([]);
    expect(host.now()).toBe(0);
    expect(outcome.end).toBe('not-permitted');
    expect(exitCodeOf(outcome, { strict: false })).toBe(5);
  });

  test('that runs twice ends in exit code 2 and a list of both', async () => {
    const host = worldWithFluentd();
    host.startFluentd({ pid: 5000 });
    const { outcome } = await run(host);
    expect(host.sent).toEqual([]);
    expect(outcome.end).toBe('ambiguous');
    expect(outcome.why).toContain('4242');
    expect(outcome.why).toContain('5000');
    expect(exitCodeOf(outcome, { strict: false })).toBe(2);
  });

  test.each([
    ['pid', { by: 'pid', pid: 5000 }],
    ['pid file', { by: 'pid-file', path: PID_FILE }],
  ] as const)('of two is the one that the %s names', async (_, fluentd) => {
    const host = worldWithFluentd();
    host.startFluentd({ pid: 5000, argv: ['/opt/td-agent/bin/ruby', '/usr/sbin/td-agent'] });
    host.writeFile(PID_FILE, '5000\n');
    await run(host, {}, { fluentd });
    expectStops(host, ['SIGINT 5000 @60000']);
  });
});

describe('a process that is no fluentd', () => {
  const sleeping = (host: FakeHost) => host.startProcess({ pid: 900, argv: ['sleep', '1000'] });

  test('is refused at once where its pid was given, and gets no signal', async () => {
    const host = new FakeHost();
    sleeping(host);
    const { outcome } = await run(host, {}, { fluentd: { by: 'pid', pid: 900 } });
    expect(outcome.end).toBe('no-fluentd-named');
    expect(exitCodeOf(outcome, { strict: false })).toBe(2);
    expect([host.now(), host.sent]).toEqual([0, []]);
  });
});

test('where no fluentd shows, it says what would show one', async () => {
  expect(await new FluentdFinder(new FakeHost(), subject()).find(undefined)).toMatchObject({
    kind: 'absent',
    why: expect.stringMatching(/needs a witness .*, or shareProcessNamespace in the Pod$/),
  });
});

describe('a pid file', () => {
  const byPidFile = subject({ fluentd: { by: 'pid-file', path: PID_FILE } });

  test('is waited for', async () => {
    const reading = await new FluentdFinder(worldWithFluentd(), byPidFile).find(undefined);
    expect(reading).toMatchObject({ kind: 'absent', why: expect.stringContaining(PID_FILE) });
  });

  test("that names another program's pid by now names no fluentd", async () => {
    const host = new FakeHost();
    host.startProcess({ pid: 900, argv: ['postgres'] });
    host.writeFile(PID_FILE, '900\n');
    expect((await new FluentdFinder(host, byPidFile).find(undefined)).kind).toBe('absent');
  });

  test.each(['', 'none\n', '-1\n', '0\n'])('with the content %j names no fluentd', async (content) => {
    const host = worldWithFluentd();
    host.writeFile(PID_FILE, content);
    expect((await new FluentdFinder(host, byPidFile).find(undefined)).kind).toBe('absent');
  });

  test('that cannot be read names no fluentd, and why', async () => {
    const host = worldWithFluentd();
    host.broken.set(PID_FILE, 'EACCES: permission denied, open');
    const reading = await new FluentdFinder(host, byPidFile).find(undefined);
    expect(reading).toMatchObject({ kind: 'absent', why: expect.stringContaining('EACCES') });
  });
});

describe('the search', () => {
  test('finds the supervisor, its live workers and whether it may be told', async () => {
    const host = worldWithFluentd({ workers: 2 });
    expect(await new FluentdFinder(host, subject()).find(undefined)).toMatchObject({
      kind: 'running',
      supervisor: { pid: 4242 },
      workers: [{ pid: 4243 }, { pid: 4244 }],
      permitted: true,
    });
  });

  test('reads the whole process table only when what is known no longer holds', async () => {
    const host = worldWithFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    host.startProcess({ pid: 6000, argv: ['fluentd', '-c', 'other.conf'] });
    expect(await new FluentdFinder(host, subject()).find(known)).toEqual(known);
  });

  test('finds a worker that was started anew', async () => {
    const host = new FakeHost();
    const fluentd = host.startFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    host.endProcess(4243);
    fluentd.startWorker(4244);
    expect(await new FluentdFinder(host, subject()).find(known)).toMatchObject({ workers: [{ pid: 4244 }] });
  });

  test('finds workers without their supervisor only where they were known before', async () => {
    const host = worldWithFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    host.endProcess(4242);
    expect(await new FluentdFinder(host, subject()).find(known)).toMatchObject({
      kind: 'orphaned',
      workers: [{ pid: 4243 }],
    });
    expect((await new FluentdFinder(host, subject()).find(undefined)).kind).toBe('absent');
  });

  test('does not take a worker that was seen before its exec for a supervisor', async () => {
    const host = worldWithFluentd();
    const forked = { pid: 4244, ppid: 4242, startTime: 'forked', argv: ['ruby', '/usr/bin/fluentd'] };
    host.startProcess(forked);
    const atFork = await new FluentdFinder(host, subject()).find(undefined);
    host.startProcess({ ...forked, argv: [...forked.argv, '--under-supervisor'] });
    const known = await new FluentdFinder(host, subject()).find(atFork);
    expect(known).toMatchObject({ supervisor: { pid: 4242 }, workers: [{ pid: 4243 }, { pid: 4244 }] });
    expect(known).not.toHaveProperty('successor');
    host.endProcess(4242);
    expect(await new FluentdFinder(host, subject()).find(atFork)).toMatchObject({ kind: 'orphaned' });
  });

  test('prefers a new supervisor to the workers that an old one left', async () => {
    const host = worldWithFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    host.endProcess(4242);
    host.startFluentd({ pid: 5000 });
    expect(await new FluentdFinder(host, subject()).find(known)).toMatchObject({ supervisor: { pid: 5000 } });
  });
});

describe('following', () => {
  test('sees a zombie as gone', async () => {
    const host = worldWithFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    for (const pid of [4242, 4243]) host.startProcess({ pid, startTime: 'started 0', zombie: true });
    expect((await new FluentdFinder(host, subject()).follow(known)).kind).toBe('absent');
  });

  test('sees no other fluentd than the one that it knows', async () => {
    const host = worldWithFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    for (const pid of [4242, 4243]) host.endProcess(pid);
    host.startFluentd({ pid: 5000 });
    expect((await new FluentdFinder(host, subject()).follow(known)).kind).toBe('absent');
  });

  test('waits for the supervisor when its worker is gone already', async () => {
    const host = worldWithFluentd();
    const known = await new FluentdFinder(host, subject()).find(undefined);
    host.endProcess(4243);
    expect(await new FluentdFinder(host, subject()).follow(known)).toMatchObject({
      kind: 'running',
      workers: [],
    });
  });
});

describe("a parent's child", () => {
  const CHILD = 900;
  const asParent = subject({ fluentd: { by: 'session', leader: { pid: CHILD, startTime: 'started 0' } } });
  const wrapped = (pid = 910) => ({ pid, ppid: CHILD, session: CHILD, argv: ['ruby', '/usr/bin/fluentd'] });
  const worldWithWrapper = () => {
    const host = new FakeHost();
    host.startProcess({ pid: CHILD, session: CHILD, argv: ['sh', '-c', 'fluentd -c f.conf; true'] });
    return host;
  };

  test('that is a wrapper is no Fluentd, and the one that comes below it is found', async () => {
    const host = worldWithWrapper();
    const early = await new FluentdFinder(host, asParent).find(undefined);
    expect(early).toMatchObject({ kind: 'wrapper', leader: { pid: CHILD }, since: 0, permitted: true });
    host.startProcess(wrapped());
    const found = await new FluentdFinder(host, asParent).find(early);
    expect(found).toMatchObject({ kind: 'running', supervisor: { pid: 910 } });
    host.endProcess(910);
    const late = await new FluentdFinder(host, asParent).find(found);
    expect(late.kind).toBe('wrapper');
    host.startProcess(wrapped(920));
    expect(await new FluentdFinder(host, asParent).find(late)).toMatchObject({ supervisor: { pid: 920 } });
  });

  test('is starting until its worker has opened the pos file', async () => {
    const host = worldWithWrapper();
    host.writeFile(POS, '');
    host.startProcess(wrapped());
    host.startProcess({ ...wrapped(911), ppid: 910, argv: ['ruby', 'fluentd', '--under-supervisor'] });
    host.starting.add(911);
    const finder = new FluentdFinder(host, asParent);
    expect(await finder.find(undefined)).toMatchObject({ workers: [{ pid: 911 }], isStarting: true });
    host.starting.clear();
    expect(await finder.find(undefined)).toMatchObject({ isStarting: false });
  });

  test('is starting again while one of two workers that both had a pos file is replaced', async () => {
    const host = worldWithWrapper();
    host.writeFile(POS, '');
    host.startProcess(wrapped());
    const worker = (pid: number) =>
      host.startProcess({ ...wrapped(pid), ppid: 910, argv: ['ruby', 'fluentd', '--under-supervisor'] });
    worker(911);
    worker(912);
    const finder = new FluentdFinder(host, asParent);
    expect(await finder.find(undefined)).toMatchObject({ isStarting: false });
    host.endProcess(912);
    host.starting.add(913);
    worker(913);
    expect(await finder.find(undefined)).toMatchObject({ isStarting: true });
    host.starting.clear();
    expect(await finder.find(undefined)).toMatchObject({ isStarting: false });
  });

  test('is up where one of its workers never opens a pos file', async () => {
    const host = worldWithWrapper();
    host.writeFile(POS, '');
    host.startProcess(wrapped());
    host.starting.add(912);
    for (const pid of [911, 912])
      host.startProcess({ ...wrapped(pid), ppid: 910, argv: ['ruby', 'fluentd', '--under-supervisor'] });
    expect(await new FluentdFinder(host, asParent).find(undefined)).toMatchObject({ isStarting: false });
  });

  test('keeps the instant since which no Fluentd has shown', async () => {
    const host = worldWithWrapper();
    const early = await new FluentdFinder(host, asParent).find(undefined);
    await host.sleep(5_000);
    expect(await new FluentdFinder(host, asParent).find(early)).toEqual(early);
  });

  test('that becomes Fluentd itself is found under the same pid', async () => {
    const host = worldWithWrapper();
    const early = await new FluentdFinder(host, asParent).find(undefined);
    host.startProcess({ pid: CHILD, session: CHILD, argv: ['ruby', '/usr/bin/fluentd'] });
    expect(await new FluentdFinder(host, asParent).find(early)).toMatchObject({ supervisor: { pid: CHILD } });
  });

  test('is looked through into other sessions, also when it has ended before its Fluentd', async () => {
    const host = worldWithWrapper();
    host.startProcess({ pid: 905, ppid: CHILD, session: 905, argv: ['sh', '-c', 'fluentd'] });
    host.startProcess({ ...wrapped(), ppid: 905, session: 905 });
    const found = await new FluentdFinder(host, asParent).find(undefined);
    expect(found).toMatchObject({ kind: 'running', supervisor: { pid: 910 } });
    host.endProcess(CHILD);
    expect(await new FluentdFinder(host, asParent).find(found)).toEqual(found);
  });

  test('that has ended is not the process that has got its pid', async () => {
    const host = new FakeHost();
    host.startProcess({ pid: CHILD, session: CHILD, startTime: 'later', argv: ['ruby', '/usr/bin/fluentd'] });
    expect((await new FluentdFinder(host, asParent).find(undefined)).kind).toBe('absent');
  });

  test('that has ended leaves nothing to look for', async () => {
    expect((await new FluentdFinder(new FakeHost(), asParent).find(undefined)).kind).toBe('absent');
  });

  test('is left alone where another Fluentd runs beside it', async () => {
    const host = worldWithWrapper();
    host.startFluentd();
    expect(await new FluentdFinder(host, asParent).find(undefined)).toMatchObject({ kind: 'wrapper' });
  });

  test('with workers below it is a Fluentd, whatever its name', async () => {
    const host = worldWithWrapper();
    host.startProcess({ ...wrapped(), argv: ['/opt/collector', '-c', 'f.conf'] });
    host.startProcess({ ...wrapped(911), ppid: 910, argv: ['/opt/collector', '--under-supervisor'] });
    const found = await new FluentdFinder(host, asParent).find(undefined);
    expect(found).toMatchObject({ kind: 'running', supervisor: { pid: 910 }, workers: [{ pid: 911 }] });
  });

  test('that has adopted the workers of a dead supervisor is not taken for their supervisor', async () => {
    const host = worldWithWrapper();
    host.startProcess(wrapped());
    const worker = { ...wrapped(911), ppid: 910, startTime: 'worker' };
    host.startProcess({ ...worker, argv: ['ruby', 'fluentd', '--under-supervisor'] });
    const known = await new FluentdFinder(host, asParent).find(undefined);
    host.endProcess(910);
    host.startProcess({ ...worker, ppid: CHILD, argv: ['ruby', 'fluentd', '--under-supervisor'] });
    const found = await new FluentdFinder(host, asParent).find(known);
    expect(found).toMatchObject({ kind: 'orphaned', workers: [{ pid: 911 }] });
  });

  test('that was told to end, and shows no Fluentd, is followed until it is gone', async () => {
    const host = worldWithWrapper();
    const known = await new FluentdFinder(host, asParent).find(undefined);
    expect(await new FluentdFinder(host, asParent).follow(known)).toEqual(known);
    host.endProcess(CHILD);
    expect((await new FluentdFinder(host, asParent).follow(known)).kind).toBe('absent');
  });

  test('gets the stop signal after ten seconds without a Fluentd, and never a flush', async () => {
    const host = worldWithWrapper();
    host.writeFile(POS, '');
    host.appendLog(LOG, 'line\n');
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode: host.files.get(LOG)?.inode ?? '' }]));
    host.at(1_000, (h) => h.request('done-file'));
    const { outcome } = await run(host, { role: 'parent', quiet: 'off' }, { fluentd: asParent.fluentd });
    expect(host.sent.map((sent) => sent.split(' @')[0])).toEqual([`SIGINT ${CHILD}`]);
    expectStops(host, [`SIGINT ${CHILD} @10000`]);
    expect(outcome.end).toBe('stopped');
  });

  test('whose Fluentd comes late gets no signal; its Fluentd is flushed and stopped', async () => {
    const host = worldWithWrapper();
    host.appendLog(LOG, 'line\n');
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode: host.files.get(LOG)?.inode ?? '' }]));
    host.at(1_000, (h) => h.request('done-file'));
    const onSignal = (signal: string) => {
      if (signal === 'SIGINT') for (const pid of [911, 910, CHILD]) host.endProcess(pid);
    };
    host.at(9_000, (h) => {
      h.startProcess({ ...wrapped(), onSignal });
      h.startProcess({ ...wrapped(911), ppid: 910, argv: ['ruby', 'fluentd', '--under-supervisor'] });
    });
    const { outcome } = await run(host, { role: 'parent', quiet: 'off' }, { fluentd: asParent.fluentd });
    expect(host.sent.map((sent) => sent.split(' @')[0])).toEqual(['SIGUSR1 910', 'SIGINT 910']);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven' });
  });

  test('whose Fluentd has ended and is not started again is unproven', async () => {
    const host = worldWithWrapper();
    host.appendLog(LOG, 'line\n');
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode: host.files.get(LOG)?.inode ?? '' }]));
    host.startProcess(wrapped());
    host.at(20_000, (h) => h.endProcess(910));
    host.at(30_000, (h) => h.request('SIGTERM'));
    const { outcome } = await run(host, { role: 'parent', quiet: 'off' }, { fluentd: asParent.fluentd });
    expect(host.sent.map((sent) => sent.split(' @')[0])).toEqual([`SIGINT ${CHILD}`]);
    expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven' });
  });
});

function worldWithFluentd(options: Parameters<FakeHost['startFluentd']>[0] = {}): FakeHost {
  const host = new FakeHost();
  const fluentd = host.startFluentd(options);
  host.appendLog(LOG, 'first line\n');
  fluentd.read(LOG);
  return host;
}
