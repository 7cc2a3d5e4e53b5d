import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, constants, linkSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { askWitnesses, lookForFluentd, tellWitness } from '../../../src/node/witness/ask-witnesses.ts';
import { answer } from '../../support/said.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/until.ts';

vi.mock('node:fs/promises', { spy: true });

const WORKER = '1000-12.sock';
const MOST_BYTES = 16 * 2 ** 20;
const TOO_MANY = Array(400_000).fill(0);
const servers: Server[] = [];
const inDir = tempDir();

afterEach(() => {
  vi.resetAllMocks();
  for (const server of servers.splice(0)) server.close();
});

/** Listens as a worker's witness; `answers` gets each word. */
function witness(answers: (word: string, socket: Socket) => void, worker = WORKER): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (word) => answers(String(word), socket));
  });
  servers.push(server);
  return new Promise((resolve) => server.listen(inDir(worker), resolve));
}

/** As a worker leaves it that has died: nobody listens at the socket. */
async function die(worker = WORKER): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(inDir(`.${worker}`), resolve));
  linkSync(inDir(`.${worker}`), inDir(worker));
  server.close();
}

/** Runs the work as a user whom permissions stop: root passes them all. */
async function asNobody<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return await work();
  chmodSync(inDir(), 0o755);
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

const lastReport = (more = {}) => JSON.stringify({ v: 1, pid: 12, final: true, ...more });
const saying = (changed = {}) => `${JSON.stringify(answer(changed))}\n`;
const ask = async () => (await askWitnesses(inDir(), 'look')).witnesses;

test.each([
  ['before it has said a word', (socket: Socket) => socket.destroy()],
  ['in the middle of its answer', (socket: Socket) => socket.end(saying().slice(0, 20))],
])('a worker that ends while it is asked, %s, is gone', async (_, breakOff) => {
  await witness((_word, socket) => {
    for (const server of servers.splice(0)) server.close();
    breakOff(socket);
  });
  expect(await ask()).toEqual([{ worker: WORKER, kind: 'gone', report: undefined }]);
});

test('each socket is asked once, the oldest first', async () => {
  const words: string[] = [];
  const say = (word: string, socket: Socket) => {
    words.push(word);
    socket.end(saying());
  };
  await witness(say, '1000-12.sock');
  await witness(say, '900-11.sock');
  writeFileSync(inDir('up'), '');
  expect(await ask()).toMatchObject([
    { worker: '900-11.sock', kind: 'alive', report: { pid: 12 } },
    { worker: '1000-12.sock', kind: 'alive' },
  ]);
  expect(words).toEqual(['look\n', 'look\n']);
});

test('nobody is there without a directory, and without a socket', async () => {
  expect(await ask()).toEqual([]);
  expect((await askWitnesses(inDir('none'), 'look')).witnesses).toEqual([]);
  expect(await lookForFluentd(inDir())).toBe('unknown');
});

test('while the system can open no file, a witness counts as silent and not as gone', async () => {
  vi.mocked(opendir).mockRejectedValue(Object.assign(new Error('ENFILE'), { code: 'ENFILE' }));
  expect(await lookForFluentd(inDir())).toBe('listening');
  const why = 'its witness cannot be asked: the system has too many files open';
  expect(await askWitnesses(inDir(), 'look')).toEqual({
    at: expect.any(Number),
    witnesses: [{ worker: inDir(), kind: 'silent', why, isBusy: true }],
  });
});

test('while the system cannot open the mark of a life, Fluentd counts as alive', async () => {
  vi.mocked(open).mockRejectedValue(Object.assign(new Error('EMFILE'), { code: 'EMFILE' }));
  expect(await lookForFluentd(inDir())).toBe('listening');
});

describe('the directory shows that Fluentd', () => {
  const fifo = () => spawnSync('mkfifo', [inDir('lives')]);

  test('takes orders where a witness listens, also a silent one', async () => {
    fifo();
    await witness(() => {});
    expect(await lookForFluentd(inDir())).toBe('listening');
  });

  test('starts where only a process of it has the FIFO open', async () => {
    await die();
    fifo();
    const reader = openSync(inDir('lives'), constants.O_RDONLY | constants.O_NONBLOCK);
    expect(await lookForFluentd(inDir())).toBe('starting');
    closeSync(reader);
    expect(await lookForFluentd(inDir())).toBe('ended');
  });

  test('has not ended where no worker of it ever came: another Ruby program has', async () => {
    fifo();
    expect(await lookForFluentd(inDir())).toBe('unknown');
  });

  test('takes orders where the queue of its socket is full', async () => {
    const code = `const { connect, createServer } = require('node:net');
      const { parentPort, workerData } = require('node:worker_threads');
      createServer().listen({ path: workerData, backlog: 1 }, () => {
        for (let at = 0; at < 3; at += 1) connect(workerData).on('error', () => {});
        parentPort.postMessage('full');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`;
    const busy = new Worker(code, { eval: true, workerData: inDir(WORKER) });
    onTestFinished(async () => void (await busy.terminate()));
    await once(busy, 'message');
    expect(await ask()).toMatchObject([{ kind: 'silent', why: expect.stringContaining('EAGAIN') }]);
    expect(await lookForFluentd(inDir())).toBe('listening');
  });

  test('does not take orders at a socket that posidle may not open, and so keeps no stop waiting', async () => {
    await die();
    chmodSync(inDir(WORKER), 0);
    expect(await asNobody(ask)).toMatchObject([{ kind: 'silent', why: expect.stringContaining('EACCES') }]);
    expect(await asNobody(() => lookForFluentd(inDir()))).toBe('unknown');
    fifo();
    chmodSync(inDir('lives'), 0o666);
    expect(await asNobody(() => lookForFluentd(inDir()))).toBe('ended');
    chmodSync(inDir('lives'), 0);
    expect(await asNobody(() => lookForFluentd(inDir()))).toBe('unknown');
  });

  test.each([
    ['a file', () => writeFileSync(inDir('lives'), '')],
    ['a link', () => symlinkSync('/dev/null', inDir('lives'))],
  ])('is unknown where a neighbour put %s in the place of the FIFO', async (_, put) => {
    put();
    expect(await lookForFluentd(inDir())).toBe('unknown');
  });
});

