import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { cpuTimeOf, memoryOf } from './figures.ts';
import { type Bench, BUNDLE, type Row, SPAN, WARM_UP } from './rows.ts';
import { makeSite } from './site.ts';

const MIB = 1024 ** 2;

/** A line a second into each log, all of it read at once. On a busy machine a position may come late: it tells for how long a line has waited at most. */
const LOAD = `const fs = require('node:fs');
  const [posFile] = process.argv.slice(1);
  const files = fs.readFileSync(posFile, 'utf8').trimEnd().split('\\n').map((line) => line.split('\\t'));
  const hex = (number) => number.toString(16).padStart(16, '0');
  const pos = fs.openSync(posFile, 'r+');
  const size = Math.ceil(files.length / 20);
  let done = 0;
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
    fs.writeSync(pos, files.map((file) => file.join('\\t') + '\\n').join(''), 0);
    waited = Math.max(waited, performance.now() - began);
    done = (done + size) % files.length;
  };
  setInterval(writeSome, 50)`;

/** `export` beside busy files, with a look every five seconds and a scrape every ten. */
export function exporter(files: number, goals: { readonly cpu: number; readonly memory: number }): Bench {
  const count = `${files.toLocaleString('en')} busy files`;
  return {
    name: `export-${files}`,
    run: async (runs) => {
      const { cpu, memory } = await measured(files, runs);
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

async function measured(files: number, runs: number) {
  const site = makeSite(files);
  const port = await freePort();
  const options = ['--listen', `127.0.0.1:${port}`];
  const load = spawn(process.execPath, ['-e', LOAD, site.posFile], {
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
        await expectTruth(await scrape(), load);
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

/** No file stands still, unless its position did. */
async function expectTruth(metrics: string, load: ChildProcess): Promise<void> {
  const wrong = metrics.match(/^posidle_standstill_seconds [1-9]\d.*$/gm);
  if (wrong === null) return;
  load.send('');
  const [waited] = await once(load, 'message');
  const why = `${wrong.join()}; a line has waited ${Math.round(waited)} ms for its position`;
  if (waited < LATE) throw new Error(why);
  console.error(`not counted: ${why}`);
}
