import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeWitness } from '../../src/node/witness/write-witness.ts';
import { makeWorkDir, memoryBuffer, renderConf, tail, toHttp } from '../support/fluentd-conf.ts';
import { HttpSink } from '../support/http-sink.ts';
import { schemaIn } from '../support/json-schema.ts';
import { posidle } from '../support/posidle.ts';
import { NEWEST, requireFluentd, startFluentd } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

describe(`inspect --witness beside Fluentd ${NEWEST}`, () => {
  test('shows what a buffer in memory holds, and --wait waits until it is sent', async (context) => {
    requireFluentd(NEWEST, context);
    const work = makeWorkDir('witness');
    const sink = await HttpSink.start();
    sink.phase = 'refusing';
    const [dir, conf] = [join(work.dir, 'witness'), join(work.dir, 'fluent.conf')];
    await writeWitness(dir);
    writeFileSync(join(work.logs, 'a.log'), 'line 1\n');
    const buffer = memoryBuffer({ flush_interval: '1s', retry_type: 'periodic', retry_wait: '1s' });
    const fluentd = startFluentd({
      ...{ version: NEWEST, dir: work.dir, env: { RUBYOPT: `-I${join(dir, 'ruby')} -renumerator` } },
      conf: renderConf([tail(join(work.logs, '*.log'), work.pos), toHttp(sink.port, buffer)]),
    });
    onTestFinished(async () => {
      await fluentd.stop(5_000);
      await sink.stop();
      rmSync(work.dir, { recursive: true, force: true, maxRetries: 5 });
    });
    await fluentd.ready;
    const inspect = (...args: readonly string[]) => posidle('inspect', '-c', conf, '--witness', dir, ...args);
    const found = await until('the line is read and held', async () => {
      const told = JSON.parse((await inspect('--json')).stdout);
      return told.caughtUp && told.left.count === 1 ? told : undefined;
    });
    expect(schemaIn('src/core/inspect/inspection.schema.json').faultsIn(found)).toEqual([]);
    expect(found).toMatchObject({
      left: { worst: [{ kind: 'held', chunks: 1 }] },
      witness: { workers: [{ kind: 'alive', files: [{ path: join(work.logs, 'a.log') }] }] },
    });
    expect((await inspect()).stdout).toMatch(/^left: .* holds 1 chunk /m);
    const late = await inspect('--wait', '1s', '--interval', '100ms');
    expect(late).toMatchObject({ code: 1, stdout: expect.stringMatching(/^caught up: .* holds 1 chunk /) });
    const waiting = inspect('--wait', '5m', '--interval', '100ms');
    sink.phase = 'up';
    expect(await waiting).toMatchObject({ code: 0 });
    expect((await inspect()).stdout).toMatch(/^nothing is left$/m);
    expect((await inspect()).stdout).toMatch(/^Fluentd itself, worker \d+: 1 line read$/m);
    expect((await inspect()).stdout).toMatch(/^ {2}http: holds nothing; 1 taken, 1 delivered$/m);
  });
});
