import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, type TestContext, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { inspectedDir } from '../support/inspected-dir.ts';
import { limitMemory } from '../support/memory-limit.ts';
import { childOf } from '../support/own-processes.ts';
import {
  ALONE,
  CLI,
  CONTAINER,
  POSIDLE,
  type PosidleRun,
  posidle,
  SLOW_STATS,
  startPosidle,
} from '../support/posidle.ts';
import { until } from '../support/until.ts';

/** A broken or hostile main that shares a volume or loopback with posidle. These tests need no Fluentd. */
const { at, conf } = inspectedDir();
const runs: PosidleRun[] = [];

afterEach(() => {
  for (const run of runs.splice(0)) run.kill('SIGKILL');
});

/** In a container with so much memory. */
function inMemory(
  context: TestContext,
  mib: number,
  args: readonly string[],
  before: readonly string[] = [],
) {
  const limit = limitMemory(mib);
  if (limit === undefined) return context.skip('no cgroup can be made here');
  onTestFinished(() => limit.remove());
  const run = startPosidle(args, { wrapper: [...before, ...limit.wrapper, ...POSIDLE] });
  runs.push(run);
  return { run, limit };
}

describe('128 MiB are enough for', () => {
  test.for<[string, () => readonly string[], RegExp]>([
    [
      'a pos file of 16,000 paths of 240 bytes that are no UTF-8',
      () => {
        const line = (index: number) =>
          Buffer.from(
            `/${'\xff'.repeat(239)}${index}\t${'0'.repeat(16)}\t${(index + 1).toString(16)}\n`,
            'latin1',
          );
        writeFileSync(
          at('app.pos'),
          Buffer.concat(Array.from({ length: 16_000 }, (_, index) => line(index))),
        );
        return ['-p', at('app.pos')];
      },
      /"files":16000/,
    ],
    [
      'a pos file of the longest paths',
      () => {
        const line = (_: unknown, index: number) => `/${'x'.repeat(4_000)}${index}\t${'0'.repeat(16)}\t1\n`;
        writeFileSync(at('app.pos'), Array.from({ length: 4_000 }, line).join(''));
        return ['-p', at('app.pos')];
      },
      /its 4000 lines need 13\d\.\d MiB of memory/,
    ],
    [
      '15,000 files in a directory with a path of 3,600 bytes',
      () => {
        const deep = at(`logs/${Array.from({ length: 18 }, () => 'd'.repeat(199)).join('/')}`);
        mkdirSync(deep, { recursive: true });
        for (let name = 0; name < 15_000; name += 1) writeFileSync(join(deep, `${name}.log`), 'x\n');
        writeFileSync(at('app.pos'), '');
        conf('fluent.conf', [at('logs/**/*.log'), at('app.pos')]);
        return ['-c', at('fluent.conf')];
      },
      /its names need more memory than the limit allows/,
    ],
  ])('%s', async ([, make, told], context) => {
    const port = await freePort();
    const listen = ['--listen', `127.0.0.1:${port}`];
    const { run, limit } = inMemory(
      context,
      128,
      ['watch', ...make(), ...listen, '--witness', 'off'],
      CONTAINER,
    );
    const status = () =>
      fetch(`http://127.0.0.1:${port}/status`).then(
        (answer) => answer.text(),
        (error: Error) => String(error.cause),
      );
    await until('a look tells it', async () => told.test(await status()), {
      within: 120_000,
      every: 500,
    }).catch(async (error) => {
      throw new Error(`${error.message}: ${limit.wasExceeded()} ${await status()} ${run.stderr()}`);
    });
    const inner = childOf(run.pid);
    process.kill(inner, 'SIGTERM');
    await run.logged(/^posidle got SIGTERM, and Fluentd is not up/);
    process.kill(inner, 'SIGTERM');
    expect(await run.exited, run.stderr()).toBe(4);
    expect(limit.wasExceeded()).toBe(false);
  });
});

