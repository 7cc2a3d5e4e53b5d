import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeWorkDir, renderConf, tail, toStdout, type WorkDir } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { type PosidleRun, posidle, startPosidle } from '../support/posidle.ts';
import { expectNoFault } from '../support/prometheus.ts';
import { type FluentdRun, NEWEST, requireFluentd, startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** --done-process-gone. */
const GONE = 2_000;

describe(`with Fluentd ${NEWEST}`, () => {
  let work: WorkDir;
  let fluentd: FluentdRun;

  beforeEach(async (context) => {
    requireFluentd(NEWEST, context);
    work = makeWorkDir('triggers');
    writeFileSync(join(work.logs, 'app.log'), 'line 1\n');
    const conf = renderConf([
      tail(join(work.logs, '*.log'), work.pos, { refresh_interval: '1s' }),
      toStdout(),
    ]);
    fluentd = startFluentd({ version: NEWEST, dir: work.dir, conf });
    await fluentd.ready;
  });

  afterEach(async () => {
    fluentd?.kill();
    await fluentd?.exited;
    rmSync(work.dir, { recursive: true, force: true });
  });

  const watch = (options: readonly string[], env = process.env) => {
    const what = ['-c', join(work.dir, 'fluent.conf'), '--witness', witnessIn(work.dir)];
    return startPosidle(['watch', ...what, '--pid', String(fluentd.pid), ...options], { env });
  };

  const expectDrained = async (run: PosidleRun) => {
    expect(await run.exited).toBe(0);
    expect(run.log().at(-1)).toMatchObject({ outcome: { end: 'stopped', outcome: 'drained' } });
  };

  test('a done file whose directory comes later is seen at once', async () => {
    const directory = join(work.dir, 'shared');
    const run = watch(['--done-file', join(directory, 'done')]);
    await run.logged(/→ watching/);
    mkdirSync(directory);
    writeFileSync(join(directory, 'done'), '');
    await run.logged(/→ draining: the done file is there/);
    await expectDrained(run);
  });

  test('in Kubernetes a done file that is older than the Pod is told, and counts when it is touched', async () => {
    const marker = join(work.dir, 'done');
    writeFileSync(marker, '');
    utimesSync(marker, 1, 1);
    const run = watch(['--done-file', marker], { ...process.env, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
    const { msg } = await run.logged(/older than this Pod/);
    expect(msg).toBe(
      `--done-file: ${marker} is older than this Pod. It does not count until main touches it`,
    );
    await run.logged(/→ watching/);
    expect(run.log().some(({ to }) => to === 'draining')).toBe(false);
    utimesSync(marker, new Date(), new Date());
    await expectDrained(run);
  });

  test("main's process gone is the trigger; posidle's own command line and a short probe are not main", async () => {
    const name = `main-of-${process.pid}`;
    const main = spawn('sh', ['-c', `: ${name}; sleep 60`], { stdio: 'ignore' });
    const run = watch(['--done-process', name]);
    await run.logged(/→ watching/);
    spawn('sh', ['-c', `: ${name}; :`], { stdio: 'ignore' });
    await run.logged(/main's process is seen/);
    main.kill('SIGKILL');
    const triggered = Date.now();
    const { time } = await run.logged(/main's process is gone/);
    expect(time - triggered).toBeGreaterThan(GONE - 50);
    await expectDrained(run);
  });

  test('a heartbeat file that a killed main no longer refreshes is the trigger', async () => {
    const beat = join(work.dir, 'main-is-alive');
    const run = watch(['--heartbeat-file', beat, '--heartbeat-age', '3s']);
    expect((await run.logged(/^posidle watches/)).msg).toMatch(
      /drain begins when .*alive has not been refreshed for 3\.0 s/,
    );
    expect(run.log().some(({ msg }) => /only a call or a signal/.test(msg))).toBe(false);
    const main = spawn('sh', ['-c', `while touch '${beat}'; do sleep 0.2; done`], { stdio: 'ignore' });
    await run.logged(/→ watching/);
    const started = Date.now();
    // posidle may be up before main has touched it once.
    const beatAt = () => statSync(beat, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    await until('main has lived for longer than the age', () => beatAt() > started + 4_000);
    expect(run.log().some(({ to }) => to === 'draining')).toBe(false);
    main.kill('SIGKILL');
    expect((await run.logged(/→ draining/)).msg).toMatch(/main no longer refreshes its heartbeat file/);
    expect(await run.exited).toBe(0);
    expect(run.log().at(-1)).toMatchObject({ outcome: { outcome: 'drained', trigger: 'heartbeat' } });
  });

  test('a main that is never seen is taken as ended after the start timeout, and that is said', async () => {
    const run = watch(['--done-process', 'no-such-main-anywhere', '--start-timeout', '3s']);
    expect((await run.logged(/→ draining/)).msg).toMatch(/never seen within --start-timeout/);
    expect(await run.exited).toBe(0);
  });

  test('POST /quitquitquit is the trigger, however often; the other paths answer', async () => {
    const port = await freePort();
    const at = `http://127.0.0.1:${port}`;
    const run = watch(['--listen', String(port), '--quit-token', 'none']);
    const { msg } = await run.logged(/^posidle watches/);
    expect(msg).toMatch(new RegExp(`POST /quitquitquit comes to 127.0.0.1:${port}, or when SIGTERM comes$`));
    expect((await run.logged(/^quiet is off: only a call or a signal begins the drain/)).level).toBe('warn');
    await run.logged(/→ watching/);
    expect((await fetch(`${at}/healthz`)).status).toBe(200);
    expect((await fetch(`${at}/readyz`)).status).toBe(200);
    expect((await fetch(`${at}/quitquitquit`)).status).toBe(405);
    expect((await fetch(`${at}/nothing`)).status).toBe(404);
    expect(await (await fetch(`${at}/status`)).json()).toMatchObject({
      state: 'watching',
      trigger: null,
      gate: null,
      lag: 0,
      files: [{ path: join(work.logs, 'app.log'), state: 'caught-up' }],
      fluentd: { kind: 'running', pid: fluentd.pid },
    });
    expect(await (await fetch(`${at}/metrics`)).text()).toMatch(/^posidle_state\{state="watching"\} 1$/m);
    expect(await (await fetch(`${at}/metrics`)).text()).toMatch(
      /^posidle_build_info\{version="\d+\.\d+\.\d+"\} 1$/m,
    );
    expectNoFault(['check', 'metrics'], await (await fetch(`${at}/metrics`)).text());
    expect((await fetch(`${at}/quitquitquit`, { method: 'POST' })).status).toBe(202);
    expect((await fetch(`${at}/quitquitquit`, { method: 'POST' })).status).toBe(202);
    await expectDrained(run);
  });

  test('with a token file, only its bearer may quit; a busy port is a clear error', async () => {
    const port = await freePort();
    const token = join(work.dir, 'token');
    writeFileSync(token, 'secret\n');
    const run = watch(['--listen', `127.0.0.1:${port}`, '--quit-token', token]);
    await run.logged(/→ watching/);
    const busy = await posidle('watch', '-p', work.pos, '--listen', `127.0.0.1:${port}`);
    expect(busy).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--listen: cannot listen on .*: another process listens there already/),
    });
    const quit = (authorization?: string) =>
      fetch(`http://127.0.0.1:${port}/quitquitquit`, {
        method: 'POST',
        headers: authorization ? { authorization } : {},
      });
    expect((await quit()).status).toBe(401);
    expect((await quit('Bearer wrong')).status).toBe(401);
    expect((await quit('Bearer secret')).status).toBe(202);
    expect(await run.exited).toBe(0);
  });

  test('clients that send nothing, garbage or too much, and a thousand at once, leave it working and small', async () => {
    const port = await freePort();
    const run = watch(['--listen', `127.0.0.1:${port}`]);
    await run.logged(/→ watching/);
    const open = (text: string) =>
      new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write(text));
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
        socket.on('data', () => {});
      });
    const big = `POST /quitquitquit HTTP/1.1\r\nhost: x\r\ncontent-length: 10000000\r\n\r\n${'x'.repeat(10_000_000)}`;
    await Promise.all([
      open('\0\x01garbage\r\n\r\n'),
      open(big),
      ...Array.from({ length: 1_000 }, () => open('')),
    ]);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(run.log().some(({ to }) => to === 'draining')).toBe(false);
    // On Node 24 the peak is 89 to 92 MB.
    const node20 = process.versions.node.startsWith('20.');
    expect(peakBytes(run.pid)).toBeLessThan(node20 ? 90e6 : 110e6);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(0);
  });
});

function peakBytes(pid: number): number {
  const kib = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}
