import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, startBeside, test } from '../support/delivery.ts';
import { memoryBuffer, tail, toHttp } from '../support/fluentd-conf.ts';
import { schemaIn } from '../support/json-schema.ts';
import { posidle } from '../support/posidle.ts';
import { witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

onFluentd(ONE_VERSION, (version) => {
  test('inspect shows what a buffer in memory holds, and --wait waits until it is sent', async ({ site }) => {
    site.sink.phase = 'refusing';
    await site.write('a.log', 1);
    const buffer = memoryBuffer({ flush_interval: '1s', retry_type: 'periodic', retry_wait: '1s' });
    const conf = [tail(site.log('*.log'), site.pos), toHttp(site.sink.port, buffer)];
    await startBeside(site, { version, conf }).ready;
    const inspect = (...args: readonly string[]) =>
      posidle('inspect', '-c', site.conf, '--witness', witnessIn(site.dir), ...args);
    const found = await until('the line is read and held', async () => {
      const told = JSON.parse((await inspect('--json')).stdout);
      return told.caughtUp && told.left.count === 1 ? told : undefined;
    });
    expect(schemaIn('src/core/inspect/inspection.schema.json').faultsIn(found)).toEqual([]);
    expect(found).toMatchObject({
      left: { worst: [{ kind: 'held', chunks: 1 }] },
      witness: { workers: [{ kind: 'alive', files: [{ path: site.log('a.log') }] }] },
    });
    expect((await inspect()).stdout).toMatch(/^left: .* holds 1 chunk /m);
    const late = await inspect('--wait', '1s', '--interval', '100ms');
    expect(late).toMatchObject({ code: 1, stdout: expect.stringMatching(/^caught up: .* holds 1 chunk /) });
    const waiting = inspect('--wait', '5m', '--interval', '100ms');
    site.sink.phase = 'up';
    expect(await waiting).toMatchObject({ code: 0 });
    const { stdout } = await inspect();
    expect(stdout).toMatch(/^nothing is left$/m);
    expect(stdout).toMatch(/^Fluentd itself, worker \d+: 1 line read$/m);
    expect(stdout).toMatch(/^ {2}http: holds nothing; 1 taken, 1 delivered$/m);
  });
});
