import { describe, expect, test, vi } from 'vitest';
import type { FluentdReading } from '../../src/core/progress/fluentd-reading.ts';
import { FluentdFinder } from '../../src/daemon/find-fluentd.ts';
import { confOf, expectStops, LOG, POS, posText, run, subject } from '../support/builders.ts';
import { FakeHost } from '../support/fake-host.ts';
import { alive } from '../support/witnesses.ts';
import { busyHost, namesOf } from './busy-host.ts';

const find = (host: FakeHost, known?: FluentdReading, what = subject()) =>
  new FluentdFinder(host, what).find(known);
const follow = (host: FakeHost, known: FluentdReading, what = subject()) =>
  new FluentdFinder(host, what).follow(known);

describe('fluentd', () => {
  test('that goes on is looked at without the whole process table, until something changes', async () => {
    const { host } = busyHost();
    const tables: number[] = [];
    const { listProcesses } = host;
    host.listProcesses = (family) => {
      if (family === undefined) tables.push(host.now());
      return listProcesses.call(host, family);
    };
    host.at(20_500, (h) => h.endProcess(4243));
    host.at(30_500, (h) => h.startProcess({ pid: 4244, ppid: 4242, argv: ['worker:fake'] }));
    await run(host);
    expect(tables.filter((at) => at > 11_000 && at < 60_000)).toEqual([21_000, 31_000]);
  });

  test('counts neither as gone nor as new while nobody can list the processes', async () => {
    const { host } = busyHost();
    const known = await find(host);
    expect(known.kind).toBe('running');
    host.listProcesses = () => Promise.reject(new Error('the system has too many files open'));
    expect(await find(host, known)).toMatchObject({ ...known });
    expect(await follow(host, known)).toBe(known);
    expect(await find(host)).toEqual({ kind: 'absent', why: 'the system has too many files open' });
  });

  test('that cannot be looked at right before a signal gets none, and the reason is told', async () => {
    const { host } = busyHost();
    const sending = vi
      .spyOn(host, 'signal')
      .mockRejectedValue(new Error('the system has too many files open'));
    host.at(70_000, () => sending.mockRestore());
    const { report } = await run(host);
    const why = 'SIGINT was not sent to all: the system has too many files open';
    expect(report.done).toContainEqual({ what: why, failed: true });
  });

  test('whose worker was only just started gets no signal: it would die of it', async () => {
    const { host, fluentd } = busyHost();
    host.at(9_500, () => {
      host.endProcess(4243);
      host.starting.add(4244);
      fluentd.startWorker(4244);
    });
    host.at(10_000, () => host.request('done-file')).at(20_000, () => host.starting.delete(4244));
    await run(host, {}, { conf: confOf([LOG], '<match app>\n@type forward\n</match>\n') });
    expect(namesOf(host.sent)).toEqual(['SIGUSR1 4242', 'SIGINT 4242']);
    expect(Number(host.sent[0]?.split('@')[1])).toBeGreaterThanOrEqual(20_000);
  });
});

test('if it sees no fluentd, it says what would help', async () => {
  const why = expect.stringMatching(/needs a witness .*, or the Pod needs shareProcessNamespace$/);
  expect(await find(new FakeHost())).toMatchObject({ kind: 'absent', why });
});

