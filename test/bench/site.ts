import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { posText } from '../support/builders.ts';
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
  return { posFile, logs, fluentd: fluentd.pid, watch: watchForGood(dir, conf), remove };
}

/** The arguments of a `posidle watch` that never begins to drain. */
function watchForGood(dir: string, conf: string): readonly string[] {
  const triggers = ['--quiet', 'off', '--done-file', join(dir, 'done')];
  return ['watch', '--fluent-conf', conf, ...triggers, '--log-format', 'json'];
}

export interface Files {
  readonly dir: string;
  readonly posFile: string;
  readonly conf: string;
  readonly logs: readonly string[];
}

/** Log files that have been read; `match` is what else stands in fluent.conf. */
export function makeFiles(files: number, match = ''): Files {
  const dir = mkdtempSync(join(tmpdir(), 'posidle-bench-'));
  const posFile = join(dir, 'app.pos');
  const conf = join(dir, 'fluent.conf');
  mkdirSync(join(dir, 'log'));
  const logs = Array.from({ length: files }, (_, index) => join(dir, 'log', `app-${index}_default_main.log`));
  for (const log of logs) writeFileSync(log, LINE);
  writeFileSync(posFile, entriesOf(logs));
  writeFileSync(
    conf,
    `<source>\n@type tail\npath ${dir}/log/*.log\npos_file ${posFile}\ntag app\n<parse>\n@type none\n</parse>\n</source>\n${match}`,
  );
  return { dir, posFile, conf, logs };
}

function entriesOf(logs: readonly string[]): string {
  return posText(logs.map((path) => ({ path, position: LINE.length, inode: String(statSync(path).ino) })));
}
