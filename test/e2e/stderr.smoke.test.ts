import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { needsRoot } from '../support/needs.ts';
import { POSIDLE, startPosidle } from '../support/posidle.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

const inDir = tempDir();
/** Nobody reads it. */
const FIFO = 'mkfifo -m 600 fifo; exec 3<>fifo';
const OF_ANOTHER = 'chown 65534 fifo; set -- setpriv --bounding-set=-all --inh-caps=-all "$@"';

const CHILD = ['sh', '-c', 'touch begun; exec sleep 600'];

const watched = () => ['-p', inDir('app.pos'), '--done-file', inDir('done'), '--witness', 'off'];

test.for([
  ['a pipe', FIFO],
  ['a pipe of another user', `${FIFO}; ${OF_ANOTHER}`],
] as const)(
  '%s that is full since the child started keeps no signal from posidle',
  async ([, stderr], context) => {
    if (stderr !== FIFO) needsRoot(context);
    const posidle = ['run', ...watched(), '--grace', '1s', '--stop-timeout', '1s', '--', ...CHILD];
    const words = ['-c', `${stderr}; exec "$@" 2>&3`, 'sh', ...POSIDLE, ...posidle];
    const running = spawn('sh', words, { cwd: inDir(), stdio: 'ignore' });
    onTestFinished(() => void running.kill('SIGKILL'));
    await until('the child runs', () => existsSync(inDir('begun')));
    fill(inDir('fifo'));
    running.kill('SIGTERM');
    expect(await once(running, 'exit')).toEqual([0, null]);
  },
);

function fill(fifo: string): void {
  const file = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  for (const part of [Buffer.alloc(4_096), Buffer.alloc(1)])
    expect(() => {
      for (;;) writeSync(file, part);
    }).toThrow('EAGAIN');
  closeSync(file);
}

/** Listens as a witness that says nothing; gives the number of connections that have ended. */
async function mute(): Promise<() => number> {
  let ended = 0;
  const server = createServer((socket) => socket.on('error', () => {}).once('close', () => (ended += 1)));
  onTestFinished(() => void server.close());
  await once(server.listen(inDir('1000-1.sock')), 'listening');
  return () => ended;
}

test('a full pipe of another user keeps no signal from posidle, also after a witness was asked', async (context) => {
  needsRoot(context);
  const ended = await mute();
  const posidle = ['watch', '--witness', inDir(), '--grace', '1s'];
  const fill = `${FIFO}; timeout 1 yes >&3; ${OF_ANOTHER}`;
  const words = ['-c', `${fill}; exec "$@" 2>&3`, 'sh', ...POSIDLE, ...posidle];
  const running = spawn('sh', words, { cwd: inDir(), stdio: 'ignore' });
  onTestFinished(() => void running.kill('SIGKILL'));
  await until('two connections have ended', () => ended() >= 2);
  running.kill('SIGTERM');
  expect(await once(running, 'exit')).toEqual([0, null]);
});

test('a socket of datagrams takes what posidle says', async () => {
  const datagrams: string[] = [];
  const socket = createSocket('udp4', (datagram) => datagrams.push(String(datagram)));
  onTestFinished(() => void socket.close());
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  const stderr = `exec 3<>/dev/udp/127.0.0.1/${socket.address().port}`;
  const posidle = ['drain', '--witness', inDir(), '--grace', '1s'];
  const words = ['-c', `${stderr}; exec "$@" 2>&3`, 'bash', ...POSIDLE, ...posidle];
  expect(await once(spawn('bash', words, { stdio: 'ignore' }), 'exit')).toEqual([4, null]);
  await until('the end is told', () => datagrams.some((one) => one.includes('exit code 4')));
});

test('the pipe that posidle shares with others still blocks them, also after a witness was asked', async () => {
  const ended = await mute();
  const wrapper = ['bash', '-c', 'exec "$@" 2> >(exec cat >&2)', 'bash', ...POSIDLE];
  const posidle = startPosidle(['watch', '--witness', inDir()], { wrapper });
  onTestFinished(() => posidle.kill('SIGKILL'));
  await until('two connections have ended', () => ended() >= 2);
  const told = readFileSync(`/proc/${posidle.pid}/fdinfo/2`, 'utf8');
  const flags = Number.parseInt(/^flags:\s+(\d+)$/m.exec(told)?.[1] ?? '', 8);
  expect(flags & constants.O_NONBLOCK).toBe(0);
});

/** The file of a ConfigMap: the command of the package has another loader. */
const WRONG = [process.execPath, 'dist/posidle.cjs', 'drain', '--nonsense'];

test.for([
  ['on a full disk', 'exec 2>/dev/full; "$@"'],
  ['that nobody reads any more', 'set -o pipefail; { sleep 1; exec "$@" 2>&1; } | true'],
] as const)('a wrong option has its exit code also with a stderr %s', ([, script]) => {
  const { status } = spawnSync('bash', ['-c', script, 'bash', ...WRONG]);
  expect(status).toBe(2);
});
