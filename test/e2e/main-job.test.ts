import { spawn } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startPosidle } from '../support/posidle.ts';
import { type FluentdRun, NEWEST, requireFluentd, startFluentd } from '../support/real-fluentd.ts';

const CONF = readFileSync(new URL('../../fluent.conf.example', import.meta.url), 'utf8');

describe(`with Fluentd ${NEWEST}`, () => {
  let dir: string;
  let fluentd: FluentdRun;

  beforeEach((context) => {
    requireFluentd(NEWEST, context);
    dir = mkdtempSync(join(tmpdir(), 'posidle-main-job-'));
    mkdirSync(join(dir, 'logs'));
  });

  afterEach(async () => {
    fluentd?.kill();
    await fluentd?.exited;
    rmSync(dir, { recursive: true, force: true });
  });

  const jobLog = () => join(dir, 'logs', 'job.log');
  const posFile = () => join(dir, 'app.pos');
  const startArticleFluentd = () => {
    const env = { LOG_DIR: join(dir, 'logs'), POS_FILE: posFile() };
    fluentd = startFluentd({ version: NEWEST, dir, conf: CONF, env });
  };
  const watch = (...options: readonly string[]) =>
    startPosidle(['watch', '-p', posFile(), '--pid', String(fluentd.pid), ...options]);
  const deliveredLines = () => new Set(fluentd.output().match(/line \d+ of \d+/g)).size;

  test("the article's Job: stopped one quiet window after its last line, every line delivered", async () => {
    startArticleFluentd();
    const posidle = watch('--quiet', '3s');
    await fluentd.ready;
    for (let line = 1; line <= 20; line += 1) {
      appendFileSync(jobLog(), `line ${line} of 20\n`);
      await pause(100);
    }
    appendFileSync(jobLog(), 'line 0 of 20\n');
    const lastLine = Date.now();

    expect(await posidle.exited).toBe(0);
    expect(isAlive(fluentd.pid)).toBe(false);
    const stopped = await posidle.logged(/^sent SIGINT/);
    expect(stopped.pids).toEqual([fluentd.pid]);
    expect(posidle.log().filter(({ msg }) => msg.includes('is gone'))).toHaveLength(1);
    expect(posidle.stderr()).toMatch(/"time":"\d{4}-\d\d-\d\dT[\d:.]+Z"/);
    expect(stopped.time - lastLine).toBeGreaterThanOrEqual(3_000);
    const { time, age } = await posidle.logged(/→ draining/);
    // From the movement on, that is: when in_tail reads the last line is its own affair.
    expect(stopped.time - (time - Number(age))).toBeLessThan(5_900);
    expect(deliveredLines()).toBe(21);
    expect(fluentd.output()).toMatch(/Worker 0 finished with status 0/);
    expect(fluentd.output().match(/Received graceful stop/g)).toHaveLength(1);
  });

  test('an empty pos file for three windows stops nothing', async () => {
    startArticleFluentd();
    const posidle = watch('--quiet', '1s', '--log-level', 'debug');
    await fluentd.ready;
    await posidle.logged(/1 worker/);
    await pause(3_500);
    expect(isAlive(fluentd.pid)).toBe(true);
    expect(posidle.log().some(({ to }) => to !== undefined)).toBe(false);
    posidle.kill('SIGKILL');
    await posidle.exited;
  });

  test('a compaction in the middle (truncated, then rewritten) stops nothing and does not start the window anew', async () => {
    writeFileSync(jobLog(), 'line 1 of 1\n');
    startArticleFluentd();
    const posidle = watch('--quiet', '6s');
    const { time, age } = await posidle.logged(/→ watching/);
    const moved = time - Number(age);
    for (let round = 0; round < 10; round += 1) {
      const content = readFileSync(posFile());
      truncateSync(posFile());
      await pause(20);
      writeFileSync(posFile(), content, { flag: 'r+' });
      await pause(400);
    }
    expect(isAlive(fluentd.pid)).toBe(true);
    expect(await posidle.exited).toBe(0);
    const stopped = await posidle.logged(/^sent SIGINT/);
    expect(stopped.time - moved).toBeGreaterThan(5_900);
    // Four seconds of compactions and a new window would be more; the settle time may begin anew, and that is less.
    expect(stopped.time - moved).toBeLessThan(9_900);
    expect(deliveredLines()).toBe(1);
  });

  test.each([
    ['without any ps', () => ''],
    ["with busybox's ps", () => busyboxPath(dir)],
  ])('fluentd is found %s', async (_, path) => {
    writeFileSync(jobLog(), 'line 1 of 1\n');
    startArticleFluentd();
    await fluentd.ready;
    const posidle = startPosidle(['watch', '-p', posFile(), '--quiet', '1s'], {
      env: { PATH: path() },
    });
    expect(await posidle.exited).toBe(0);
    expect((await posidle.logged(/^sent SIGINT/)).pids).toEqual([fluentd.pid]);
  });

  test('a signal is not sent while Fluentd has no pos file yet', async () => {
    startArticleFluentd();
    const posidle = watch('--grace', '60s');
    await posidle.logged(/posidle watches/);
    posidle.kill('SIGTERM');
    expect(await posidle.exited).toBe(0);
    expect(await fluentd.exited).toEqual({ code: 0, signal: null });
    expect(fluentd.output()).toMatch(/Worker 0 finished with status 0/);
  });

  test('Fluentd that ends by itself ends the watch at the trigger, with what was left in its last line', async () => {
    writeFileSync(jobLog(), 'line 1 of 1\n');
    startArticleFluentd();
    const posidle = watch('--quiet', '1h', '--settle', '500ms');
    await posidle.logged(/→ watching/);
    await fluentd.ready;
    fluentd.process.kill('SIGINT');
    await fluentd.exited;
    posidle.kill('SIGTERM');
    expect(await posidle.exited).toBe(0);
    expect(posidle.log().at(-1)).toMatchObject({ outcome: { end: 'ended-by-itself', trigger: 'SIGTERM' } });
  });

  test('a worker whose supervisor was killed is stopped, and posidle ends after it', async () => {
    writeFileSync(jobLog(), 'line 1 of 1\n');
    const { command, env } = requireFluentd(NEWEST);
    const output = openSync(join(dir, 'output'), 'a');
    writeFileSync(join(dir, 'fluent.conf'), CONF);
    const supervisor = spawn(command, ['-c', join(dir, 'fluent.conf')], {
      env: { ...env, LOG_DIR: join(dir, 'logs'), POS_FILE: posFile() },
      stdio: ['ignore', output, output],
      detached: true,
    });
    const group = supervisor.pid ?? 0;
    try {
      const posidle = startPosidle(['watch', '-p', posFile(), '--pid', String(group), '--quiet', '4s']);
      await posidle.logged(/1 worker/);
      await posidle.logged(/→ watching/);
      process.kill(group, 'SIGKILL');
      const orphans = await posidle.logged(/workers still run/);
      const worker = Number(/pid (\d+)/.exec(orphans.msg)?.[1]);
      appendFileSync(jobLog(), 'line 2 of 2\n');
      expect(await posidle.exited).toBe(0);
      expect((await posidle.logged(/^sent SIGTERM/)).pids).toEqual([worker]);
      expect(isAlive(worker)).toBe(false);
      expect(readFileSync(join(dir, 'output'), 'utf8')).toMatch(/line 2 of 2/);
    } finally {
      killGroup(group);
    }
  });
});

/** A PATH on which `ps` is busybox's. */
function busyboxPath(dir: string): string {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  symlinkSync('/bin/busybox', join(bin, 'ps'));
  return bin;
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // ESRCH: all of it is gone.
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
