import { chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  type Delivery,
  DRAINED,
  ONE_VERSION,
  onFluentd,
  runDelivery,
  SOON,
  startBeside,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, renderConf, type Section, tail, toFile } from '../support/fluentd-conf.ts';
import { needsRoot } from '../support/needs.ts';
import { childOf, commandLine } from '../support/own-processes.ts';
import { ALONE, CONTAINER, loading, POSIDLE, startPosidle } from '../support/posidle.ts';
import { witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const LATE = { flush_interval: '60s' };
const source = (site: Site) => tail(site.log('*.log'), site.pos, { refresh_interval: '1s' });
const inMemory = (site: Site): Section[] => [source(site), toFile(site.out, memoryBuffer(LATE))];
const onDisk = (site: Site): Section[] => [source(site), toFile(site.out, fileBuffer(site.buffer, LATE))];
const write = (site: Site) => () => site.write('app.log', 1_000);

const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];
/** The wrapper that changes the mounts of what it runs, and of nobody else. */
const inMounts = (script: string) => ['unshare', '--mount', 'sh', '-c', `${script}; exec "$@"`, 'sh'];
const HIDDEN = 'mount -t proc -o hidepid=2,gid=1 proc /proc; set -- setpriv --bounding-set -sys_ptrace "$@"';
const readOnly = (dir: string) =>
  `mount --bind ${dir} ${dir}; mount -o remount,bind,ro ${dir}; mount -o remount,bind,ro /`;