describe('the search', () => {
  test('finds one of another user, which may not be told', async () => {
    const { host } = busyHost({ permitted: false });
    expect(await find(host)).toMatchObject({ kind: 'running', proof: 'not-permitted' });
  });

  test('gives up one that nothing proves for one that opens the pos file later', async () => {
    const host = new FakeHost();
    host.startProcess({ pid: 6000, argv: ['fluentd', '-c', 'other.conf'] });
    const known = await find(host);
    expect(known).toMatchObject({ supervisor: { pid: 6000 }, proof: 'none' });
    host.startFluentd();
    for (const depth of ['light', 'all'] as const) {
      const found = await new FluentdFinder(host, subject()).find(known, depth);
      expect(found).toMatchObject({ supervisor: { pid: 4242 }, proof: 'own' });
    }
  });

  test('takes none of several that nothing proves for one that has ended', async () => {
    const { host, fluentd } = busyHost();
    const finder = new FluentdFinder(host, subject());
    const known = await finder.find(undefined);
    for (const pid of [6000, 6001]) host.startProcess({ pid, argv: ['fluentd', '-c', `${pid}.conf`] });
    fluentd.end();
    const gone = await finder.find(known);
    expect(gone).toMatchObject({ kind: 'absent', why: 'Fluentd is gone' });
    expect(await finder.find(gone)).toEqual(gone);
    host.startFluentd({ pid: 5000 });
    expect(await finder.find(gone)).toMatchObject({ kind: 'running', supervisor: { pid: 5000 } });
  });

  test('finds workers without their supervisor only by their witness', async () => {
    const { host } = busyHost();
    const what = subject({ witness: '/posidle' });
    const known = await find(host, undefined, what);
    host.endProcess(4242);
    expect(await find(host, known, what)).toMatchObject({ kind: 'absent' });
    host.witnesses = [alive()];
    expect(await find(host, known, what)).toEqual({ kind: 'remote' });
  });

  test('takes the one whose witness listens, or will, where nothing proves any process', async () => {
    const host = new FakeHost();
    for (const pid of [6000, 6001]) host.startProcess({ pid, argv: ['fluentd', '-c', `${pid}.conf`] });
    expect((await find(host)).kind).toBe('ambiguous');
    const what = subject({ witness: '/posidle' });
    host.sign = 'starting';
    expect(await find(host, undefined, what)).toEqual({ kind: 'remote', isStarting: true });
    host.witnesses = [alive()];
    expect(await find(host, undefined, what)).toEqual({ kind: 'remote' });
  });

  test('does not take a worker that was seen before its exec for a supervisor', async () => {
    const { host } = busyHost();
    const forked = { pid: 4244, ppid: 4242, startTime: 'forked', argv: ['ruby', '/usr/bin/fluentd'] };
    host.startProcess(forked);
    const atFork = await find(host);
    host.startProcess({ ...forked, argv: [...forked.argv, '--under-supervisor'] });
    const known = await find(host, atFork);
    expect(known).toMatchObject({ supervisor: { pid: 4242 }, workers: [{ pid: 4243 }, { pid: 4244 }] });
    expect(known).not.toHaveProperty('successor');
    host.endProcess(4242);
    expect(await find(host, atFork)).toMatchObject({ kind: 'absent' });
  });

  test('finds a new supervisor beside the workers that an old one left', async () => {
    const { host } = busyHost();
    const known = await find(host);
    host.endProcess(4242);
    host.startFluentd({ pid: 5000 });
    expect(await find(host, known)).toMatchObject({ supervisor: { pid: 5000 } });
  });
});

test('after the stop order a supervisor is followed though its worker is gone already', async () => {
  const { host } = busyHost();
  const known = await find(host);
  host.endProcess(4243);
  expect(await follow(host, known)).toMatchObject({ kind: 'running', workers: [] });
});

