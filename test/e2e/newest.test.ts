import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  fileBuffer,
  makeWorkDir,
  memoryBuffer,
  renderConf,
  type Section,
  tail,
  toHttp,
  type WorkDir,
} from '../support/fluentd-conf.ts';
import { HttpSink } from '../support/http-sink.ts';
import { NumberedLines } from '../support/numbered-lines.ts';
import { type PosidleRun, startPosidle } from '../support/posidle.ts';
import { type FluentdRun, NEWEST, requireFluentd, startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

describe(`with what is new in Fluentd ${NEWEST}`, () => {
  let work: WorkDir;
  let sink: HttpSink;
  let lines: NumberedLines;
  let fluentd: FluentdRun;
  let run: PosidleRun | undefined;

  beforeEach(async (context) => {
    requireFluentd(NEWEST, context);
    work = makeWorkDir('newest');
    sink = await HttpSink.start();
    lines = new NumberedLines();
  });

  afterEach(async () => {
    run?.kill('SIGKILL');
    fluentd?.kill();
    await Promise.all([run?.exited, fluentd?.exited, sink?.stop()]);
    rmSync(work.dir, { recursive: true, force: true });
  });

  const log = (name: string) => join(work.logs, name);
  const marker = () => join(work.dir, 'done');
  /** Four threads parse. A new directory is seen at once: the next look by the clock would come too late for the test. */
  const tailed = () =>
    tail(log('**/*.log'), work.pos, { num_threads: 4, enable_dir_watcher: true, refresh_interval: '10m' });

  /** Two logs are there and found; posidle watches. */
  const start = async (output: Section) => {
    for (const name of ['a.log', 'b.log']) await lines.append(log(name), 1);
    const conf = renderConf([tailed(), output]);
    fluentd = startFluentd({ version: NEWEST, dir: work.dir, conf });
    await fluentd.ready;
    expect(fluentd.output()).toMatch(/in_tail worker parsing enabled with 4 threads/);
    const witness = ['--witness', witnessIn(work.dir)];
    const options = [
      '--pid',
      String(fluentd.pid),
      '--done-file',
      marker(),
      '--grace',
      '10m',
      '--strict',
      ...witness,
    ];
    const started = startPosidle(['watch', '-c', join(work.dir, 'fluent.conf'), ...options]);
    run = started;
    await started.logged(/→ watching/);
    return started;
  };

  /** Much at once in what is known, something in a directory that nobody has seen, and the end. */
  const endOfMain = async () => {
    for (const name of ['a.log', 'b.log']) await lines.append(log(name), 40_000);
    mkdirSync(log('new'));
    await lines.append(log('new/late.log'), 1_000);
    writeFileSync(marker(), '');
  };

  const expectDelivered = async (stopped: PosidleRun) => {
    expect(await stopped.exited).toBe(0);
    expect(stopped.log().at(-1)).toMatchObject({ outcome: { end: 'stopped', outcome: 'drained' } });
    expect([sink.tally.unique, sink.tally.duplicates]).toEqual([lines.written, 0]);
  };

  test('nothing is lost where threads parse, directories are watched, and a file buffer may evacuate its chunks', async () => {
    const buffer = fileBuffer(work.buffer, { flush_interval: '10m', evacuate_limit_size: '1g' });
    const { params, ...rest } = toHttp(sink.port, buffer);
    const stopping = await start({ ...rest, params: { ...params, '@id': 'sink' } });
    await endOfMain();
    await expectDelivered(stopping);
  });

  test('a memory buffer that is in retry is waited for', async () => {
    const patience = { flush_interval: '1s', retry_wait: '1s', retry_max_interval: '1s' };
    sink.phase = 'refusing';
    const stopping = await start(toHttp(sink.port, memoryBuffer(patience)));
    await endOfMain();
    await stopping.logged(/→ draining/);
    const asked = sink.requests;
    // One try a second: for longer than posidle waits where nothing is left.
    await until('Fluentd has tried four times', () => sink.requests >= asked + 4);
    expect(stopping.log().some(({ msg }) => /^(sent SIGINT|told .* to stop)/.test(msg))).toBe(false);
    sink.phase = 'up';
    await expectDelivered(stopping);
  });
});
