import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorkDir, type WorkDir } from '../support/fluentd-conf.ts';
import { freePort } from '../support/free-port.ts';
import { HttpSink } from '../support/http-sink.ts';
import { searcher } from '../support/log-text.ts';
import { NumberedLines } from '../support/numbered-lines.ts';
import { READY_LINE } from '../support/real-fluentd.ts';
import { until } from '../support/until.ts';
import type { Plan } from './plan.ts';

/** The volumes and ports that the containers of one Pod share. */
export interface Pod extends WorkDir {
  plan: Plan;
  conf: string;
  fluentdLog: string;
  watcherLog: string;
  marker: string;
  listenPort: number;
  sink: HttpSink;
  lines: NumberedLines;
  /** Ends when Fluentd's worker runs for the first time. */
  fluentdReady(): Promise<void>;
}

export async function makePod(plan: Plan, label: string): Promise<Pod> {
  const work = makeWorkDir(label);
  const fluentdLog = join(work.dir, 'fluentd.log');
  writeFileSync(fluentdLog, '');
  const running = searcher(fluentdLog, READY_LINE);
  return {
    ...work,
    plan,
    fluentdLog,
    conf: join(work.dir, 'fluent.conf'),
    watcherLog: join(work.dir, 'watcher.log'),
    marker: join(work.dir, 'main-is-done'),
    listenPort: await freePort(),
    sink: await HttpSink.start(),
    lines: new NumberedLines(),
    fluentdReady: async () => {
      await until(`"${READY_LINE}" in ${fluentdLog}`, running, { within: 60_000 });
    },
  };
}