describe("a parent's child", () => {
  const CHILD = 900;
  const asParent = subject({ fluentd: { by: 'session', leader: { pid: CHILD, startTime: 'started 0' } } });
  const found = (host: FakeHost, known?: FluentdReading) => find(host, known, asParent);
  const wrapped = (pid = 910, argv = ['ruby', '/usr/bin/fluentd']) => ({
    ...{ pid, ppid: CHILD, session: CHILD, argv },
  });
  const worker = (pid = 911) => ({ ...wrapped(pid, ['ruby', 'fluentd', '--under-supervisor']), ppid: 910 });
  const worldWithWrapper = (...processes: readonly ReturnType<typeof wrapped>[]) => {
    const host = new FakeHost();
    host.startProcess({ pid: CHILD, session: CHILD, argv: ['sh', '-c', 'fluentd -c f.conf; true'] });
    host.writeFile(POS, '');
    for (const process of processes) host.startProcess(process);
    return host;
  };

  test('that is a wrapper is no Fluentd, and the one that comes below it is found', async () => {
    const host = worldWithWrapper();
    const early = await found(host);
    expect(early).toMatchObject({ kind: 'wrapper', leader: { pid: CHILD }, since: 0 });
    await host.sleep(5_000);
    expect(await found(host, early)).toEqual(early);
    host.startProcess(wrapped());
    const known = await found(host, early);
    expect(known).toMatchObject({ kind: 'running', supervisor: { pid: 910 } });
    host.endProcess(910);
    const late = await found(host, known);
    expect(late.kind).toBe('wrapper');
    host.startProcess(wrapped(920));
    expect(await found(host, late)).toMatchObject({ supervisor: { pid: 920 } });
  });

  test('is starting until its worker has opened the pos file, and again while one of two that both had it is replaced', async () => {
    const host = worldWithWrapper(wrapped());
    const finder = new FluentdFinder(host, asParent);
    /** First while the worker has not opened the pos file, and then when it has. */
    const isStartingWith = async (pid: number) => {
      host.startProcess(worker(pid));
      host.starting.add(pid);
      const early = await finder.find(undefined);
      host.starting.clear();
      return [early, await finder.find(undefined)].map((found) => 'isStarting' in found && found.isStarting);
    };
    expect(await isStartingWith(911)).toEqual([true, false]);
    expect(await isStartingWith(912)).toEqual([false, false]);
    host.endProcess(912);
    expect(await isStartingWith(913)).toEqual([true, false]);
  });

  test('is up where one of its workers never opens a pos file', async () => {
    const host = worldWithWrapper(wrapped(), worker(911), worker(912));
    host.starting.add(912);
    expect(await found(host)).toMatchObject({ isStarting: false });
  });

  test('that becomes Fluentd itself is found under the same pid', async () => {
    const host = worldWithWrapper();
    const early = await found(host);
    host.startProcess({ ...wrapped(CHILD), ppid: 1 });
    expect(await found(host, early)).toMatchObject({ supervisor: { pid: CHILD } });
  });

  test('is looked through into other sessions, also when it has ended before its Fluentd', async () => {
    const elsewhere = { ...wrapped(905, ['sh', '-c', 'fluentd']), session: 905 };
    const host = worldWithWrapper(elsewhere, { ...wrapped(), ppid: 905, session: 905 });
    const known = await found(host);
    expect(known).toMatchObject({ kind: 'running', supervisor: { pid: 910 } });
    host.endProcess(CHILD);
    expect(await found(host, known)).toEqual(known);
  });

  test('that has ended leaves workers behind if a witness listens, and no orphans while it runs', async () => {
    const host = worldWithWrapper();
    host.witnesses = [alive()];
    const what = { ...asParent, witness: '/posidle' };
    expect(await find(host, undefined, what)).toEqual({ kind: 'remote' });
    host.endProcess(CHILD);
    expect(await find(host, undefined, what)).toEqual({ kind: 'remote', isOrphaned: true });
  });

  test('that has ended is not the process that has got its pid, and leaves nothing to look for', async () => {
    const host = new FakeHost();
    expect((await found(host)).kind).toBe('absent');
    host.startProcess({ ...wrapped(CHILD), ppid: 1, startTime: 'later' });
    expect((await found(host)).kind).toBe('absent');
  });

  test('is left alone if another Fluentd runs next to it', async () => {
    const host = worldWithWrapper();
    host.startFluentd();
    expect(await found(host)).toMatchObject({ kind: 'wrapper' });
  });

  test('that was told to end, and shows no Fluentd, is followed until it is gone', async () => {
    const host = worldWithWrapper();
    const known = await found(host);
    expect(await follow(host, known, asParent)).toEqual(known);
    host.endProcess(CHILD);
    expect((await follow(host, known, asParent)).kind).toBe('absent');
  });

  /** One line is read. */
  const readWorld = (...processes: readonly ReturnType<typeof wrapped>[]) => {
    const host = worldWithWrapper(...processes);
    host.appendLog(LOG, 'line\n');
    host.writeFile(POS, posText([{ path: LOG, position: 5, inode: host.files.get(LOG)?.inode ?? '' }]));
    return host;
  };
  const drained = (host: FakeHost) =>
    run(host, { role: 'parent', quiet: 'off' }, { fluentd: asParent.fluentd });

  test('gets the stop signal after ten seconds without a Fluentd, and never a flush', async () => {
    const host = readWorld().at(1_000, (h) => h.request('done-file'));
    const { outcome } = await drained(host);
    expect(namesOf(host.sent)).toEqual([`SIGINT ${CHILD}`]);
    expectStops(host, [`SIGINT ${CHILD} @10000`]);
    expect(outcome.end).toBe('stopped');
  });

  test('is not given up while the first look goes on, though main has ended', async () => {
    const host = readWorld();
    host.request('done-file');
    const list = host.listProcesses.bind(host);
    host.listProcesses = async () => {
      if (host.now() < 3_000) await new Promise<void>((done) => host.at(3_000, () => done()));
      return list();
    };
    expect((await drained(host)).outcome.end).toBe('stopped');
    expect(namesOf(host.sent)).toEqual([`SIGINT ${CHILD}`]);
  });
});
