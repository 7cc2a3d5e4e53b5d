import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { monitorAgent, renderConf } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { type FluentdRun, missingFluentd, NEWEST, startFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';
import { logged } from './latency.ts';
import { atRest, type Bench, bundlesOf, type Row, type Settings, type Subject } from './rows.ts';
import { type Files, makeFiles, watchForGood } from './site.ts';

/** What is measured beside a real Fluentd. */
export const BESIDE_FLUENTD: readonly Bench[] = [
  busyLogs(100, 0.5),
  busyLogs(2_000, 4),
  { name: 'end', run: runEnd },
];

const NOWHERE = '<match app>\n@type null\n</match>\n';

/** A line a second into each of the logs. */
const WRITER = `const fs = require('node:fs');
  process.on('disconnect', () => process.exit());
  const dir = process.argv[1];
  const paths = fs.readdirSync(dir).map((name) => dir + '/' + name);
  const size = Math.ceil(paths.length / 20);
  let next = 0;
  setInterval(() => {
    for (const path of paths.slice(next, next + size)) fs.appendFileSync(path, 'a line\\n');
    next = (next + size) % (20 * size);
  }, 50)`;

function busyLogs(logs: number, atMost: number): Bench {
  const count = logs.toLocaleString('en');
  const run = (settings: Settings) =>
    withFluentd(logs, NOWHERE, async (files, fluentd) => {
      const writer = spawn(process.execPath, ['-e', WRITER, dirname(files.logs[0] ?? '')], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      try {
        const watch = watchForGood(files.dir, fluentd.pid, files.conf);
        const { cpu } = await atRest({ ...files, fluentd: fluentd.pid, watch }, settings);
        const name = `CPU beside Fluentd, ${count} logs with a line a second`;
        return [{ name, unit: '% of a core' as const, figures: cpu, goal: { atMost } }];
      } finally {
        writer.kill('SIGKILL');
      }
    });
  return { name: `busy-${logs}`, run };
}

/** A Fluentd that has read so many logs; nothing where there is none on this machine. */
async function withFluentd<T>(
  logs: number,
  match: string,
  use: (files: Files, fluentd: FluentdRun) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const missing = missingFluentd(NEWEST);
  if (missing !== undefined) {
    console.error(`not measured: ${missing}`);
    return [];
  }
  const files = makeFiles(logs, match);
  rmSync(files.posFile);
  const conf = readFileSync(files.conf, 'utf8').replace('@type tail\n', '@type tail\nread_from_head true\n');
  const fluentd = startFluentd({ version: NEWEST, dir: files.dir, conf });
  try {
    await fluentd.ready;
    const read = () => readFileSync(files.posFile, 'utf8').match(/\t0{15}7\t/g)?.length ?? 0;
    await until('Fluentd has read every log', () => read() === logs, { within: 60_000 });
    return await use(files, fluentd);
  } finally {
    fluentd.kill();
    rmSync(files.dir, { recursive: true });
  }
}

/** What is read is sent within a second or two. */
const TO_STDOUT =
  '<match app>\n@type stdout\n<buffer>\n@type memory\nflush_interval 1s\n</buffer>\n</match>\n';
/** The default of `--settle`. */
const SETTLE = 2_000;
const TIMES = 2;

/**
 * Where nothing is left, from main's end, when posidle gets SIGTERM, to the end of Fluentd. Fluentd takes 0.7 to 2.3 s for its own part, which would
 * hide posidle's: each part has a row.
 */
async function runEnd({ bundles, runs }: Settings): Promise<readonly Row[]> {
  if (missingFluentd(NEWEST) !== undefined) return [];
  const stop: Partial<Record<Subject, number[]>> = {};
  const own: Partial<Record<Subject, number[]>> = {};
  for (let run = 0; run < TIMES * runs; run += 1)
    for (const [subject, bundle] of [['fluentd alone', undefined], ...bundlesOf(bundles)] as const) {
      const took = await endOf(bundle);
      own[subject] = [...(own[subject] ?? []), took.own];
      if (bundle !== undefined) stop[subject] = [...(stop[subject] ?? []), took.stop];
    }
  return [
    { name: "main's end → SIGINT − settle, nothing left", unit: 'ms', figures: stop, goal: { atMost: 300 } },
    { name: "SIGINT → Fluentd's end", unit: 'ms', figures: own },
  ];
}

/** Without a bundle the bench itself sends SIGINT. */
async function endOf(bundle: string | undefined): Promise<{ readonly stop: number; readonly own: number }> {
  const port = await freePort();
  const match = `${TO_STDOUT}${renderConf([monitorAgent(port)])}`;
  const [took] = await withFluentd(1, match, async ({ conf }, fluentd) => {
    const posidle = bundle === undefined ? undefined : await started(bundle, conf, fluentd);
    await pause(2 * SETTLE + Math.random() * 1_000);
    const from = performance.now();
    if (posidle === undefined) fluentd.process.kill('SIGINT');
    else {
      posidle.kill('SIGTERM');
      await logged(posidle, 'sent SIGINT');
    }
    const sent = performance.now();
    await fluentd.exited;
    return [{ stop: sent - from - SETTLE, own: performance.now() - sent }];
  });
  if (took === undefined) throw new Error('no Fluentd');
  return took;
}

async function started(bundle: string, conf: string, { pid }: FluentdRun): Promise<ChildProcess> {
  const args = ['watch', '--pid', String(pid), '--fluent-conf', conf, '--quiet', 'off'];
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  await logged(child, 'Fluentd reads');
  return child;
}
