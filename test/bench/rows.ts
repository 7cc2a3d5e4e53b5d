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

export interface Row {
  readonly name: string;
  readonly unit: '% of a core' | 'MiB' | 'ms' | 'KiB';
  readonly figures: Figures;
  /** Of the median, if it does not say of what: of all but one in a hundred, or of the ratio to bare node. */
  readonly goal?: { readonly atMost: number; readonly of?: 'p99' | 'bare node' };
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
  rest(1, { cpu: 0.1, memory: 50, own: 11 }),
  rest(100, { cpu: 0.15, memory: 50, own: 11 }),
  rest(1_000, { cpu: 0.5, memory: 55 }),
  rest(10_000, { cpu: 3, memory: 80 }),
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

interface RestGoals {
  readonly cpu: number;
  readonly memory: number;
  readonly own?: number;
}

function rest(files: number, goals: RestGoals): Bench {
  const count = `${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}`;
  const run = async (settings: Settings) => {
    const { cpu, memory, own } = await withSite(files, (site) => atRest(site, settings));
    const row = (name: string, unit: Row['unit'], figures: Figures, atMost: number): Row => {
      return { name: `${name}, ${count}`, unit, figures, goal: { atMost } };
    };
    return [
      row('CPU at rest', '% of a core', cpu, goals.cpu),
      row('RSS', 'MiB', memory, goals.memory),
      ...(goals.own === undefined ? [] : [row('RssAnon', 'MiB', own, goals.own)]),
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
  const result: Record<'cpu' | 'memory' | 'own', Partial<Record<Subject, number[]>>> = {
    cpu: {},
    memory: {},
    own: {},
  };
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
        const { all, own } = memoryOf(pid);
        add('memory', subject, all / MIB);
        add('own', subject, own / MIB);
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
