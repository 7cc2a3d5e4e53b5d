import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { until } from './until.ts';

/** The names of cgroups v1 (memory.txt in the kernel's documentation) and v2. */
const KINDS = [
  {
    root: '/sys/fs/cgroup/memory',
    most: 'memory.limit_in_bytes',
    /** The limit includes the page cache, which the kernel gives back. */
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
  /** Once all processes in it are gone. */
  remove(): Promise<void>;
}

/** A container's memory limit, by its own cgroup; undefined if this machine cannot make one. */
export function limitMemory(mib: number): MemoryLimit | undefined {
  const kind = KINDS.find(({ root }) => existsSync(`${root}/cgroup.procs`));
  if (kind === undefined) return undefined;
  try {
    const dir = mkdtempSync(`${kind.root}/posidle-test-`);
    writeFileSync(`${dir}/${kind.most}`, String(mib * 2 ** 20));
    return {
      wrapper: ['sh', '-c', `echo $$ >${dir}/cgroup.procs && exec "$@"`, 'sh'],
      wasExceeded: () => kind.killed(dir),
      remove: async () => void (await until('the cgroup is empty', () => isGone(dir))),
    };
  } catch {
    return undefined;
  }
}

function isGone(dir: string): boolean {
  try {
    rmdirSync(dir);
  } catch {
    // EBUSY: a process is still in it.
  }
  return !existsSync(dir);
}
