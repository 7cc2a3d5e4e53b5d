import { appendFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import {
  fileBuffer,
  makeWorkDir,
  renderConf,
  tail,
  toFile,
  toForward,
  toStdout,
  type WorkDir,
} from '../support/fluentd-conf.ts';
import { posidle, startPosidle } from '../support/posidle.ts';
import { type FluentdRun, NEWEST, requireFluentd, startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const CLOSED_PORT = 9;

describe(`with Fluentd ${NEWEST}`, () => {
  let work: WorkDir;
  let fluentd: FluentdRun | undefined;

  beforeEach((context) => {
    requireFluentd(NEWEST, context);
    work = makeWorkDir('drain');
  });

  afterEach(async () => {
    fluentd?.kill();
    await fluentd?.exited;
    fluentd = undefined;
    rmSync(work.dir, { recursive: true, force: true });
  });

  const start = async (conf: string) => {
    fluentd = startFluentd({ version: NEWEST, dir: work.dir, conf });
    await fluentd.ready;
    return fluentd;
  };
  const conf = () => join(work.dir, 'fluent.conf');
  const log = (name: string) => join(work.logs, name);
  const marker = () => join(work.dir, 'done');
  const witness = () => ['--witness', witnessIn(work.dir)];
  const toDeadDownstream = () =>
    renderConf([
      tail(log('*.log'), work.pos, { refresh_interval: '1s' }),
      toForward(CLOSED_PORT, fileBuffer(work.buffer, { flush_interval: '60s' })),
    ]);

  test('a downstream that stays dead is given up at the bound; the bytes named are those on disk; --strict exits 3', async () => {
    writeFileSync(log('app.log'), 'a line that nobody takes\n'.repeat(500));
    const { pid } = await start(toDeadDownstream());
    const run = startPosidle([
      'watch',
      '-c',
      conf(),
      '--pid',
      String(pid),
      '--done-file',
      marker(),
      '--drain-timeout',
      '6s',
      '--strict',
      ...witness(),
    ]);
    await run.logged(/→ watching/);
    writeFileSync(marker(), '');
    const begun = Date.now();
    expect(await run.exited).toBe(3);
    expect(Date.now() - begun).toBeGreaterThan(6_000);
    expect(Date.now() - begun).toBeLessThan(60_000);

    const outcome = run.log().at(-1)?.outcome as Pick<Outcome, 'left'> | undefined;
    const chunks = readdirSync(work.buffer).filter((name) => !name.endsWith('.meta'));
    const bytes = chunks.reduce((sum, name) => sum + statSync(join(work.buffer, name)).size, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(outcome?.left.worst).toMatchObject([{ kind: 'held', chunks: chunks.length, bytes }]);
  });

  test('the same without --strict exits 0, and leaves the outcome as a termination message', async () => {
    writeFileSync(log('app.log'), 'a line that nobody takes\n');
    const { pid } = await start(toDeadDownstream());
    const message = join(work.dir, 'termination');
    writeFileSync(marker(), '');
    const { code } = await posidle(
      'watch',
      '-c',
      conf(),
      '--pid',
      String(pid),
      '--done-file',
      marker(),
      '--drain-timeout',
      '4s',
      '--termination-log',
      message,
    );
    expect(code).toBe(0);
    expect(statSync(message).size).toBeLessThanOrEqual(4_096);
  });

  // How long it takes depends on refresh_interval alone.
  test('a file that in_tail has not found is waited for, and named', async () => {
    writeFileSync(log('app.log'), 'line 1\n');
    const running = await start(
      renderConf([tail(log('*.log'), work.pos, { refresh_interval: '25s' }), toStdout()]),
    );
    writeFileSync(log('late.log'), 'line 2\n');
    writeFileSync(marker(), '');
    const run = startPosidle(['watch', '-c', conf(), '--pid', String(running.pid), '--done-file', marker()]);
    const waiting = await run.logged(/still draining/);
    expect(waiting.msg).toMatch(/late\.log: Fluentd has not found it/);
    expect(await run.exited).toBe(0);
    expect(running.output()).toMatch(/line 2/);
  });

  test('inspect, told only of fluent.conf, names pos file, states and the undiscovered file', async () => {
    writeFileSync(log('app.log'), 'line 1\n');
    await start(renderConf([tail(log('*.log'), work.pos), toStdout()]));
    await until('the pos file has its entry', () => statSync(work.pos).size > 0);
    await until('app.log is read', async () =>
      (await posidle('inspect', '-c', conf(), '--json')).stdout.includes('caught-up'),
    );
    writeFileSync(log('late.log'), 'line 2\n');
    const { code, stdout } = await posidle('inspect', '-c', conf(), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      posFiles: [
        { path: work.pos, entries: [{ path: log('app.log'), state: 'caught-up', lag: 0 }], unparsable: [] },
      ],
      undiscovered: [{ path: log('late.log'), size: 7 }],
      lag: 7,
      caughtUp: false,
    });
    expect((await posidle('inspect', '-c', conf(), '--max-lag', '6')).code).toBe(1);
    expect((await posidle('inspect', '-c', conf(), '--max-lag', '7')).code).toBe(0);
  });

  test('an unfinished last line is reported, not waited for; --complete-last-line has it emitted', async () => {
    writeFileSync(log('app.log'), 'line 1\nline 2, unfinished');
    const running = await start(renderConf([tail(log('*.log'), work.pos), toStdout()]));
    const options = ['watch', '-c', conf(), '--pid', String(running.pid), '--quiet', '2s', ...witness()];
    const run = startPosidle([...options, '--complete-last-line', '--strict']);
    expect(await run.exited).toBe(0);
    expect(running.output()).toMatch(/line 2, unfinished/);
  });

  test('an unfinished last line is emitted where main has made its done file', async () => {
    writeFileSync(log('app.log'), 'line 1\nline 2, unfinished');
    const running = await start(renderConf([tail(log('*.log'), work.pos), toStdout()]));
    writeFileSync(marker(), '');
    const options = [
      'watch',
      '-c',
      conf(),
      '--pid',
      String(running.pid),
      '--done-file',
      marker(),
      ...witness(),
    ];
    const run = startPosidle([...options, '--strict']);
    expect(await run.exited).toBe(0);
    expect(running.output()).toMatch(/line 2, unfinished/);
  });

  test('without seeing any process, the witness is enough to flush and to stop', async () => {
    writeFileSync(log('app.log'), 'line 1\n');
    const running = await start(
      renderConf([
        tail(log('*.log'), work.pos, { refresh_interval: '1s' }),
        toFile(join(work.dir, 'out'), fileBuffer(work.buffer, { flush_interval: '60s' })),
      ]),
    );
    const own = ['--fork', '--pid', '--mount-proc', '--kill-child', process.execPath, 'dist/cli.js'];
    const run = startPosidle(['watch', '-c', conf(), '--done-file', marker(), ...witness()], {
      wrapper: ['unshare', ...own],
    });
    await run.logged(/witness answers/);
    await run.logged(/→ watching/);
    appendFileSync(log('app.log'), 'line 2\n');
    writeFileSync(marker(), '');
    expect(await run.exited).toBe(0);
    expect(run.log().map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/^told worker \d+ to flush/),
    );
    expect(await running.exited).toEqual({ code: 0, signal: null });
    expect(readdirSync(work.buffer)).toEqual([]);
    expect(run.log().at(-1)).toMatchObject({ outcome: { end: 'stopped', outcome: 'drained' } });
  });
});
