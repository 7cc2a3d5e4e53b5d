import { describe, expect, test } from 'vitest';
import {
  findFamily,
  findInSession,
  findSupervisors,
  findWorkers,
  haveSameProcesses,
  isFluentd,
  stillRunning,
} from '../../../src/core/fluentd/processes.ts';
import type { FluentdReading, ProcessRow } from '../../../src/core/progress/fluentd-reading.ts';
import { ABSENT, row, running, SUPERVISOR, WORKER } from '../../support/builders.ts';

const words = (line: string) => line.split(' ');

describe('a command line', () => {
  test.each([
    'fluentd',
    'fluentd -c fluent.conf --no-supervisor',
    '/usr/local/bin/fluentd -c fluent.conf',
    '/usr/bin/ruby /usr/local/bin/fluentd -c fluent.conf',
    'ruby3.1 -Eascii-8bit:ascii-8bit /usr/local/bin/fluentd -c f.conf --under-supervisor',
    'ruby -W -E utf-8 -I lib /usr/bin/fluentd',
    '/opt/td-agent/bin/ruby /usr/sbin/td-agent --log /var/log/td-agent.log',
    'ruby /usr/local/bin/bundle exec fluentd -c f.conf',
    'jruby /usr/local/bin/fluentd',
    'supervisor:fluentd1',
    'worker:fluentd1',
  ])('%s is a Fluentd', (line) => {
    expect(isFluentd(words(line))).toBe(true);
  });

  test.each([
    '',
    'sh -c fluentd\u00a0-c\u00a0f.conf',
    '/bin/sh /usr/bin/fluentd-wrapper',
    'tini -- fluentd -c fluent.conf',
    'vim fluentd.conf',
    'vi /etc/fluent/fluentd',
    'node /usr/bin/posidle run -- fluentd -c fluent.conf',
    'ruby -e puts:1 fluentd',
    'ruby /usr/bin/irb fluentd',
    'fluent-bit -c fluentd',
    'fluentd --dry-run -c fluent.conf',
    'fluentd --version',
    'ruby /usr/bin/fluentd --setup /etc/fluent',
    'fluent-gem list fluentd',
    'supervisord -c fluentd',
  ])('%s is none', (line) => {
    expect(isFluentd(words(line))).toBe(false);
  });
});

describe('the supervisors of a process table', () => {
  test('are found among shells, inits, workers and zombies', () => {
    const table = [
      row({ pid: 1, ppid: 0, argv: words('tini -- sh -c fluentd') }),
      row({ pid: 2, ppid: 1, argv: ['sh', '-c', 'fluentd -c f.conf'] }),
      row({ pid: 3, ppid: 2, argv: SUPERVISOR }),
      row({ pid: 4, ppid: 3, argv: WORKER }),
      row({ pid: 5, ppid: 1, argv: SUPERVISOR, zombie: true }),
      row({ pid: 6, ppid: 1, argv: [] }),
    ];
    expect(findSupervisors(table).map(({ pid }) => pid)).toEqual([3]);
  });

  test.each([
    ['not the workers that are just being forked with its argv', { ppid: 3, argv: SUPERVISOR }, [3]],
    ['several where several independent ones run', { argv: ['supervisor:other'] }, [3, 4]],
    ['not the workers that are left', { argv: WORKER }, [3]],
  ])('are %s', (_, other, pids) => {
    const table = [row({ pid: 3, argv: SUPERVISOR }), row({ pid: 4, ...other })];
    expect(findSupervisors(table).map(({ pid }) => pid)).toEqual(pids);
  });
});

test('the workers of a supervisor are its live children that run as such', () => {
  const table = [
    row({ pid: 3, argv: SUPERVISOR }),
    row({ pid: 4, ppid: 3, argv: WORKER }),
    row({ pid: 5, ppid: 3, argv: ['worker:fluentd1'] }),
    row({ pid: 6, ppid: 3, argv: WORKER, zombie: true }),
    row({ pid: 7, ppid: 3, argv: ['sh'] }),
    row({ pid: 8, ppid: 99, argv: WORKER }),
  ];
  expect(findWorkers(table, 3).map(({ pid }) => pid)).toEqual([4, 5]);
});

const LEADER = { pid: 2, startTime: '1' };
const member = (changes: Parameters<typeof row>[0]) =>
  row({ ppid: 2, session: 2, argv: SUPERVISOR, ...changes });

describe('a session', () => {
  const shell = row({ ...LEADER, session: 2, argv: ['sh', '-c', 'fluentd; true'] });

  test('without a Fluentd has none, whatever its leader is', () => {
    expect(findInSession([shell, row({ pid: 3, argv: SUPERVISOR })], LEADER)).toBeUndefined();
  });

  test('has the newest of two Fluentds, the one that SIGUSR2 has put in the place of the other', () => {
    const members = [member({ pid: 9, startTime: '90' }), member({ pid: 3, startTime: '100' })];
    expect(findInSession([shell, ...members], LEADER)?.pid).toBe(3);
  });
});

test('a family has nobody in it once its pid is that of another process', () => {
  const child = member({ pid: 3 });
  const other = member({ pid: 2, ppid: 1, startTime: '2' });
  expect(findFamily([child], LEADER)).toEqual([child]);
  expect(findFamily([other, child], LEADER)).toEqual([]);
  expect(findInSession([other, child], LEADER)).toBeUndefined();
});

const known = running({ successor: { pid: 50, startTime: '50' } });

function rowOf(pid: number, ppid: number, startTime: string): ProcessRow {
  return row({ pid, ppid, startTime, argv: ['supervisor:app'] });
}

const supervisor = rowOf(known.supervisor.pid, 1, known.supervisor.startTime);
const worker = { ...rowOf(50, supervisor.pid, '50'), argv: ['worker:app'] };

test.each<[string, readonly ProcessRow[], number | undefined]>([
  ['is known while it is its child', [supervisor, rowOf(50, supervisor.pid, '50')], 50],
  // A table is read row by row, and the old supervisor may end meanwhile.
  ['stays known when it has lost its parent', [supervisor, rowOf(50, 1, '50')], 50],
  // Between fork and exec a worker has its supervisor's command line.
  ['is forgotten when it turns out to be a worker', [supervisor, worker], undefined],
  ['is forgotten when it is gone', [supervisor], undefined],
  ['is forgotten when its pid is another process', [supervisor, rowOf(50, 1, '99')], undefined],
])('the supervisor that takes the place of another one %s', (_, table, successor) => {
  expect(stillRunning(table, known)?.successor?.pid).toBe(successor);
});

test.each<[string, readonly ProcessRow[], FluentdReading]>([
  ['gone', [rowOf(50, 1, '50')], known],
  ['a zombie', [{ ...supervisor, zombie: true }], known],
  ['not known', [supervisor], ABSENT],
])('a supervisor that is %s runs no longer', (_, table, before) => {
  expect(stillRunning(table, before)).toBeUndefined();
});

test('a Fluentd whose workers or successor have changed has not the same processes', () => {
  const worker = (pid: number) => ({ pid, startTime: String(pid) });
  const two = running({ workers: [worker(1), worker(2)] });
  expect(haveSameProcesses(running({ workers: [worker(2), worker(1)] }), two)).toBe(true);
  for (const workers of [[worker(1)], [worker(1), worker(3)], [worker(1), { pid: 2, startTime: 'later' }]])
    expect(haveSameProcesses(running({ workers }), two)).toBe(false);
  expect(haveSameProcesses({ ...two, successor: worker(9) }, two)).toBe(false);
});
