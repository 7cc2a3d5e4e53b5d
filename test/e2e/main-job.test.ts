import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, test } from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { workersOf } from '../support/own-processes.ts';
import { startPosidle } from '../support/posidle.ts';
import { startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const CONF = readFileSync('fluent.conf.example', 'utf8');

onFluentd(ONE_VERSION, (version) => {
  const startArticle = ({ dir, logs, pos }: Site) =>
    startFluentd({ version, dir, conf: CONF, env: { LOG_DIR: logs, POS_FILE: pos }, witness: false });
  const writeLine = (site: Site, line: number) => appendFileSync(site.log('job.log'), `line ${line} of 20\n`);

  test('fluentd is found without any ps', async ({ site }) => {
    writeLine(site, 1);
    const fluentd = startArticle(site);
    await fluentd.ready;
    const bin = join(site.dir, 'bin');
    mkdirSync(bin);
    const posidle = startPosidle(['watch', '-p', site.pos, '--quiet', '1s'], { env: { PATH: bin } });
    expect(await posidle.exited).toBe(0);
    expect((await posidle.logged(/^sent SIGINT/)).pids).toEqual([fluentd.pid]);
  });

  test('a worker whose supervisor was killed is stopped through its witness, and posidle ends after it', async ({
    site,
  }) => {
    writeLine(site, 1);
    writeFileSync(site.conf, CONF);
    // Its process group is not killed where the supervisor has ended.
    const fluentd = startFluentd({
      ...{ version, dir: site.dir, conf: CONF, env: { LOG_DIR: site.logs, POS_FILE: site.pos } },
      ...{ witness: true, wrapper: ['setsid', '--fork', '--wait'] },
    });
    await fluentd.ready;
    const witness = ['--witness', witnessIn(site.dir)];
    const [worker = 0] = workersOf(site.dir);
    const supervisor = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${worker}/status`, 'utf8'))?.[1]);
    const posidle = startPosidle(['watch', '-p', site.pos, '--quiet', '4s', ...witness]);
    await posidle.logged(/1 worker/);
    await posidle.logged(/→ watching/);
    process.kill(supervisor, 'SIGKILL');
    await posidle.logged(/its witness answers/);
    writeLine(site, 2);
    expect(await posidle.exited).toBe(0);
    await posidle.logged(new RegExp(`^told worker ${worker} to stop`));
    await until('the worker has ended', () => workersOf(site.dir).length === 0);
    expect(fluentd.output()).toMatch(/line 2 of 20/);
  });
});
