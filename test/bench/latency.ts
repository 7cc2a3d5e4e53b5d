import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { add, type Bench, BUNDLE, type Figures, type Row } from './rows.ts';
import { type Files, makeFiles } from './site.ts';

/**
 * Stands in for Fluentd, whose own time would hide posidle's: a supervisor and a worker that has opened its pos file. Its buffers are
 * empty, so it is told to stop without a flush. It tells of SIGINT, which ends it at once.
 */
const FLUENTD = `const { spawn } = require('node:child_process');
  const worker = spawn('bash', ['-c', 'exec 9>>"$0"; echo; exec -a worker:bench sleep 100000', process.argv[1]], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.on('SIGINT', () => process.send('SIGINT', () => worker.kill() && process.exit()));
  process.on('disconnect', () => worker.kill() && process.exit());
  worker.stdout.once('data', () => process.send('up'));`;

const match = (dir: string) =>
  `<match app>\n@type forward\n<buffer>\n@type file\npath ${dir}\n</buffer>\n<server>\nhost 127.0.0.1\n</server>\n</match>\n`;

const SETTLE = 2_000;
/** Long enough for looks that are as far apart as with the default. */
const QUIET = 2_000;
/** The looks at rest lie so far apart: a trigger may come at any time between two. */
const LOOKS = 1_000;

interface Place extends Files {
  readonly port: number;
  readonly posidle: ChildProcess;
}

interface Trigger {
  readonly name: string;
  readonly what: string;
  /** The options that arm it. */
  readonly args: (place: Omit<Place, 'posidle'>) => readonly string[];
  /** Begins the end; gives when the signal is due at the earliest. */
  readonly pull: (place: Place) => number | Promise<number>;
  readonly goal: NonNullable<Row['goal']>;
  /** Times as many as of the other figures. */
  readonly times: number;
}

const TRIGGERS: readonly Trigger[] = [
  {
    name: 'quiet',
    what: 'last movement + window → SIGINT',
    args: () => ['--quiet', `${QUIET}ms`],
    pull: ({ logs: [log = ''], posFile }) => {
      appendFileSync(log, 'x\n');
      const file = openSync(posFile, 'r+');
      writeSync(file, (9).toString(16).padStart(16, '0'), Buffer.byteLength(log) + 1);
      closeSync(file);
      return performance.now() + QUIET;
    },
    goal: { atMost: 150, of: 'p99' },
    times: 20,
  },
  {
    name: 'http',
    what: 'trigger → SIGINT − settle, HTTP, the first request of all',
    args: byHttp,
    pull: quit,
    goal: { atMost: 140 },
    times: 4,
  },
  {
    name: 'http-probed',
    what: 'trigger → SIGINT − settle, HTTP, after a probe',
    args: byHttp,
    pull: async (place) => {
      await (await fetch(`http://127.0.0.1:${place.port}/readyz`)).text();
      return quit(place);
    },
    goal: { atMost: 140 },
    times: 4,
  },
  {
    name: 'sigterm',
    what: 'trigger → SIGINT − settle, SIGTERM',
    args: () => ['--quiet', 'off'],
    pull: ({ posidle }) => {
      posidle.kill('SIGTERM');
      return performance.now() + SETTLE;
    },
    goal: { atMost: 140 },
    times: 4,
  },
  {
    name: 'done-file',
    what: 'trigger → SIGINT − settle, done file',
    args: ({ dir }) => ['--quiet', 'off', '--done-file', join(dir, 'done')],
    pull: ({ dir }) => {
      writeFileSync(join(dir, 'done'), '');
      return performance.now() + SETTLE;
    },
    goal: { atMost: 220 },
    times: 4,
  },
];

export const LATENCIES: readonly Bench[] = TRIGGERS.map((trigger) => ({
  name: `stop-${trigger.name}`,
  run: (runs) => latenciesOf(trigger, runs),
}));

async function latenciesOf(trigger: Trigger, runs: number): Promise<readonly Row[]> {
  const figures: Figures = {};
  for (let run = 0; run < trigger.times * runs; run += 1) add(figures, 'posidle', await drained(trigger));
  return [{ name: trigger.what, unit: 'ms', figures, goal: trigger.goal }];
}

/** The delay of the stop order, in addition to the settings. */
async function drained({ args, pull }: Trigger): Promise<number> {
  const files = makeFiles(1);
  const buffer = join(files.dir, 'buffer');
  mkdirSync(buffer);
  appendFileSync(files.conf, match(buffer));
  const fluentd = spawn(process.execPath, ['-e', FLUENTD, files.posFile], {
    argv0: 'supervisor:bench',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let told: number | undefined;
  fluentd.on('message', (word) => {
    if (word === 'SIGINT') told = performance.now();
  });
  const port = await freePort();
  let posidle: ChildProcess | undefined;
  try {
    await once(fluentd, 'message');
    const options = ['--fluent-conf', files.conf];
    posidle = spawn(process.execPath, [BUNDLE, 'watch', ...options, ...args({ ...files, port })], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const text = await logged(posidle, 'Fluentd reads');
    await pause(SETTLE + Math.random() * LOOKS);
    const due = await pull({ ...files, port, posidle });
    if (posidle.exitCode === null) await once(posidle, 'exit');
    if (told === undefined) throw new Error(`no stop:\n${text()}`);
    return told - due;
  } finally {
    for (const child of [fluentd, posidle]) child?.kill('SIGKILL');
    rmSync(files.dir, { recursive: true });
  }
}

/** Waits for a word in what it logs; gives what it has logged. */
export async function logged(posidle: ChildProcess, word: string): Promise<() => string> {
  let text = '';
  posidle.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  while (!text.includes(word)) {
    if (posidle.exitCode !== null) throw new Error(`it has ended:\n${text}`);
    await pause(10);
  }
  return () => text;
}

function byHttp({ port }: Pick<Place, 'port'>): readonly string[] {
  return ['--quiet', 'off', '--listen', `127.0.0.1:${port}`];
}

async function quit({ port }: Pick<Place, 'port'>): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const at = performance.now();
  socket.end('POST /quitquitquit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
  return at + SETTLE;
}
