import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuTimeOf, memoryOf } from './figures.ts';
import { callsAndPackages } from './floor.ts';
import { DRAIN, END } from './fluentd.ts';
import { INSPECT } from './inspect.ts';
import { makeSite, type Site } from './site.ts';

/** What is measured side by side. */
export type Subject = 'posidle' | 'calls + packages' | 'fluentd alone';
export type Figures = Partial<Record<Subject, number[]>>;

export const BUNDLE = 'dist/posidle.cjs';
/** Seconds of one measurement at rest: as often as posidle lists new files. */
const SPAN = 30;
/** Seconds before the first of them: V8 compiles what is hot, and collects what the start has left. */
const WARM_UP = 60;

/** The value that a goal limits: by default the median, else a distance from the floor: system calls and packages. */
export type Held = 'median' | 'times the floor' | 'above the floor';

export interface Row {
  readonly name: string;
  readonly unit: '% of a core' | 'MiB' | 'ms';
  readonly figures: Readonly<Partial<Record<Subject, readonly number[]>>>;
  readonly goal?: { readonly atMost: number; readonly of?: Held };
}

export interface Bench {
  readonly name: string;
  /** With so many measurements. */
  readonly run: (runs: number) => Promise<readonly Row[]>;
}

/** Absolute figures differ by a factor of three from machine to machine: the goals are distances from the floor. */
const REST: Bench = {
  name: 'rest',
  run: async (runs) => {
    const { cpu, memory } = await withSite(1_000, (site) => atRest(site, runs));
    const [unit, times] = ['% of a core', { atMost: 1.4, of: 'times the floor' }] as const;
    return [
      { name: 'CPU at rest, 1,000 files', unit, figures: cpu, goal: times },
      { name: 'RSS, 1,000 files', unit: 'MiB', figures: memory, goal: { atMost: 12, of: 'above the floor' } },
    ];
  },
};

export const BENCHES: readonly Bench[] = [REST, INSPECT, END, DRAIN];

export async function withSite<T>(files: number, use: (site: Site) => Promise<T>): Promise<T> {
  const site = makeSite(files);
  try {
    return await use(site);
  } finally {
    site.remove();
  }
}

export const MIB = 1024 ** 2;

export function add(figures: Figures, subject: Subject, figure: number): void {
  figures[subject] = [...(figures[subject] ?? []), figure];
}

/** All run side by side: what disturbs one disturbs each of them. */
async function atRest(site: Site, runs: number) {
  const children = await start(site);
  const result: Record<'cpu' | 'memory', Figures> = { cpu: {}, memory: {} };
  try {
    await pause(WARM_UP * 1_000);
    for (let run = 0; run < runs; run += 1) {
      const from = performance.now();
      const before = children.map(({ pid }) => cpuTimeOf(pid));
      await pause(SPAN * 1_000);
      for (const [index, { subject, pid }] of children.entries()) {
        const busy = (cpuTimeOf(pid) - (before[index] ?? 0)) / 1e6;
        add(result.cpu, subject, (100 * busy) / (performance.now() - from));
        add(result.memory, subject, memoryOf(pid) / MIB);
      }
    }
  } finally {
    for (const { child } of children) child.kill('SIGKILL');
  }
  return result;
}

interface Child {
  readonly subject: Subject;
  readonly child: ChildProcess;
  readonly pid: number;
}

async function start(site: Site): Promise<readonly Child[]> {
  const logs = dirname(site.logs[0] ?? '');
  const about = [logs, site.posFile, String(site.fluentd)];
  const commands: readonly (readonly [Subject, readonly string[]])[] = [
    ['posidle', [BUNDLE, ...site.watch]],
    ['calls + packages', [await callsAndPackages(dirname(site.posFile)), ...about]],
  ];
  return commands.map(([subject, args]) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore'] });
    return { subject, child, pid: child.pid ?? -1 };
  });
}
