import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DRAIN } from './drain.ts';
import { exporter } from './export.ts';
import { cpuTimeOf, memoryOf } from './figures.ts';
import { callsAndPackages } from './floor.ts';
import { END } from './fluentd.ts';
import { INSPECT } from './inspect.ts';
import { LATENCIES, logged } from './latency.ts';
import { makeSite, type Site } from './site.ts';

/** The measured values. Each name is a column of the table. */
export type Subject = 'posidle' | 'calls + packages' | 'bare node' | 'fluentd alone';
export type Figures = Partial<Record<Subject, number[]>>;

export const BUNDLE = 'dist/posidle.cjs';
/** Seconds of one measurement at rest. */
export const SPAN = 10;
/** Seconds before the first of them: V8 compiles what is hot, and collects what the start has left. */
export const WARM_UP = 60;

/** The value that a goal limits: by default the median, else the 99th percentile or a distance. The floor: system calls and packages. */
export type Held = 'median' | 'p99' | 'bare node' | 'times the floor' | 'above the floor';

export interface Row {
  readonly name: string;
  readonly unit: '% of a core' | 'MiB' | 'ms' | 'KiB';
  readonly figures: Readonly<Partial<Record<Subject, readonly number[]>>>;
  readonly goal?: { readonly atMost: number; readonly of?: Held };
}

export interface Bench {
  readonly name: string;
  /** With so many measurements. */
  readonly run: (runs: number) => Promise<readonly Row[]>;
}

export const BENCHES: readonly Bench[] = [
  rest(1),
  rest(100),
  rest(1_000),
  rest(10_000),
  exporter({ files: 1_000, rotations: 0 }, { cpu: 0.5, memory: 60 }),
  exporter({ files: 10_000, rotations: 0 }, { cpu: 2, memory: 90 }),
  exporter({ files: 10_000, rotations: 100 }, { cpu: 3, memory: 120 }),
  INSPECT,
  { name: 'writes', run: runWrites },
  END,
  DRAIN,
  ...LATENCIES,
  { name: 'version', run: runVersion },
  { name: 'first-look', run: runFirstLook },
  { name: 'bundle', run: runBundle },
];

/** Absolute figures differ by a factor of three from machine to machine: the goals are distances from the floor. */
function rest(files: number): Bench {
  const count = `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}`;
  const run = async (runs: number): Promise<readonly Row[]> => {
    const { cpu, memory } = await withSite(files, (site) => atRest(site, runs));
    return [
      {
        name: `CPU at rest, ${count}`,
        unit: '% of a core',
        figures: cpu,
        goal: { atMost: 1.4, of: 'times the floor' },
      },
      { name: `RSS, ${count}`, unit: 'MiB', figures: memory, goal: { atMost: 12, of: 'above the floor' } },
    ];
  };
  return { name: `rest-${files}`, run };
}

export async function withSite<T>(files: number, use: (site: Site) => Promise<T>): Promise<T> {
  const site = makeSite(files);
  try {
    return await use(site);
  } finally {
    site.remove();
  }
}

const MIB = 1024 ** 2;

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

const BARE = 'setInterval(() => {}, 1_000)';

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
    ['bare node', ['-e', BARE]],
  ];
  return commands.map(([subject, args]) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore'] });
    return { subject, child, pid: child.pid ?? -1 };
  });
}

/** in_tail writes a position after each read: 16 digits in their place. */
const WRITER = `const fs = require('node:fs');
  process.on('disconnect', () => process.exit());
  const [path, log] = process.argv.slice(1);
  const file = fs.openSync(path, 'r+');
  let position = 7;
  const due = performance.now();
  let done = 0;
  setInterval(() => {
    for (; done < performance.now() - due; done += 1) {
      fs.appendFileSync(log, 'x\\n');
      position += 2;
      fs.writeSync(file, position.toString(16).padStart(16, '0'), Buffer.byteLength(log) + 1);
    }
  }, 1)`;

async function runWrites(runs: number): Promise<readonly Row[]> {
  return withSite(1, async (site) => {
    const writer = spawn(process.execPath, ['-e', WRITER, site.posFile, site.logs[0] ?? ''], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    try {
      const { cpu } = await atRest(site, runs);
      const name = 'CPU at 1,000 pos writes a second, 1 file';
      return [{ name, unit: '% of a core', figures: cpu, goal: { atMost: 0.5 } }];
    } finally {
      writer.kill('SIGKILL');
    }
  });
}

/** A start is short: so many times as many of it. */
const STARTS = 10;

/** A B A B …, each beside a Node that does nothing: a machine that slows down slows both. */
async function inTurn(runs: number, posidle: () => number | Promise<number>): Promise<Figures> {
  const figures: Figures = {};
  // The first run of each only fills the caches.
  for (let run = -1; run < STARTS * runs; run += 1)
    for (const [subject, once] of [
      ['posidle', posidle],
      ['bare node', timed(['-e', '0'])],
    ] as const) {
      const figure = await once();
      if (run >= 0) add(figures, subject, figure);
    }
  return figures;
}

function timed(args: readonly string[]): () => number {
  return () => {
    const from = performance.now();
    spawnSync(process.execPath, args, { stdio: 'ignore' });
    return performance.now() - from;
  };
}

async function runVersion(runs: number): Promise<readonly Row[]> {
  const figures = await inTurn(runs, timed([BUNDLE, '--version']));
  return [{ name: '`--version`', unit: 'ms', figures, goal: { atMost: 1.5, of: 'bare node' } }];
}

async function runFirstLook(runs: number): Promise<readonly Row[]> {
  const figures = await withSite(1, (site) => inTurn(runs, () => firstLook(site)));
  return [{ name: 'start to first look', unit: 'ms', figures, goal: { atMost: 2.5, of: 'bare node' } }];
}

/** The first look finds a position, and says so. */
async function firstLook(site: Site): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, [BUNDLE, ...site.watch], { stdio: ['ignore', 'ignore', 'pipe'] });
  await logged(child, 'Fluentd reads');
  child.kill('SIGKILL');
  return performance.now() - from;
}

async function runBundle(): Promise<readonly Row[]> {
  const figures = { posidle: [statSync(BUNDLE).size / 1024] };
  return [{ name: 'the bundle', unit: 'KiB', figures, goal: { atMost: 150 } }];
}
