import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { exporter } from './export.ts';
import { cpuTimeOf, memoryOf } from './figures.ts';
import { CALLS, callsAndPackages } from './floor.ts';
import { END } from './fluentd.ts';
import { LATENCIES } from './latency.ts';
import { makeSite, type Site } from './site.ts';

/** What is measured: each name is a column of the table. */
export type Subject =
  | 'posidle'
  | 'against'
  | 'calls + packages'
  | 'calls alone'
  | 'bare node'
  | 'fluentd alone';
type Figures = Readonly<Partial<Record<Subject, readonly number[]>>>;

/** What a goal is held against: the median if it does not say, all but one in a hundred, or a distance. The floor: the calls and packages. */
export type Held = 'median' | 'p99' | 'bare node' | 'times the floor' | 'above the floor';

export interface Row {
  readonly name: string;
  readonly unit: '% of a core' | 'MiB' | 'ms' | 'KiB';
  readonly figures: Figures;
  readonly goal?: { readonly atMost: number; readonly of?: Held };
}

export interface Settings {
  /** The bundle, and the one that it is held against. */
  readonly bundles: Readonly<Partial<Record<'posidle' | 'against', string>>>;
  readonly runs: number;
  /** Seconds of one measurement at rest. */
  readonly span: number;
  /** Seconds before it: V8 compiles what is hot, and collects what the start has left. */
  readonly warmUp: number;
}

export interface Bench {
  readonly name: string;
  readonly run: (settings: Settings) => Promise<readonly Row[]>;
}

export const BENCHES: readonly Bench[] = [
  rest(1),
  rest(100),
  rest(1_000),
  rest(10_000),
  exporter({ files: 1_000, rotations: 0 }, { cpu: 0.5, memory: 60 }),
  exporter({ files: 10_000, rotations: 0 }, { cpu: 2, memory: 90 }),
  exporter({ files: 10_000, rotations: 100 }, { cpu: 3, memory: 120 }),
  { name: 'writes', run: runWrites },
  END,
  ...LATENCIES,
  { name: 'version', run: runVersion },
  { name: 'first-look', run: runFirstLook },
  { name: 'bundle', run: runBundle },
];

/** Absolute figures differ by a factor of three from machine to machine: the goals are distances from the floor. */
function rest(files: number): Bench {
  const count = `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}`;
  const run = async (settings: Settings): Promise<readonly Row[]> => {
    const { cpu, memory } = await withSite(files, (site) => atRest(site, settings));
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

async function withSite<T>(files: number, use: (site: Site) => Promise<T>): Promise<T> {
  const site = makeSite(files);
  try {
    return await use(site);
  } finally {
    site.remove();
  }
}

const MIB = 1024 ** 2;

/** All run side by side: what disturbs one disturbs each of them. */
async function atRest(site: Site, settings: Settings) {
  const children = await start(site, settings);
  const result: Record<'cpu' | 'memory', Partial<Record<Subject, number[]>>> = { cpu: {}, memory: {} };
  const add = (kind: keyof typeof result, subject: Subject, figure: number) => {
    result[kind][subject] = [...(result[kind][subject] ?? []), figure];
  };
  try {
    await pause(settings.warmUp * 1_000);
    for (let run = 0; run < settings.runs; run += 1) {
      const from = performance.now();
      const before = children.map(({ pid }) => cpuTimeOf(pid));
      await pause(settings.span * 1_000);
      for (const [index, { subject, pid }] of children.entries()) {
        const busy = (cpuTimeOf(pid) - (before[index] ?? 0)) / 1e6;
        add('cpu', subject, (100 * busy) / (performance.now() - from));
        add('memory', subject, memoryOf(pid) / MIB);
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

async function start(site: Site, { bundles }: Settings): Promise<readonly Child[]> {
  const logs = dirname(site.logs[0] ?? '');
  const about = [logs, site.posFile, String(site.fluentd)];
  const commands: readonly (readonly [Subject, readonly string[]])[] = [
    ...bundlesOf(bundles).map(([subject, bundle]) => [subject, [bundle, ...site.watch]] as const),
    ['calls + packages', [await callsAndPackages(dirname(site.posFile)), ...about]],
    ['calls alone', ['-e', CALLS, ...about]],
    ['bare node', ['-e', BARE]],
  ];
  return commands.map(([subject, args]) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore'] });
    return { subject, child, pid: child.pid ?? -1 };
  });
}

export function bundlesOf(bundles: Settings['bundles']) {
  return Object.entries(bundles) as ['posidle' | 'against', string][];
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

async function runWrites(settings: Settings): Promise<readonly Row[]> {
  return withSite(1, async (site) => {
    const writer = spawn(process.execPath, ['-e', WRITER, site.posFile, site.logs[0] ?? ''], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    try {
      const { cpu } = await atRest(site, settings);
      const name = 'CPU at 1,000 pos writes a second, 1 file';
      return [{ name, unit: '% of a core', figures: cpu, goal: { atMost: 0.5 } }];
    } finally {
      writer.kill('SIGKILL');
    }
  });
}

/** A B A B …: a machine that slows down slows both. */
async function inTurn(
  runs: number,
  measure: Readonly<Partial<Record<Subject, () => number | Promise<number>>>>,
) {
  const figures: Partial<Record<Subject, number[]>> = {};
  for (let run = -1; run < runs; run += 1) {
    for (const [name, once] of Object.entries(measure)) {
      const figure = await once();
      const subject = name as Subject;
      // The first run of each only fills the caches.
      if (run >= 0) figures[subject] = [...(figures[subject] ?? []), figure];
    }
  }
  return figures;
}

/** A start is short: so many times as many of it. */
const STARTS = 10;

function timed(args: readonly string[]): () => number {
  return () => {
    const from = performance.now();
    spawnSync(process.execPath, args, { stdio: 'ignore' });
    return performance.now() - from;
  };
}

async function runVersion({ bundles, runs }: Settings): Promise<readonly Row[]> {
  const posidle = bundlesOf(bundles).map(([subject, bundle]) => [subject, timed([bundle, '--version'])]);
  const figures = await inTurn(STARTS * runs, {
    ...Object.fromEntries(posidle),
    'bare node': timed(['-e', '0']),
  });
  return [{ name: '`--version`', unit: 'ms', figures, goal: { atMost: 1.5, of: 'bare node' } }];
}

async function runFirstLook({ bundles, runs }: Settings): Promise<readonly Row[]> {
  return withSite(1, async (site) => {
    const posidle = bundlesOf(bundles).map(([subject, bundle]) => [subject, () => firstLook(bundle, site)]);
    const figures = await inTurn(STARTS * runs, {
      ...Object.fromEntries(posidle),
      'bare node': timed(['-e', '0']),
    });
    return [{ name: 'start to first look', unit: 'ms', figures, goal: { atMost: 2.5, of: 'bare node' } }];
  });
}

/** The first look finds a position, and says so. */
function firstLook(bundle: string, site: Site): Promise<number> {
  const from = performance.now();
  const child = spawn(process.execPath, [bundle, ...site.watch], { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (!text.includes('Fluentd reads')) return;
      resolve(performance.now() - from);
      child.kill('SIGKILL');
    });
    child.once('exit', () => reject(new Error(`no look:\n${text}`)));
  });
}

async function runBundle({ bundles }: Settings): Promise<readonly Row[]> {
  const figures = Object.fromEntries(
    bundlesOf(bundles).map(([subject, bundle]) => [subject, [statSync(bundle).size / 1024]]),
  );
  return [{ name: 'the bundle', unit: 'KiB', figures, goal: { atMost: 153 } }];
}
