import { mkdirSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as conf from '../support/fluentd-conf.ts';
import { until } from '../support/until.ts';
import { seconds } from './plan.ts';
import type { Pod } from './pod.ts';
import { copytruncate, endBeforeALook, killWorker, readUpTo } from './pod-steps.ts';
import type { TriggerName } from './triggers.ts';

export interface Scenario {
  id: number;
  title: string;
  /** The least Fluentd version that knows what the scenario needs. */
  since?: string;
  /** A worker is killed: nobody can prove what it held. */
  isUnproven?: boolean;
  /** Main is silent for longer than a quiet window. */
  sleeps?: boolean;
  sources(pod: Pod): conf.Section[];
  output(pod: Pod): conf.Section;
  /** What is there before any container starts. */
  before?(pod: Pod): Promise<void>;
  /** The main container, from the Pod's start to its end. */
  main(pod: Pod): Promise<void>;
  /** What tells posidle of main's end. */
  trigger: TriggerName;
  /** posidle's other flags. */
  flags(pod: Pod): string[];
}

const log = (pod: Pod, name: string) => join(pod.logs, name);
const write = (pod: Pod, name: string, count: number) => pod.lines.append(log(pod, name), count);

const source = (pod: Pod, pattern: string, params: conf.Params = {}, sections: conf.Section[] = []) =>
  conf.tail(
    log(pod, pattern),
    pod.pos,
    { refresh_interval: seconds(pod.plan.waits.refresh), ...params },
    sections,
  );

const flushed = (pod: Pod) => ({ flush_interval: seconds(pod.plan.waits.flush) });

const tailed = {
  sources: (pod: Pod) => [source(pod, '*.log')],
  output: conf.toStdout,
  trigger: 'done-file',
  flags: (pod: Pod) => ['-c', pod.conf],
} as const;

/** Fluentd has found app.log and runs, before main writes what the scenario is about. */
const alreadyTailed = (pod: Pod) => write(pod, 'app.log', 1);
/** Found, and empty: no window runs yet, and no chunk is open that would be flushed soon after main's lines join it. */
const alreadyThere = (pod: Pod) => write(pod, 'app.log', 0);

export const scenarios: readonly Scenario[] = [
  {
    ...tailed,
    id: 1,
    title: "the article's Job: 20 lines, 3 s apart",
    before: alreadyTailed,
    main: async (pod) => {
      for (let line = 2; line <= 20; line++) {
        await sleep(pod.plan.waits.pause);
        await write(pod, 'app.log', 1);
      }
    },
    trigger: 'quiet',
    flags: (pod) => ['-p', pod.pos],
  },
  {
    ...tailed,
    id: 2,
    title: 'a burst of 2,000,000 lines, then the end',
    before: alreadyThere,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', pod.plan.work(2_000_000));
    },
  },
  {
    ...tailed,
    id: 3,
    title: 'a new file in the last second',
    before: alreadyThere,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', 1000);
      await write(pod, 'new.log', 1000);
    },
  },
  {
    ...tailed,
    id: 4,
    title: 'file buffer, flush_interval 60s',
    output: (pod) => conf.toHttp(pod.sink.port, conf.fileBuffer(pod.buffer, flushed(pod))),
    before: alreadyThere,
    main: (pod) => endBeforeALook(pod, log(pod, 'app.log')),
  },
  {
    ...tailed,
    id: 5,
    title: 'memory buffer, flush_interval 60s',
    output: (pod) => conf.toHttp(pod.sink.port, conf.memoryBuffer(flushed(pod))),
    before: alreadyThere,
    main: (pod) => endBeforeALook(pod, log(pod, 'app.log')),
  },
  {
    ...tailed,
    id: 6,
    title: 'slow start: the first line after 3 windows',
    main: async (pod) => {
      // Not at a whole number of windows: Fluentd looks for new files once in as long.
      await sleep(3.3 * pod.plan.waits.window);
      await write(pod, 'app.log', 1000);
    },
    trigger: 'quiet',
  },
  {
    ...tailed,
    id: 7,
    title: 'throttled input (1 MiB/s), a tail of 20 MB',
    sources: (pod) => [source(pod, '*.log', { read_bytes_limit_per_second: '1m' })],
    before: alreadyTailed,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', pod.plan.work(200_000));
    },
  },
  {
    ...tailed,
    id: 8,
    title: 'copytruncate, then rotation by rename',
    before: async (pod) => {
      await write(pod, 'app.log', 1);
      await write(pod, 'copied.log', 1000);
    },
    main: async (pod) => {
      await pod.fluentdReady();
      await copytruncate(pod, log(pod, 'copied.log'));
      await write(pod, 'copied.log', 500);
      await write(pod, 'app.log', 2000);
      await rename(log(pod, 'app.log'), log(pod, 'app.log.1'));
      await write(pod, 'app.log', 1000);
      await readUpTo(pod.pos, log(pod, 'app.log'), 100_000);
      // A process that has the old file open goes on writing to it; no pos file tells of that.
      await write(pod, 'app.log.1', 200);
    },
  },
  {
    ...tailed,
    id: 9,
    title: 'the worker crashes and is started again',
    isUnproven: true,
    before: alreadyTailed,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', 2000);
      killWorker(pod.conf);
      await write(pod, 'app.log', 2000);
    },
  },
  {
    ...tailed,
    id: 10,
    title: 'downstream dead, back 10 s after the end',
    output: (pod) =>
      conf.toHttp(
        pod.sink.port,
        conf.memoryBuffer({ flush_interval: '1s', retry_wait: '1s', retry_max_interval: '2s' }),
      ),
    before: alreadyTailed,
    main: async (pod) => {
      pod.sink.phase = 'dead';
      await pod.fluentdReady();
      await write(pod, 'app.log', 1000);
      await until('Fluentd has tried to send', () => pod.sink.requests > 0);
      setTimeout(
        () => {
          pod.sink.phase = 'up';
        },
        pod.plan.work(10_000, 2000),
      );
    },
  },
  {
    ...tailed,
    id: 11,
    title: 'the last line has no newline',
    before: alreadyTailed,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', 1000);
      await pod.lines.appendUnended(log(pod, 'app.log'));
    },
    flags: (pod) => ['-c', pod.conf, '--complete-last-line'],
  },
  {
    ...tailed,
    id: 12,
    sleeps: true,
    title: 'silent for 3 windows, then logging again',
    before: alreadyTailed,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', 1000);
      await sleep(3 * pod.plan.waits.window);
      await write(pod, 'app.log', 1000);
    },
  },
  {
    ...tailed,
    id: 13,
    title: '<group>: 1000 lines, then standing still for 100 s',
    since: '1.15.0',
    sources: (pod) => [source(pod, '*.log', {}, [group(Math.round((pod.plan.waits.window * 5) / 3))])],
    before: alreadyTailed,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', 2500);
    },
  },
  {
    ...tailed,
    id: 14,
    title: 'memory buffer, slow sends (10 chunks of 3 s)',
    output: (pod) =>
      conf.toHttp(pod.sink.port, conf.memoryBuffer({ ...flushed(pod), chunk_limit_records: 100 })),
    before: alreadyTailed,
    main: async (pod) => {
      pod.sink.delay = pod.plan.work(3000);
      await pod.fluentdReady();
      await write(pod, 'app.log', 999);
    },
  },
  {
    ...tailed,
    id: 15,
    sleeps: true,
    title: 'two lines, 5 windows apart',
    before: alreadyThere,
    main: async (pod) => {
      await pod.fluentdReady();
      await write(pod, 'app.log', 1);
      await sleep(5 * pod.plan.waits.window);
      await write(pod, 'app.log', 1);
    },
  },
];

export function writeConf(scenario: Scenario, pod: Pod): void {
  mkdirSync(pod.logs, { recursive: true });
  writeFileSync(pod.conf, conf.renderConf([...scenario.sources(pod), scenario.output(pod)]));
}

function group(ratePeriod: number): conf.Section {
  return {
    name: 'group',
    params: { pattern: '/\\/(?<app>[a-z]+)\\.log$/', rate_period: seconds(ratePeriod) },
    sections: [{ name: 'rule', params: { match: '{"app": "/app/"}', limit: 1000 } }],
  };
}
