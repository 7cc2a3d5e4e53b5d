import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { missingFluentd, NEWEST, startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';
import { anonymousMemoryOf, cpuTimeOf } from './figures.ts';
import { add, type Bench, BUNDLE, type Figures, type Row, SPAN } from './rows.ts';
import { makeFiles } from './site.ts';

/** Nobody listens there, so the drain waits. */
const TO_NOBODY = '<match app>\n@type http\nendpoint http://127.0.0.1:1/\n</match>\n';
/** Seconds until the drain only waits. */
const BEGINNING = 3;

/** What a drain takes in a Pod with posidle asleep. The figures of docker/README come from here. */
export const DRAIN: Bench = { name: 'drain', run: runDrain };

async function runDrain(runs: number): Promise<readonly Row[]> {
  const missing = missingFluentd(NEWEST);
  if (missing !== undefined) {
    console.error(`not measured: ${missing}`);
    return [];
  }
  const [begin, wait, memory]: [Figures, Figures, Figures] = [{}, {}, {}];
  for (let run = 0; run < runs; run += 1) {
    const one = await drained();
    add(begin, 'posidle', one.begin);
    add(wait, 'posidle', one.wait);
    add(memory, 'posidle', one.memory);
  }
  return [
    { name: 'CPU at the beginning of a drain', unit: 'ms', figures: begin },
    { name: 'CPU of a drain that waits', unit: '% of a core', figures: wait },
    { name: 'memory of a drain (RssAnon)', unit: 'MiB', figures: memory },
  ];
}

async function drained() {
  const files = makeFiles(1, TO_NOBODY);
  rmSync(files.posFile);
  const conf = readFileSync(files.conf, 'utf8').replace('@type tail\n', '@type tail\nread_from_head true\n');
  const fluentd = startFluentd({ version: NEWEST, dir: files.dir, conf });
  try {
    await fluentd.ready;
    await until('its log is read', () =>
      readFileSync(files.posFile, 'utf8').includes('\t0000000000000007\t'),
    );
    const args = ['drain', '--main-ended', '--grace', '60s', '--witness', witnessIn(files.dir)];
    const posidle = spawn(process.execPath, [BUNDLE, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    const pid = posidle.pid ?? -1;
    let log = '';
    posidle.stderr.setEncoding('utf8').on('data', (part: string) => {
      log += part;
    });
    await until('it drains', () => log.includes('→ draining'));
    await pause(BEGINNING * 1_000);
    const before = cpuTimeOf(pid);
    await pause(SPAN * 1_000);
    const after = cpuTimeOf(pid);
    const memory = anonymousMemoryOf(pid) / 1024 ** 2;
    posidle.kill('SIGKILL');
    await once(posidle, 'exit');
    return { begin: before / 1e6, wait: (100 * (after - before)) / (SPAN * 1e9), memory };
  } finally {
    fluentd.kill();
    rmSync(files.dir, { recursive: true });
  }
}
