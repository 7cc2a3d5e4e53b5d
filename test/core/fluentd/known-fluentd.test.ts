import { expect, test } from 'vitest';
import { haveSameProcesses, stillRunning } from '../../../src/core/fluentd/processes.ts';
import type { FluentdReading, ProcessRow } from '../../../src/core/progress/fluentd-reading.ts';
import { ABSENT, running } from '../../support/builders.ts';

const known = running({ successor: { pid: 50, startTime: '50' } });

function rowOf(pid: number, ppid: number, startTime: string): ProcessRow {
  return { pid, ppid, session: pid, startTime, zombie: false, argv: ['supervisor:app'] };
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
