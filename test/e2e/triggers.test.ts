import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { DRAINED, ONE_VERSION, onFluentd, runDelivery, test, watchDelivery } from '../support/delivery.ts';
import { memoryBuffer, tail, toHttp } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import type { PosidleRun } from '../support/posidle.ts';
import { expectNoFault } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

onFluentd(ONE_VERSION, (version) => {
  test('POST /quitquitquit is the trigger, however often; the other paths answer', async ({ site }) => {
    const port = await freePort();
    const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
    const main = async (posidle: PosidleRun) => {
      await posidle.logged(/→ watching/);
      await site.isRead('app.log');
      expect((await ask('/healthz')).status).toBe(200);
      expect((await ask('/readyz')).status).toBe(200);
      expect((await ask('/quitquitquit')).status).toBe(405);
      expect((await ask('/nothing')).status).toBe(404);
      expect(await (await ask('/status')).json()).toMatchObject({
        state: 'watching',
        trigger: null,
        left: { count: 0 },
        files: 1,
        fluentd: { kind: 'running', pid: Number(readFileSync(site.pidFile, 'utf8')) },
      });
      const metrics = await (await ask('/metrics')).text();
      expect(metrics).toMatch(/^posidle_state\{state="watching"\} 1$/m);
      expect(metrics).toMatch(/^posidle_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
      expectNoFault(['check', 'metrics'], metrics);
      const used =
        /^posidle_fluentd_cpu_seconds_total [\d.]+$[\s\S]*^posidle_fluentd_memory_bytes [1-9]\d{6,}$/m;
      await until("Fluentd's CPU and memory", async () => used.test(await (await ask('/metrics')).text()));
      for (const _ of [1, 2]) expect((await ask('/quitquitquit', { method: 'POST' })).status).toBe(202);
    };
    const ended = await watchDelivery(site, {
      version,
      conf: [
        tail(site.log('*.log'), site.pos),
        toHttp(site.sink.port, memoryBuffer({ flush_interval: '1s' })),
      ],
      args: ['--listen', `127.0.0.1:${port}`, '--quit-token', 'none'],
      before: () => site.write('app.log', 1),
      main,
      end: () => undefined,
    });
    expect(ended).toMatchObject({ ...DRAINED, outcome: { outcome: 'drained', trigger: 'http' } });
  });

  test('after SIGTERM Fluentd is flushed, and stops when main has made its done file, however long main is silent', async ({
    site,
  }) => {
    const main = async (posidle: PosidleRun) => {
      await site.write('app.log', 5);
      await site.isRead('app.log');
      posidle.kill('SIGTERM');
      await posidle.logged(/everything is read; nothing has said yet that main has ended/);
      await until('what was read is sent', () => site.sink.tally.unique === 5);
      await site.write('app.log', 5);
    };
    const buffer = memoryBuffer({ flush_mode: 'interval', flush_interval: '300s' });
    const conf = [tail(site.log('*.log'), site.pos), toHttp(site.sink.port, buffer)];
    const ended = await runDelivery(site, { version, conf, main });
    expect(ended).toMatchObject({ ...DRAINED, outcome: { outcome: 'drained', trigger: 'SIGTERM' } });
  });
});