describe('in the place of a witness, and within 128 MiB,', () => {
  const numbers = Array.from({ length: 390_000 }, (_, index) => `"k${index}":1.5`).join(',');
  const endless = (socket: Socket) => {
    const part = Buffer.alloc(2 ** 20, 'x');
    const go = () => {
      while (socket.writable && socket.write(part));
      socket.once('drain', go);
    };
    go();
  };

  test.for<[string, number, (socket: Socket) => unknown]>([
    ['two that say 390,000 numbers', 2, (socket) => socket.end(`{"v":1,"pid":1,"more":{${numbers}}}`)],
    ['three that never end', 3, endless],
    ['a thousand that say 32 KB', 1_000, (socket) => socket.end(`{"v":1,"more":"${'x'.repeat(32_000)}"}`)],
  ])('%s end no posidle, and hold it up no longer than it says', async ([, count, say], context) => {
    for (let worker = 1; worker <= count; worker += 1) {
      const server = createServer((socket) => {
        socket.on('error', () => {}).once('data', () => say(socket));
        onTestFinished(() => void socket.destroy());
      });
      await once(server.listen(at(`${worker}-${worker}.sock`)), 'listening');
      onTestFinished(() => void server.close());
    }
    writeFileSync(at('app.pos'), '');
    writeFileSync(at('done'), '');
    const times = ['--start-timeout', '1s', '--drain-timeout', '3s', '--stop-timeout', '1s'];
    const args = [
      'watch',
      '-p',
      at('app.pos'),
      '--witness',
      at(),
      '--done-file',
      at('done'),
      '--strict',
      ...times,
    ];
    const { run, limit } = inMemory(context, 128, args, CONTAINER);
    const began = performance.now();
    expect(await run.exited, run.stderr()).not.toBe(0);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(run.log().at(-1)).toMatchObject({ outcome: { outcome: 'unproven' } });
    expect(limit.wasExceeded()).toBe(false);
  });
});

test('clients that never read take no memory from an exporter in 128 MiB', async (context) => {
  const logs = at(Array.from({ length: 14 }, () => 'd'.repeat(199)).join('/'));
  mkdirSync(logs, { recursive: true });
  const entry = (_: unknown, index: number) => {
    writeFileSync(join(logs, `${index}.log`), 'x\n');
    return `${logs}/${index}.log\t${'0'.repeat(16)}\t${'0'.repeat(16)}\n`;
  };
  writeFileSync(at('app.pos'), Array.from({ length: 2_000 }, entry).join(''));
  const port = await freePort();
  const listen = ['--listen', String(port), '--interval', '200ms', '--per-file', '2000'];
  const { run, limit } = inMemory(context, 128, ['export', at('app.pos'), ...listen]);
  const url = `http://127.0.0.1:${port}/metrics`;
  const size = () =>
    fetch(url).then(
      async (answer) => (answer.ok ? (await answer.text()).length : 0),
      () => 0,
    );
  await until('it answers', size);
  for (let client = 0; client < 300; client += 1) {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n'),
    );
    socket.on('error', () => {}).pause();
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
  }
  expect(await size()).toBeGreaterThan(2 ** 20);
  expect(limit.wasExceeded()).toBe(false);
  run.kill('SIGTERM');
  expect(await run.exited).toBe(0);
});

test('signals do not wait for a look at very many files', async () => {
  mkdirSync(at('logs'));
  // With the slow stats a look takes 30 s.
  for (let name = 0; name < 3_000; name += 1) writeFileSync(at(`logs/${name}.log`), '');
  writeFileSync(at('app.pos'), '');
  conf('fluent.conf', [at('logs/*.log'), at('app.pos')]);
  const run = startPosidle(['watch', '-c', at('fluent.conf')], {
    wrapper: ['sh', '-c', `${SLOW_STATS} exec "$0" "$@"`, ...ALONE],
  });
  runs.push(run);
  await run.logged(/^posidle watches/);
  const inner = childOf(run.pid);
  process.kill(inner, 'SIGTERM');
  await run.logged(/^posidle got SIGTERM, and Fluentd is not up/, 15_000);
  process.kill(inner, 'SIGTERM');
  const second = performance.now();
  expect(await run.exited).toBe(4);
  expect(performance.now() - second).toBeLessThan(15_000);
});

