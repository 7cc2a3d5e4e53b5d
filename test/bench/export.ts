import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { cpuTimeOf, memoryOf } from './figures.ts';
import { type Bench, BUNDLE, type Row, SPAN, WARM_UP } from './rows.ts';
import { makeSite } from './site.ts';

const MIB = 1024 ** 2;

/**
 * A line a second into each log, all of it read at once; and so many logs are rotated a second. On a busy machine a position may
 * come late: it tells for how long a line has waited for its position at most.
 */
const LOAD = `const fs = require('node:fs');
  const [posFile, rotated] = process.argv.slice(1);
  const files = fs.readFileSync(posFile, 'utf8').trimEnd().split('\\n').map((line) => line.split('\\t'));
  const hex = (number) => number.toString(16).padStart(16, '0');
  const pos = fs.openSync(posFile, 'r+');
  const size = Math.ceil(files.length / 20);
  let done = 0;
  let round = 0;
  let waited = 0;
  process.on('message', () => process.send(waited));
  process.on('disconnect', () => process.exit());
  const writeSome = () => {
    const began = performance.now();
    const some = files.slice(done, done + size);
    for (const file of some) {
      fs.appendFileSync(file[0], 'a line\\n');
      file[1] = hex(parseInt(file[1], 16) + 7);
    }
    const turn = (round * rotated / 20) % size;
    for (const file of some.slice(turn, turn + rotated / 20)) {
      fs.renameSync(file[0], file[0] + '.1');
      fs.writeFileSync(file[0], 'a line\\n');
      file[1] = hex(7);
      file[2] = hex(fs.statSync(file[0]).ino);
    }
    fs.writeSync(pos, files.map((file) => file.join('\\t') + '\\n').join(''), 0);
    waited = Math.max(waited, performance.now() - began);
    done = (done + size) % files.length;
    if (done === 0) round += 1;
  };
  setInterval(writeSome, 50)`;

interface Load {
  readonly files: number;
  /** A second. */
  readonly rotations: number;
}

/** `export` beside busy files, with a look every five seconds and a scrape every ten. */
export function exporter(load: Load, goals: { readonly cpu: number; readonly memory: number }): Bench {
  const { files, rotations } = load;
  const count = `${files.toLocaleString('en')} busy files${rotations > 0 ? `, ${rotations} rotations a second` : ''}`;
  const name = `export-${files}${rotations > 0 ? '-rotated' : ''}`;
  return {
    name,
    run: async (runs) => {
      const { cpu, memory } = await measured(load, runs);
      const row = (what: string, unit: Row['unit'], figures: readonly number[], atMost: number): Row => {
        return { name: `${what} of export, ${count}`, unit, figures: { posidle: figures }, goal: { atMost } };
      };
      return [row('CPU', '% of a core', cpu, goals.cpu), row('RSS', 'MiB', memory, goals.memory)];
    },
  };
}

/** A window holds six looks: in one of 10 s there are one, two or three. */
const SPANS = 3;
const SCRAPES = 10_000;

async function measured({ files, rotations }: Load, runs: number) {
  const site = makeSite(files);
  const port = await freePort();
  const options = ['--listen', `127.0.0.1:${port}`, ...(rotations > 0 ? ['--per-file', '10000'] : [])];
  const load = spawn(process.execPath, ['-e', LOAD, site.posFile, `${rotations}`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // As docker/exporter/daemonset starts it.
  const command = ['--v8-pool-size=1', BUNDLE, 'export', site.posFile, ...options];
  const env = { ...process.env, MALLOC_TRIM_THRESHOLD_: '65536' };
  const child = spawn(process.execPath, command, { stdio: 'ignore', env });
  const pid = child.pid ?? -1;
  const figures = { cpu: [] as number[], memory: [] as number[] };
  try {
    const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await until(
      'some looks',
      async () => /^posidle_looks_total [3-9]/m.test(await scrape().catch(() => '')),
      {
        within: 120_000,
      },
    );
    const scraping = async (seconds: number) => {
      const from = performance.now();
      while (performance.now() - from < seconds * 1_000) {
        await expectTruth(await scrape(), { files, rotations }, load);
        await pause(Math.min(SCRAPES, seconds * 1_000));
      }
    };
    await scraping(WARM_UP);
    for (let run = 0; run < runs; run += 1) {
      const from = performance.now();
      const before = cpuTimeOf(pid);
      await scraping(SPANS * SPAN);
      figures.cpu.push((cpuTimeOf(pid) - before) / 1e4 / (performance.now() - from));
      figures.memory.push(memoryOf(pid) / MIB);
    }
  } finally {
    for (const one of [load, child]) one.kill('SIGKILL');
    site.remove();
  }
  return figures;
}

/** in_tail looks once a second, and reads in small steps. */
const LATE = 10_000;

/**
 * Each file is told once, but for those between their rename and their new file. No file stands still, unless its position
 * did.
 */
async function expectTruth(metrics: string, { files, rotations }: Load, load: ChildProcess): Promise<void> {
  const told = metrics.match(/^posidle_file_lag_bytes\{/gm)?.length ?? 0;
  const most = rotations > 0 ? files : 0;
  if (told > most || told < most - rotations) throw new Error(`${told} files have series, not ${most}`);
  const wrong = metrics.match(/^posidle_standstill_seconds [1-9]\d.*$/gm);
  if (wrong === null) return;
  load.send('');
  const [waited] = await once(load, 'message');
  const why = `${wrong.join()}; a line has waited ${Math.round(waited)} ms for its position`;
  if (waited < LATE) throw new Error(why);
  console.error(`not counted: ${why}`);
}
