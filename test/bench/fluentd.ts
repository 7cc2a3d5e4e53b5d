import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryBuffer, output, type Section } from '../support/fluentd-conf.ts';
import { type FluentdRun, missingFluentd, NEWEST, startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';
import { anonymousMemoryOf, cpuTimeOf } from './figures.ts';
import { add, type Bench, BUNDLE, type Figures, MIB, type Row } from './rows.ts';
import { type Files, makeFiles } from './site.ts';

/** Fluentd sends each line within two seconds of reading it. */
const TO_STDOUT = output('stdout', {}, [memoryBuffer({ flush_interval: '1s' })]);
/** Nobody listens there, so a drain waits. */
const TO_NOBODY = output('http', { endpoint: 'http://127.0.0.1:1/' });
/** Long enough for all to be at rest. */
const REST = 4_000;
/** Seconds of a drain in which nothing comes. */
const WAIT = 10;
const TIMES = 2;

/**
 * Beside a real Fluentd with a witness, where nothing is left: from the done file to the end of Fluentd. Fluentd takes
 * 0.7 to 2.3 s for its own part, which would hide posidle's: each part has a row.
 */
export const END: Bench = { name: 'end', run: runEnd };
/** What a drain takes in a Pod with posidle asleep, as docker/README says. */
export const DRAIN: Bench = { name: 'drain', run: runDrain };

async function runEnd(runs: number): Promise<readonly Row[]> {
  if (isMissing()) return [];
  const [stop, own]: [Figures, Figures] = [{}, {}];
  for (let run = 0; run < TIMES * runs; run += 1) {
    add(own, 'fluentd alone', (await endOf(false)).own);
    const took = await endOf(true);
    add(own, 'posidle', took.own);
    add(stop, 'posidle', took.stop);
  }
  return [
    { name: 'done file → stop order, nothing left', unit: 'ms', figures: stop, goal: { atMost: 100 } },
    { name: "stop order → Fluentd's end", unit: 'ms', figures: own },
  ];
}

async function runDrain(runs: number): Promise<readonly Row[]> {
  if (isMissing()) return [];
  const [begin, wait, memory]: [Figures, Figures, Figures] = [{}, {}, {}];
  for (let run = 0; run < runs; run += 1) {
    const took = await besideFluentd(TO_NOBODY, drained);
    add(begin, 'posidle', took.begin);
    add(wait, 'posidle', took.wait);
    add(memory, 'posidle', took.memory);
  }
  return [
    { name: 'CPU at the beginning of a drain', unit: 'ms', figures: begin },
    { name: 'CPU of a drain that waits', unit: '% of a core', figures: wait },
    { name: 'memory of a drain (RssAnon)', unit: 'MiB', figures: memory },
  ];
}

function isMissing(): boolean {
  const missing = missingFluentd(NEWEST);
  if (missing !== undefined) console.error(`not measured: ${missing}`);
  return missing !== undefined;
}

/** Without posidle the bench itself sends SIGINT. */
function endOf(hasPosidle: boolean): Promise<{ readonly stop: number; readonly own: number }> {
  return besideFluentd(TO_STDOUT, async (files, fluentd) => {
    const tell = hasPosidle ? await watched(files) : undefined;
    await pause(REST + Math.random() * 1_000);
    const from = performance.now();
    if (tell === undefined) fluentd.process.kill('SIGINT');
    else await tell();
    const sent = performance.now();
    await fluentd.exited;
    return { stop: sent - from, own: performance.now() - sent };
  });
}

/** With a Fluentd that has read its log. */
async function besideFluentd<T>(match: Section, use: (files: Files, fluentd: FluentdRun) => Promise<T>) {
  const files = makeFiles(1, match);
  rmSync(files.posFile);
  const conf = readFileSync(files.conf, 'utf8');
  const fluentd = startFluentd({ version: NEWEST, dir: files.dir, conf });
  try {
    await fluentd.ready;
    await until('its log is read', () =>
      readFileSync(files.posFile, 'utf8').includes('\t0000000000000007\t'),
    );
    return await use(files, fluentd);
  } finally {
    fluentd.kill();
    rmSync(files.dir, { recursive: true });
  }
}

async function drained({ dir }: Files) {
  const args = ['drain', '--main-ended', '--grace', '60s', '--witness', witnessIn(dir)];
  const posidle = spawn(process.execPath, [BUNDLE, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  const pid = posidle.pid ?? -1;
  await logged(posidle, '→ draining');
  await pause(REST);
  const before = cpuTimeOf(pid);
  await pause(WAIT * 1_000);
  const wait = (100 * (cpuTimeOf(pid) - before)) / (WAIT * 1e9);
  const memory = anonymousMemoryOf(pid) / MIB;
  posidle.kill('SIGKILL');
  await once(posidle, 'exit');
  return { begin: before / 1e6, wait, memory };
}

/** Starts posidle. The result makes the done file, and waits until Fluentd gets the stop order. */
async function watched({ dir, conf }: Files) {
  const done = join(dir, 'done');
  const args = ['--fluent-conf', conf, '--quiet', 'off', '--witness', witnessIn(dir), '--done-file', done];
  const posidle = spawn(process.execPath, [BUNDLE, 'watch', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await logged(posidle, 'Fluentd reads');
  return async () => {
    writeFileSync(done, '');
    await logged(posidle, ' to stop');
  };
}

/** Waits for a word in what it logs. */
async function logged(posidle: ChildProcess, word: string): Promise<void> {
  let text = '';
  posidle.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await until(
    word,
    () => {
      if (posidle.exitCode !== null) throw new Error(`it has ended:\n${text}`);
      return text.includes(word);
    },
    { every: 2 },
  );
}