test('below a root every link leads on below it, and none out of it', async () => {
  const write = (name: string, text: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
    return statSync(at(name)).ino;
  };
  const link = (name: string, target: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    symlinkSync(target, at(name));
  };
  const chain = (name: string, target: string) => {
    for (let left = 50; left > 0; left -= 1)
      link(left === 50 ? name : `${name}.${left}`, left === 1 ? target : `${basename(name)}.${left - 1}`);
  };
  const inode = write('host/secret.log', 'secret\n');
  const source = (posFile: string, path: string) =>
    `<source>\n @type tail\n pos_file ${posFile}\n path ${path}\n</source>\n`;
  write('host/secret.conf', source('/secret.pos', '/logs/*.log'));
  // As the kubelet links /var/log/containers.
  write('root/pods/web/0.log', 'one\ntwo\n');
  link('root/logs/web.log', '/pods/web/0.log');
  link('root/logs/up.log', '../../host/secret.log');
  link('root/logs/absolute.log', at('host/secret.log'));
  link('root/more', at('host'));
  link('root/linked', '/pods/web');
  chain('root/logs/chain.log', at('host/secret.log'));
  link('root/beside/x.log', at('host/secret.log'));
  write('root/data/buffer.b00000000000000000000000000000000.log', 'chunk');
  link('root/buffer', '/data');
  link('root/own', at('host'));
  write('host/buffer.b00000000000000000000000000000000.log', 'secret');
  link('root/etc/all/a.conf', at('host/secret.conf'));
  execFileSync('mkfifo', [at('root/etc/all/b.conf')]);
  link('root/etc/all/c.conf', '/parts/c.conf');
  write('root/parts/c.conf', source('/app.pos', '/logs/*.log,/more/*.log,/linked/*.log'));
  const output = (path: string) =>
    `<match x>\n @type null\n <buffer>\n @type file\n path ${path}\n </buffer>\n</match>\n`;
  write(
    'root/etc/fluent.conf',
    `@include ../../host/secret.conf\n@include all/*.conf\n${output('/buffer')}${output('/own')}`,
  );
  const entry = (path: string) => `${path}\t0000000000000000\t${inode.toString(16).padStart(16, '0')}\n`;
  write('root/app.pos', entry('/logs/chain.log') + entry('/logs/absolute.log') + entry('/beside/y.log'));
  const { stdout } = await posidle('inspect', '--root', at('root'), '-c', '/etc/fluent.conf', '--json');
  const { posFiles, undiscovered } = JSON.parse(stdout);
  expect(posFiles.map(({ path }: { path: string }) => path)).toEqual(['/app.pos']);
  expect(posFiles[0].entries).toMatchObject([
    { path: '/logs/chain.log', size: null, lag: null },
    { path: '/logs/absolute.log', size: null, state: 'unreadable' },
    { path: '/beside/y.log', size: null, state: 'missing' },
  ]);
  expect(undiscovered.map(({ path, size }: { path: string; size: number }) => [path, size])).toEqual([
    ['/linked/0.log', 8],
    ['/logs/web.log', 8],
  ]);
  const table = await posidle('inspect', '--root', at('root'), '-c', '/etc/fluent.conf');
  const told = table.stdout + table.stderr;
  expect(told).toMatch(/buffers: 1 chunk \(5 B\)/);
  expect(told).toMatch(/chain\.log: too many symbolic links/);
  expect(told).toMatch(/all\/b\.conf: it cannot be read \(it is a pipe/);
});

test('posidle signals only the process that holds the pos file open, among several that call themselves Fluentd', () => {
  writeFileSync(at('app.pos'), '');
  writeFileSync(at('done'), '');
  const options = '-p app.pos --done-file done --drain-timeout 1s';
  // Fluentd's worker holds the pos file open, and its supervisor takes SIGUSR1 for a flush.
  writeFileSync(
    at('container'),
    `(exec -a 'supervisor: web' sleep 90) & web=$!
    (exec -a fluentd sleep 90) & decoy=$!
    (exec -a supervisor:x bash -c '(exec 9>>app.pos; exec -a worker:x sleep 90) &
      trap : USR1; trap "kill $!; exit" INT; while :; do wait; done') & real=$!
    "${process.execPath}" "${CLI}" watch ${options} --start-timeout 20s; echo posidle: $?
    for name in web decoy real; do kill -0 \${!name} 2>/dev/null && echo $name lives; done; true`,
  );
  const { stdout, stderr } = inContainer();
  expect(stdout, stderr).toBe('posidle: 0\nweb lives\ndecoy lives\n');
});

test('run sends nothing to a process that got the pid of its dead child', () => {
  // The child leaves a process that calls itself fluentd. When that is gone too, the child's pid is free, and taken at once.
  const child = 'echo $$ > leader; (exec -a fluentd sleep 100) & echo $! > fluentd';
  writeFileSync(
    at('container'),
    `"${process.execPath}" "${CLI}" run -p app.pos -- bash -c '${child}' 2>said & posidle=$!
    until [ -s fluentd ]; do :; done
    fluentd=$(<fluentd) leader=$(<leader)
    until grep -q 'fluentd runs' said; do :; done
    kill $fluentd; while kill -0 $fluentd; do :; done
    echo $((leader - 1)) > /proc/sys/kernel/ns_last_pid
    setsid sleep 90 & neighbour=$!
    [ $neighbour = $leader ] && echo has its pid
    wait $posidle; echo posidle: $?
    kill -0 $neighbour && echo lives`,
  );
  const { stdout } = inContainer();
  expect(stdout, readFileSync(at('said'), 'utf8')).toBe('has its pid\nposidle: 0\nlives\n');
});

/** Runs the script `container` as the init of a PID namespace: when it ends, so does everything in it. */
function inContainer() {
  return spawnSync('unshare', ['-Urpf', '--kill-child', '--mount-proc', 'bash', 'container'], {
    cwd: at(),
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
}