onFluentd(ONE_VERSION, (version) => {
  test.for([
    ['on a full disk', 'exec "$@" 2>/dev/full'],
    ['a pipe whose reader is gone', 'mkfifo fifo; (read _ <fifo) & exec "$@" 2>fifo'],
  ] as const)('a stderr that is %s ends no posidle early', async ([, script], { site }) => {
    const words = ['watch', '-p', site.pos, '--start-timeout', '1s', '--termination-log', site.termination];
    const alone = startPosidle(words, { cwd: site.dir, wrapper: ['sh', '-c', script, 'sh', ...ALONE] });
    expect(await alone.exited).toBe(4);
    expect(readFileSync(site.termination, 'utf8')).toContain('"end":"no-fluentd"');
  });

  test('a wrapper that starts Fluentd late is not stopped by an old pos file and done file: what waits on disk is delivered', async ({
    site,
  }) => {
    const late: Delivery = {
      version,
      conf: onDisk(site),
      before: async () => {
        await site.write('app.log', 1_000);
        const earlier = startBeside(site, { version, conf: onDisk(site) });
        await until('everything is in the buffer', () => site.buffered() === 1_000);
        await earlier.stop();
        expect(site.delivered()).toBe(0);
        writeFileSync(site.marker, '');
      },
      command: (words) => ['sh', '-c', 'sleep 3; exec "$0" "$@"', ...words],
    };
    expect(await runDelivery(site, late)).toMatchObject(DRAINED);
  });

  test.for([
    [
      'a shell that takes SIGUSR1, and does not exec it',
      ['sh', '-c', 'trap : USR1; sleep 1; "$0" "$@"; true'],
    ],
    ['a session of its own', ['setsid', '--fork', '--wait']],
  ] as const)(
    'behind %s it is Fluentd that is flushed and stopped, and its lines are delivered',
    async ([, wrapper], { site }) => {
      const args = ['-c', site.conf];
      const command = (words: readonly string[]) => [...wrapper, ...words];
      const how = { version, conf: inMemory(site), before: write(site), command, args };
      const ended = await runDelivery(site, how);
      expect(ended).toMatchObject(DRAINED);
      expect(ended.seconds).toBeLessThan(SOON);
    },
  );

  test('processes that a wrapper started in other sessions end with its Fluentd', async ({ site }) => {
    const pidFile = join(site.dir, 'other.pid');
    const script = `setsid sh -c 'echo $$ >${pidFile}; exec sleep 300' & "$0" "$@"; wait`;
    const ended = await runDelivery(site, {
      ...{ version, conf: inMemory(site), before: write(site), args: ['-c', site.conf] },
      command: (words) => ['sh', '-c', script, ...words],
    });
    expect(ended).toMatchObject(DRAINED);
    expect(commandLine(readFileSync(pidFile, 'utf8').trim())).not.toMatch(/sleep/);
  });

  test('the lines that a throttled input has read at the end of the grace period are delivered', async ({
    site,
  }) => {
    const ended = await runDelivery(site, {
      version,
      conf: [
        tail(site.log('*.log'), site.pos, { read_bytes_limit_per_second: '50k' }),
        toFile(site.out, fileBuffer(site.buffer)),
      ],
      main: async () => {
        await site.write('app.log', 20_010);
        await until('some lines are in the buffer', () => site.buffered() > 1_500);
      },
      end: (posidle) => posidle.kill('SIGTERM'),
      args: ['--grace', '12s'],
    });
    expect(ended.delivered).toBeGreaterThan(1_500);
    // in_tail reads on until its shutdown, and a file buffer is not flushed there.
    expect(site.buffered()).toBeLessThan(4_000);
    expect(ended.seconds).toBeLessThan(30);
    const named = expect.arrayContaining([expect.objectContaining({ path: site.log('app.log') })]);
    expect(ended).toMatchObject({ code: 3, outcome: { outcome: 'not-drained', left: { worst: named } } });
  });

  test('a SIGTERM that comes before Fluentd is up leaves it the time to read and to deliver', async ({
    site,
  }) => {
    await site.write('app.log', 1_000);
    writeFileSync(site.conf, renderConf(inMemory(site)));
    // posidle keeps 10 s of it to stop Fluentd, which must be up before.
    const words = ['watch', '-c', site.conf, '--quiet', 'off', '--grace', '40s', '--strict'];
    const early = startPosidle([...words, '--witness', witnessIn(site.dir)], { wrapper: ALONE });
    await early.logged(/^posidle sees no process of fluentd/);
    process.kill(childOf(early.pid), 'SIGTERM');
    await early.logged(/^posidle got SIGTERM, and Fluentd is not up/);
    const fluentd = startBeside(site, { version, conf: inMemory(site) });
    expect(await early.exited).toBe(3);
    expect(early.log().at(-1)?.msg).toMatch(/unproven: main: nobody said in time that it has ended[^;]*$/);
    expect(await fluentd.exited).toEqual({ code: 0, signal: null });
    expect(site.delivered()).toBe(1_000);
  });

  const beside = (site: Site, changed: Partial<Delivery>) =>
    watchDelivery(site, { version, conf: inMemory(site), main: write(site), ...changed });

  test('a Fluentd that stays stopped is killed at the stop timeout, and its unread bytes are reported', async ({
    site,
  }) => {
    const ended = await beside(site, {
      args: ['--drain-timeout', '5s', '--stop-timeout', '2s'],
      main: async () => {
        process.kill(-Number(readFileSync(site.pidFile, 'utf8')), 'SIGSTOP');
        await site.write('app.log', 1_000);
      },
    });
    expect(ended).toMatchObject({ code: 3, outcome: { end: 'killed' } });
    expect(JSON.stringify(ended.outcome)).toContain(site.log('app.log'));
    expect(ended.log).toContainEqual(saying(/Fluentd still runs .* after the stop signal/));
    expect(ended.log).toContainEqual(saying(/its witness did not answer .* Is Fluentd stopped/));
  });

  test('where /proc shows no process of others (hidepid), the witness is enough', async ({ site }) => {
    const ended = await beside(site, { wrapper: inMounts(HIDDEN) });
    expect(ended).toMatchObject(DRAINED);
    expect(ended.log).toContainEqual(saying(/^told worker .* to stop/));
  });

  test('where posidle can write nowhere, only its termination message is missing', async ({ site }) => {
    const ended = await beside(site, { wrapper: inMounts(readOnly(site.dir)) });
    expect(ended).toMatchObject({ ...DRAINED, outcome: null });
    expect(ended.log).toContainEqual(saying(/drained: /));
    expect(ended.log).toContainEqual(
      saying(/^the termination message cannot be written: read-only file system/),
    );
  });

  /** No fluentd on PATH can be asked what Ruby gives, and nobody looks inside. */
  const blindly = (site: Site, changed: Partial<Delivery>) =>
    beside(site, {
      witness: false,
      wrapper: ['env', `PATH=${site.dir}`],
      args: ['--drain-timeout', '6s'],
      ...changed,
    });

  test('without a witness outputs in a file that cannot be included may hold a buffer: it is flushed', async ({
    site,
  }) => {
    const [input = source(site), out] = onDisk(site);
    writeFileSync(join(site.dir, 'more.conf'), renderConf(out ? [out] : []));
    const conf: Section[] = [
      { ...input, params: { ...input.params, '@label': '@MORE' } },
      { name: 'label', arg: '@MORE', params: { '@include': '"#{Dir.pwd}/more.conf"' } },
    ];
    const main = async () => {
      await site.write('app.log', 1_000);
      await site.isRead('app.log');
    };
    const ended = await blindly(site, { conf, main });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: { outcome: 'unproven', left: { count: 0 } } });
    expect(site.buffered()).toBe(0);
    expect(ended.log).toContainEqual(
      expect.objectContaining({ level: 'warn', msg: expect.stringMatching(/Dir\.pwd/) }),
    );
  });

  test('without a witness a pos file that is cut short under Fluentd is a doubt, and Fluentd is flushed', async ({
    site,
  }) => {
    const ended = await blindly(site, {
      conf: onDisk(site),
      before: write(site),
      main: async (posidle) => {
        await posidle.logged(/→ watching/);
        await site.isRead('app.log');
        truncateSync(site.pos);
        await site.write('app.log', 1_000);
        await until('all is in the buffer', () => site.buffered() === 2_000);
      },
    });
    expect(ended).toMatchObject({ lost: 0, code: 3, outcome: { outcome: 'unproven', left: { count: 0 } } });
    expect(ended.outcome.doubts.worst).toContainEqual(
      expect.objectContaining({ kind: 'pos-file', about: site.pos }),
    );
    expect(site.buffered()).toBe(0);
  });

  test('a directory that posidle may not list is a doubt that names it', async ({ site, skip }) => {
    needsRoot({ skip });
    await site.write('app.log', 1);
    await startBeside(site, { version, conf: inMemory(site) }).ready;
    await site.isRead('app.log');
    chmodSync(site.dir, 0o755);
    chmodSync(site.logs, 0o711);
    await site.write('late.log', 1_000);
    const words = ['watch', '-c', site.conf, '--start-timeout', '1s', '--witness', 'off'];
    const run = startPosidle(words, { wrapper: [...CONTAINER, ...NOBODY, ...POSIDLE] });
    expect(await run.exited).toBe(4);
    const unlisted = { kind: 'unlisted', why: expect.stringContaining(site.logs) };
    expect(run.log().at(-1)?.outcome).toMatchObject({
      outcome: 'unproven',
      doubts: { worst: expect.arrayContaining([expect.objectContaining(unlisted)]) },
    });
  });
});

test.concurrent.each([
  ['watch', 4],
  ['inspect', 1],
  ['export', 4],
])('a mount that never answers, where %s looks for fluent.conf, is named', async (command, code) => {
  const never = loading(`import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.promises.access = () => new Promise(() => setInterval(() => {}, 60_000));
    syncBuiltinESMExports();`);
  const wrapper = ['sh', '-c', `${never} exec "$0" "$@"`, ...POSIDLE];
  const posidle = startPosidle([command, '-c', 'f.conf'], { wrapper });
  expect(await posidle.exited).toBe(code);
  expect(posidle.stderr()).toBe(
    'posidle: fluent.conf and the pos files were not found within 10 s: a mount does not answer, or the machine is very busy\n',
  );
});

function saying(what: RegExp) {
  return expect.objectContaining({ msg: expect.stringMatching(what) });
}
