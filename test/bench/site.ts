import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { posText } from '../support/builders.ts';
import { renderConf, type Section, tail } from '../support/fluentd-conf.ts';
import { startGroup } from '../support/process-group.ts';

/** A Fluentd at rest, with so many log files that it has read. Two processes stand in for it: their names and open files are all that counts. */
export interface Site {
  readonly posFile: string;
  readonly logs: readonly string[];
  /** The supervisor's pid. */
  readonly fluentd: number;
  /** The arguments of a `posidle watch` that never begins to drain. */
  readonly watch: readonly string[];
  remove(): void;
}

const LINE = 'a line\n';
const SUPERVISOR = `(exec 9>>"$0"; exec -a 'worker:bench' sleep 100000) & exec -a 'supervisor:bench' tail -f /dev/null --pid=$!`;

export function makeSite(files: number): Site {
  const { dir, posFile, conf, logs } = makeFiles(files);
  const fluentd = startGroup(['bash', '-c', SUPERVISOR, posFile], { log: '/dev/null' });
  const remove = () => {
    fluentd.kill();
    rmSync(dir, { recursive: true });
  };
  const triggers = ['--quiet', 'off', '--done-file', join(dir, 'done')];
  const watch = ['watch', '--fluent-conf', conf, ...triggers, '--log-format', 'json'];
  return { posFile, logs, fluentd: fluentd.pid, watch, remove };
}

export type Files = ReturnType<typeof makeFiles>;

/** Log files that have been read. */
export function makeFiles(files: number, ...outputs: readonly Section[]) {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-bench-'));
  const posFile = join(dir, 'app.pos');
  const conf = join(dir, 'fluent.conf');
  mkdirSync(join(dir, 'log'));
  const logs = Array.from({ length: files }, (_, index) => join(dir, 'log', `app-${index}_default_main.log`));
  for (const log of logs) writeFileSync(log, LINE);
  const entries = logs.map((path) => ({ path, position: LINE.length, inode: String(statSync(path).ino) }));
  writeFileSync(posFile, posText(entries));
  writeFileSync(conf, renderConf([tail(`${dir}/log/*.log`, posFile), ...outputs]));
  return { dir, posFile, conf, logs };
}
