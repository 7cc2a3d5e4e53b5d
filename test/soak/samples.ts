import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuTimeOf, memoryOf } from '../bench/figures.ts';

const MIB = 1024 ** 2;

export interface Sample {
  /** MiB. */
  readonly memory: number;
  readonly descriptors: number;
  /** Percent of a core, since the sample before. */
  readonly cpu: number;
}

/** What one process takes, from sample to sample. */
export class Meter {
  readonly samples: Sample[] = [];
  readonly #pid: number;
  #cpuTime: number;
  #at = performance.now();

  constructor(pid: number) {
    this.#pid = pid;
    this.#cpuTime = cpuTimeOf(pid);
  }

  take(): Sample {
    const [cpuTime, at] = [cpuTimeOf(this.#pid), performance.now()];
    const sample = {
      memory: memoryOf(this.#pid).all / MIB,
      descriptors: readdirSync(`/proc/${this.#pid}/fd`).length,
      cpu: (cpuTime - this.#cpuTime) / 1e4 / (at - this.#at),
    };
    [this.#cpuTime, this.#at] = [cpuTime, at];
    this.samples.push(sample);
    return sample;
  }
}

/** Linux lists them with CONFIG_PROC_CHILDREN (proc(5), /proc/pid/task/tid/children). */
export function workerOf(supervisor: number): number {
  const children = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
  return Number.parseInt(children, 10);
}

/** MiB in the files of a directory. */
export function sizeOf(dir: string): number {
  if (!existsSync(dir)) return 0;
  const sizes = readdirSync(dir).map(
    (name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0) / MIB;
}
