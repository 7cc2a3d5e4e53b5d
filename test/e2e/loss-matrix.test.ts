import { spawn } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import {
  type Delivery,
  SOON as IN_TIME,
  onFluentd,
  runDelivery,
  test,
  watchDelivery,
} from '../support/delivery.ts';
import type { Site } from '../support/delivery-site.ts';
import { fileBuffer, memoryBuffer, type Section, tail, toHttp } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { killProcesses, workersOf } from '../support/own-processes.ts';
import { NEWEST, TESTED_VERSIONS } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';

/** The quiet window, ms. Fluentd looks for new files as often. */
const WINDOW = 3_000;
const REFRESH = { refresh_interval: '3s' };
/** Longer than a drain may take. */
const LATE = { flush_interval: '60s' };
const SOON = { flush_interval: '1s' };
const BURST = 100_000;

type Trigger = 'quiet' | 'done-file' | 'done-process' | 'http' | 'SIGTERM';

/** main does this when Fluentd has found its first file, which is empty. */
interface Scenario {
  readonly title: string;
  readonly main: (site: Site) => Promise<unknown>;
  readonly buffer?: (site: Site) => Section;
  readonly tail?: { readonly [param: string]: string };
  /** Another source for the same output. */
  readonly other?: (version: string) => Section;
  readonly sections?: Section[];
  readonly args?: readonly string[];
  /** By default the done file. */
  readonly trigger?: Trigger;
  /** A worker is killed: nobody can prove what it held. */
  readonly word?: 'unproven';
  /** Not on 1.14.6. */
  readonly isNew?: boolean;
}

const write =
  (count: number, name = 'app.log') =>
  (site: Site) =>
    site.write(name, count);

async function writeUnended(site: Site): Promise<void> {
  await site.write('app.log', 1_000);
  await site.lines.appendUnended(site.log('app.log'));
}

const TWO_LINES: Scenario = {
  title: 'two lines, five windows apart',
  main: async (site) => {
    await site.write('app.log', 1);
    await sleep(5 * WINDOW);
    await site.write('app.log', 1);
  },
};
const NEW_FILE: Scenario = {
  title: 'a new file in the last second',
  main: async (site) => {
    await site.write('app.log', 1_000);
    await site.write('new.log', 1_000);
  },
};
const FILE_BUFFER: Scenario = {
  title: 'a file buffer with a flush_interval of 60 s',
  buffer: (site) => fileBuffer(site.buffer, LATE),
  main: write(5_000),
};
const LARGE_BURST: Scenario = { title: 'a burst, then the end', main: write(BURST) };

const SCENARIOS: readonly Scenario[] = [
  {
    title: "the founding article's Job, a line from time to time",
    main: async (site) => {
      for (let line = 0; line < 20; line += 1) {
        await sleep(150);
        await site.write('app.log', 1);
      }
    },
    trigger: 'quiet',
  },
  LARGE_BURST,
  NEW_FILE,
  FILE_BUFFER,
  {
    title: 'a memory buffer with a flush_interval of 60 s',
    buffer: () => memoryBuffer(LATE),
    main: write(5_000),
  },
  {
    title: 'a slow start: the first line after three windows',
    main: async (site) => {
      // Not at a whole number of windows: Fluentd looks for new files once in as long.
      await sleep(3.3 * WINDOW);
      await site.write('app.log', 1_000);
    },
    trigger: 'quiet',
  },
  {
    title: 'a throttled input',
    tail: { read_bytes_limit_per_second: '1m' },
    main: write(20_000),
  },
  {
    title: 'copytruncate, then rotation by rename, and lines into the renamed file',
    main: async (site) => {
      await site.write('app.log', 1_000);
      // Fluentd knows a truncation by a size below the last one it saw: it must have seen it whole.
      await site.isRead('app.log');
      await copyFile(site.log('app.log'), site.log('app.log.copy'));
      await truncate(site.log('app.log'), 0);
      await site.isRead('app.log');
      await site.write('app.log', 2_000);
      renameSync(site.log('app.log'), site.log('app.log.1'));
      await site.write('app.log', 1_000);
      await site.isRead('app.log');
      // A process that has the old file open goes on writing to it; no pos file tells of that.
      await site.write('app.log.1', 200);
    },
  },
  {
    title: 'a file that was read and deleted',
    main: async (site) => {
      await site.write('app.log', 1_000);
      await site.isRead('app.log');
      rmSync(site.log('app.log'));
    },
  },
  {
    title: 'an output that another source feeds all the time',
    other: (version) => {
      const type = version === '1.14.6' ? 'dummy' : 'sample';
      return { name: 'source', params: { '@type': type, tag: 'app', rate: 20 } };
    },
    buffer: () => memoryBuffer({ flush_interval: '2s' }),
    main: write(1_000),
  },
  {
    title: 'a worker that crashes and is started again',
    word: 'unproven',
    main: async (site) => {
      await site.write('app.log', 2_000);
      await site.isRead('app.log');
      await until('all has arrived', () => site.delivered() === 2_000);
      killProcesses(workersOf(site.dir));
      await site.write('app.log', 2_000);
    },
  },
  {
    title: 'a destination that is dead, and back 2 s after the end',
    buffer: () => memoryBuffer({ ...SOON, retry_wait: '1s', retry_max_interval: '2s' }),
    main: async (site) => {
      site.sink.phase = 'dead';
      await site.write('app.log', 1_000);
      await until('Fluentd has tried to send', () => site.sink.requests > 0);
      setTimeout(() => {
        site.sink.phase = 'up';
      }, 2_000);
    },
  },
  { title: 'a last line without its newline', main: writeUnended },
  {
    title: 'silence for three windows, then lines again',
    main: async (site) => {
      await site.write('app.log', 1_000);
      await sleep(3 * WINDOW);
      await site.write('app.log', 1_000);
    },
  },
  {
    title: 'a <group> that stands still for 5 s after 1,000 lines',
    isNew: true,
    sections: [
      {
        name: 'group',
        params: { pattern: '/\\/(?<app>[a-z]+)\\.log$/', rate_period: '5s' },
        sections: [{ name: 'rule', params: { match: '{"app": "/app/"}', limit: 1000 } }],
      },
    ],
    main: write(2_500),
  },
  {
    title: 'a memory buffer of ten chunks, each of which takes 0.3 s',
    buffer: () => memoryBuffer({ ...LATE, chunk_limit_records: 100 }),
    main: (site) => {
      site.sink.delay = 300;
      return site.write('app.log', 999);
    },
  },
];

