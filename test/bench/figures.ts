import { readdirSync, readFileSync } from 'node:fs';

/** Nanoseconds on a processor so far, of all threads (Documentation/scheduler/sched-stats.rst). */
export function cpuTimeOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, time) => sum + time, 0);
}

/** Bytes of memory (proc(5), /proc/pid/status). */
export function memoryOf(pid: number): number {
  return memoryIn(pid, 'VmRSS');
}

/** Without mapped files: what a container's limit holds when memory is short. */
export function anonymousMemoryOf(pid: number): number {
  return memoryIn(pid, 'RssAnon');
}

function memoryIn(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly n: number;
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  const median = (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2;
  return { median, min: at(0), max: at(sorted.length - 1), n: sorted.length };
}
