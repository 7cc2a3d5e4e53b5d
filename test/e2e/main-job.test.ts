import { appendFileSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { ONE_VERSION, onFluentd, test } from '../support/delivery.ts';
import { workersOf } from '../support/own-processes.ts';
import { startPosidle } from '../support/posidle.ts';
import { startFluentd, witnessIn } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

const CONF = readFileSync('fluent.conf.example', 'utf8');

onFluentd(ONE_VERSION, (version) => {
  test('a worker whose supervisor was killed is stopped through its witness, and posidle ends after it', async ({
    site,
  }) => {
    appendFileSync(site.log('job.log'), 'line 1 of 20\n');
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
    appendFileSync(site.log('job.log'), 'line 2 of 20\n');
    expect(await posidle.exited).toBe(0);
    await posidle.logged(new RegExp(`^told worker ${worker} to stop`));
    await until('the worker has ended', () => workersOf(site.dir).length === 0);
    expect(fluentd.output()).toMatch(/line 2 of 20/);
  });
});
