import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { onTestFinished, type TestContext } from 'vitest';
import { until } from './until.ts';

/** The names of cgroups v1 (memory.txt in the kernel's documentation) and v2. */
const KINDS = [
  {
    root: '/sys/fs/cgroup/memory',
    most: 'memory.limit_in_bytes',
    /** What is in the page cache counts for the limit too, and is let go of. */
    killed: (dir: string) => /oom_kill [1-9]/.test(readFileSync(`${dir}/memory.oom_control`, 'utf8')),
  },
  {
    root: '/sys/fs/cgroup',
    most: 'memory.max',
    killed: (dir: string) => /oom_kill [1-9]/.test(readFileSync(`${dir}/memory.events`, 'utf8')),
  },
];

export interface MemoryLimit {
  /** Words that stand before a command, which then has no more memory than that. */
  readonly wrapper: readonly string[];
  /** The kernel has killed a process that wanted more. */
  wasExceeded(): boolean;
}

/** A container's memory limit, by a cgroup of its own; skips the test where none can be made. */
export function memoryLimit(context: TestContext, mib: number): MemoryLimit {
  const kind = KINDS.find(({ root }) => existsSync(`${root}/cgroup.procs`));
  let dir = '';
  try {
    dir = mkdtempSync(`${kind?.root}/posidle-test-`);
    writeFileSync(`${dir}/${kind?.most}`, String(mib * 2 ** 20));
  } catch {
    context.skip('no cgroup can be made here');
  }
  onTestFinished(async () => void (await until('the cgroup is empty', () => isGone(dir))));
  return {
    wrapper: ['sh', '-c', `echo $$ >${dir}/cgroup.procs && exec "$@"`, 'sh'],
    wasExceeded: () => kind?.killed(dir) === true,
  };
}

function isGone(dir: string): boolean {
  try {
    rmdirSync(dir);
  } catch {
    // EBUSY: a process is still in it.
  }
  return !existsSync(dir);
}