describe('a worker that is gone', () => {
  const end = () => inDir('1000-12.end');

  test('has its last report', async () => {
    await die();
    writeFileSync(end(), lastReport());
    expect(await ask()).toMatchObject([{ kind: 'gone', report: { pid: 12, isFinal: true } }]);
  });

  test.each([
    ['where it died', () => {}],
    ['where it cannot be believed', () => writeFileSync(end(), '{"v":1')],
    ['where it is a link', () => symlinkSync('/proc/self/pagemap', end())],
    ['where it is too long', () => writeFileSync(end(), lastReport().padEnd(MOST_BYTES + 1))],
    ['where it has too many values', () => writeFileSync(end(), lastReport({ unknown: TOO_MANY }))],
  ])('has no last report %s', async (_, leave) => {
    await die();
    leave();
    expect(await ask()).toEqual([{ worker: WORKER, kind: 'gone', report: undefined }]);
    expect(await lookForFluentd(inDir())).toBe('unknown');
  });
});

test('of very many sockets the newest are asked, and nobody knows what an older worker left', async () => {
  writeFileSync(inDir('0-1.sock'), '');
  for (let at = 1; at < 1_001; at += 1) linkSync(inDir('0-1.sock'), inDir(`${at}-1.sock`));
  for (let at = 0; at < 1_001; at += 1) writeFileSync(inDir(`${at}-1.end`), lastReport());
  const [oldest, ...others] = await ask();
  expect(oldest).toEqual({ worker: '0-1.sock', kind: 'gone', report: undefined });
  expect(others).toHaveLength(1_000);
  for (const one of others) expect(one).toMatchObject({ kind: 'gone', report: { isFinal: true } });
});

describe('a witness that cannot be believed is silent, and says why:', () => {
  test.each<[string, (socket: Socket) => void, RegExp, boolean]>([
    ['an end without a word: its worker may be ending', (socket) => socket.end(), /no JSON/, true],
    ['another version', (socket) => socket.end('{"v":2}\n'), /does not believe/, false],
    ['too long an answer', (socket) => socket.end(saying().padEnd(MOST_BYTES + 1)), /is too long/, false],
    ['too many values', (socket) => socket.end(saying({ unknown: TOO_MANY })), /is too long/, false],
  ])('%s', async (_, say, why, isBusy) => {
    await witness((_, socket) => say(socket));
    expect(await ask()).toEqual([
      { worker: WORKER, kind: 'silent', why: expect.stringMatching(why), isBusy },
    ]);
  });
});

test('an answer may be as long as all answers together, and have as many values', async () => {
  // It takes its time on a busy machine.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const unknown = TOO_MANY.slice(60);
  await witness((_, socket) => socket.end(saying({ unknown }).padStart(MOST_BYTES)));
  expect(await ask()).toMatchObject([{ kind: 'alive' }]);
  await witness((_, socket) => socket.end(saying({ unknown })), '1001-13.sock');
  expect((await ask()).filter(({ kind }) => kind === 'alive').length).toBeLessThan(2);
});

test('a witness is waited for 2 s, and 5 s after a sign of life, each beside the others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const waits = (count: number) => until(`${count} timers run`, () => vi.getTimerCount() === count);
  const slow: Socket[] = [];
  await witness(() => {}, '1-1.sock');
  await witness((_, socket) => socket.write('{"v":1,'), '2-2.sock');
  await witness((_, socket) => slow.push(socket) && socket.write(' '), '3-3.sock');
  const asked = ask();
  // Two for each; a sign of life ends the shorter one.
  await waits(4);
  vi.advanceTimersByTime(2_000);
  await waits(2);
  slow[0]?.end(saying());
  await waits(1);
  vi.advanceTimersByTime(3_000);
  expect(await asked).toMatchObject([
    { kind: 'silent', why: expect.stringMatching(/did not answer within 2 s/) },
    { kind: 'silent', why: expect.stringMatching(/did not answer within 5 s/) },
    { kind: 'alive' },
  ]);
});

test('posidle waits for an answer no longer than its patience', async () => {
  await witness(() => {});
  const { witnesses } = await askWitnesses(inDir(), 'look', 300);
  expect(witnesses).toMatchObject([
    { kind: 'silent', why: expect.stringMatching(/did not answer within 0.3 s/) },
  ]);
});

test('an order is carried out or not', async () => {
  await witness((word, socket) =>
    socket.end(word === 'flush\n' ? '{"v":1,"done":"flush"}' : '{"v":1,"error":"not ready"}'),
  );
  expect(await tellWitness(inDir(), WORKER, 'flush')).toBe(true);
  expect(await tellWitness(inDir(), WORKER, 'stop')).toBe(false);
  expect(await tellWitness(inDir(), '1-1.sock', 'stop')).toBe(false);
});