/** The options that arm a trigger, and what main's end does then. */
async function armed(trigger: Trigger, site: Site): Promise<Pick<Delivery, 'args' | 'end'>> {
  switch (trigger) {
    case 'done-file':
      return {};
    case 'quiet':
      return { args: ['--quiet', `${WINDOW}ms`], end: () => undefined };
    case 'done-process': {
      const script = join(site.dir, 'main.sh');
      writeFileSync(script, 'sleep 1000');
      const main = spawn('sh', [script], { stdio: 'ignore' });
      return { args: ['--done-process', `sh ${script}`], end: () => void main.kill('SIGKILL') };
    }
    case 'http': {
      const at = `127.0.0.1:${await freePort()}`;
      const end = () => void fetch(`http://${at}/quitquitquit`, { method: 'POST' });
      return { args: ['--listen', at, '--quit-token', 'none'], end };
    }
    case 'SIGTERM':
      return { args: ['--grace', '100s'], end: (posidle) => posidle.kill('SIGTERM') };
  }
}

/** No line is lost, and that is proven, by the trigger that was given. */
async function expectKept(version: string, site: Site, scenario: Scenario, trigger: Trigger): Promise<void> {
  const { args = [], end } = await armed(trigger, site);
  const buffer = scenario.buffer?.(site) ?? memoryBuffer(SOON);
  const delivery: Delivery = {
    version,
    conf: [
      tail(site.log('*.log'), site.pos, { ...REFRESH, ...scenario.tail }, scenario.sections),
      ...(scenario.other === undefined ? [] : [scenario.other(version)]),
      toHttp(site.sink.port, buffer),
    ],
    before: () => site.write('app.log', 0),
    main: async (posidle) => {
      if (trigger === 'done-process') await posidle.logged(/posidle sees main's process/);
      await scenario.main(site);
    },
    args: [...args, ...(scenario.args ?? [])],
    ...(end && { end }),
  };
  // posidle as the container's first process: the kubelet sends it SIGTERM.
  const ended = await (trigger === 'SIGTERM' ? runDelivery : watchDelivery)(site, delivery);
  // SIGTERM does not say that main has ended.
  const outcome = trigger === 'SIGTERM' ? 'unproven' : (scenario.word ?? 'drained');
  const code = outcome === 'drained' ? 0 : 3;
  expect(ended).toMatchObject({ lost: 0, code, outcome: { end: 'stopped', trigger, outcome } });
  if (trigger === 'SIGTERM')
    expect(ended.outcome.doubts).toMatchObject({ count: 1, worst: [{ kind: 'main-may-run' }] });
  expect(ended.seconds).toBeLessThan(IN_TIME);
}

onFluentd(TESTED_VERSIONS, (version) => {
  const known = SCENARIOS.filter(({ isNew }) => !isNew || version !== '1.14.6');
  test.for(known)('nothing is lost of $title', (scenario, { site }) =>
    expectKept(version, site, scenario, scenario.trigger ?? 'done-file'),
  );
});

onFluentd([NEWEST], (version) => {
  // Quiet cannot tell sleeping from finished.
  const all = [LARGE_BURST, NEW_FILE, FILE_BUFFER, TWO_LINES].flatMap((scenario) =>
    (['done-file', 'done-process', 'http', 'SIGTERM', 'quiet'] as const)
      .filter((trigger) => trigger !== 'quiet' || scenario !== TWO_LINES)
      .map((trigger) => ({ trigger, title: scenario.title, scenario })),
  );
  test.for(all)('by $trigger nothing is lost of $title', ({ scenario, trigger }, { site }) =>
    expectKept(version, site, scenario, trigger),
  );
});
