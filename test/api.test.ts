import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, expectTypeOf, test } from 'vitest';
import { inspect, type Outcome, run, UsageError, watch } from '../src/index.ts';
import { tempDir } from './support/temp-dir.ts';
import { until } from './support/until.ts';

const STAND_IN = ['fixtures/fake-fluentd.mjs'];

const inDir = tempDir();
let fluentd: ChildProcess;
let printed = '';

const posFile = () => inDir('app.pos');
const standIn = () => [...STAND_IN, '--path', inDir('*.log'), '--pos-file', posFile()];

beforeEach(() => {
  writeFileSync(inDir('app.log'), 'line 1\n');
});

afterEach(() => {
  fluentd?.kill('SIGKILL');
});

async function startStandIn(): Promise<number> {
  printed = '';
  fluentd = spawn(process.execPath, standIn(), { argv0: 'fluentd', stdio: ['ignore', 'pipe', 'inherit'] });
  fluentd.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk;
  });
  await until('the stand-in is ready', () => printed.includes('ready'));
  return fluentd.pid ?? 0;
}

test('watch resolves to the outcome, and tells each transition', async () => {
  const pid = await startStandIn();
  const names: string[] = [];
  const outcome = await watch({
    posFiles: [posFile()],
    fluentd: { by: 'pid', pid },
    quiet: 500,
    settle: 200,
    onTransition: ({ to }) => names.push(to),
  });
  expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven', trigger: 'quiet' });
  expect(names).toEqual(['watching', 'draining', 'stopping', 'stopped']);
  expectTypeOf(outcome).toEqualTypeOf<Outcome>();
});

test('aborting begins the drain: the last lines are delivered', async () => {
  const pid = await startStandIn();
  const end = new AbortController();
  const watching = watch({
    posFiles: [posFile()],
    fluentd: { by: 'pid', pid },
    settle: 300,
    signal: end.signal,
    onTransition: ({ to }) => {
      if (to !== 'watching') return;
      appendFileSync(inDir('app.log'), 'line 2\n');
      end.abort();
    },
  });
  expect(await watching).toMatchObject({ outcome: 'unproven', trigger: 'abort' });
  expect(printed).toMatch(/delivered line 2/);
});

test('run starts the command and leaves nothing of it behind', async () => {
  const command = ['sh', '-c', `exec -a fluentd "$0" "$@"`, process.execPath, ...standIn()];
  const outcome = await run(['bash', ...command.slice(1)], {
    posFiles: [posFile()],
    quiet: 500,
    settle: 200,
  });
  expect(outcome).toMatchObject({ end: 'stopped', outcome: 'unproven' });
});

test('an error names an option by its key in the library', async () => {
  const wrong = { posFiles: ['a.pos'], stratum: 1 };
  await expect(watch({ fluentConf: '/none.conf' })).rejects.toThrow(
    /^`fluentConf`: \/none\.conf: .*`posFiles`$/,
  );
  await expect(watch(wrong)).rejects.toThrow(/^no such option: stratum;/);
  await expect(inspect(wrong)).rejects.toThrow(/^no such option: stratum; there are posFiles, fluentConf$/);
});

test('a task without anything to look at is refused', async () => {
  await expect(watch({ fluentConf: inDir('no-such.conf') })).rejects.toThrow(UsageError);
});
