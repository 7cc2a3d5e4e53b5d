import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Outcome } from '../../src/core/drain/outcome.ts';
import type { Report } from '../../src/core/witness/answer.ts';
import { askWitnesses } from '../../src/node/witness/ask-witnesses.ts';
import type { Site } from './delivery-site.ts';
import { renderConf, type Section } from './fluentd-conf.ts';
import { killProcesses } from './own-processes.ts';
import { type LogLine, POSIDLE, type PosidleRun, startPosidle } from './posidle.ts';
import {
  containerEnv,
  type FluentdRun,
  requireFluentd,
  startFluentd,
  witnessIn,
  workerRuns,
} from './real-fluentd.ts';
import { until } from './until.ts';

export interface Ended {
  code: number | null;
  /** posidle's termination message. */
  outcome: Outcome;
  log: LogLine[];
  /** Numbered lines that main has written and the destination has not got. */
  lost: number;
  delivered: number;
  /** From main's end to posidle's. */
  seconds: number;
}

export interface Delivery {
  version: string;
  conf: readonly Section[];
  /** main does this before Fluentd starts. */
  before?: () => Promise<unknown>;
  /** main does this when Fluentd is up, before its done file. */
  main?: (posidle: PosidleRun) => Promise<unknown> | undefined;
  /** The way to report main's end; by default the done file. */
  end?: (posidle: PosidleRun) => void;
  /** posidle's options; those given here replace the usual ones. */
  args?: readonly string[];
  fluentdArgs?: readonly string[];
  /** The command for `run`, if it is not Fluentd's own command line. */
  command?: (fluentd: readonly string[]) => readonly string[];
  /** Words before the command of a Fluentd that is not posidle's child. */
  fluentdWrapper?: readonly string[];
  /** Words before posidle's own command. */
  wrapper?: readonly string[];
  /** false: nobody looks into a Fluentd that is not posidle's child. */
  witness?: boolean;
}

/** Runs `posidle run … -- fluentd …` from its start to its end. */
export async function runDelivery(site: Site, delivery: Delivery): Promise<Ended> {
  const { version, conf, args = [], fluentdArgs = [], command = (words) => words } = delivery;
  const fluentd = requireFluentd(version);
  writeFileSync(site.conf, renderConf(conf));
  await delivery.before?.();
  const started = command([fluentd.command, '-c', site.conf, ...fluentdArgs]);
  const words = ['run', ...usualOptions(site, args), ...args, '--', ...started];
  // Chunks of other tests in the usual one, /tmp/fluent, would be those of this Fluentd.
  const env = { ...containerEnv(fluentd, site.dir), FLUENT_BACKUP_DIR: site.backup };
  const posidle = startPosidle(words, { env, cwd: site.dir, ...wrapperOf(delivery) });
  await workerRuns(posidle.exited, () => posidle.stderr() + posidle.stdout());
  return await toTheEnd(site, delivery, posidle);
}

/** Runs `posidle watch` beside a Fluentd that is started here, or was before. */
export async function watchDelivery(site: Site, delivery: Delivery, fluentd?: FluentdRun): Promise<Ended> {
  const { args = [] } = delivery;
  await delivery.before?.();
  await (fluentd ?? startBeside(site, delivery)).ready;
  const witness = delivery.witness === false ? 'off' : witnessIn(site.dir);
  const words = ['watch', '-c', site.conf, '--witness', witness, ...usualOptions(site, args), ...args];
  const posidle = startPosidle(words, { cwd: '/', ...wrapperOf(delivery) });
  await posidle.logged(/fluentd runs/);
  return await toTheEnd(site, delivery, posidle);
}

/** Runs `posidle drain` when main has ended, beside a Fluentd whose configuration and files it does not know. */
export async function drainDelivery(
  site: Site,
  delivery: Delivery,
  main: () => Promise<unknown>,
): Promise<Ended> {
  await delivery.before?.();
  await startBeside(site, delivery).ready;
  await main();
  const options = ['--grace', '60s', '--log-format', 'json', '--termination-log', site.termination];
  const words = ['drain', '--main-ended', '--witness', witnessIn(site.dir), ...options, '--strict'];
  return await toTheEnd(site, { end: () => undefined, ...delivery }, startPosidle(words, { cwd: '/' }));
}

/** Starts a Fluentd that is not posidle's child. */
export function startBeside(
  site: Site,
  { version, conf, fluentdArgs = [], fluentdWrapper = [], witness = true }: Delivery,
): FluentdRun {
  const [args, wrapper] = [fluentdArgs, fluentdWrapper];
  const fluentd = startFluentd({ version, dir: site.dir, conf: renderConf(conf), args, wrapper, witness });
  writeFileSync(site.pidFile, `${fluentd.pid}\n`);
  return fluentd;
}

/** Waits until the witness of a Fluentd that is not posidle's child says so. */
export async function said(site: Site, what: string, holds: (said: Report) => boolean): Promise<void> {
  await until(what, async () => {
    const { witnesses } = await askWitnesses(witnessIn(site.dir), 'look');
    return witnesses.some((one) => one.kind === 'alive' && holds(one.report));
  });
}

async function toTheEnd(site: Site, { main, end }: Delivery, posidle: PosidleRun): Promise<Ended> {
  await main?.(posidle);
  const ending = endOf(site, posidle);
  if (end === undefined) writeFileSync(site.marker, '');
  else end(posidle);
  return await ending;
}

/** What posidle has said when it has ended, and what has been delivered then. */
export async function endOf(site: Site, posidle: PosidleRun): Promise<Ended> {
  const began = performance.now();
  const code = await withinLimit(site, posidle);
  site.told = `${posidle.stdout().slice(-4_000)}\n${posidle.stderr().slice(-4_000)}`;
  return {
    code,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    lost: site.lines.written - site.delivered(),
    delivered: site.delivered(),
    outcome: JSON.parse(existsSync(site.termination) ? readFileSync(site.termination, 'utf8') : 'null'),
    log: posidle.log(),
  };
}

function usualOptions({ marker, termination }: Site, args: readonly string[]): string[] {
  const options = {
    '--done-file': marker,
    '--quiet': 'off',
    '--drain-timeout': '60s',
    '--stop-timeout': '40s',
    '--start-timeout': '60s',
    '--termination-log': termination,
  };
  const usual = Object.entries(options).filter(([name]) => !args.includes(name));
  return [...usual.flat(), '--strict'];
}

function wrapperOf({ wrapper }: Delivery): { wrapper?: readonly string[] } {
  return wrapper === undefined ? {} : { wrapper: [...wrapper, ...POSIDLE] };
}

const LIMIT = 140_000;

async function withinLimit(site: Site, { exited, stderr }: PosidleRun): Promise<number | null> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killProcesses(site.processes());
  }, LIMIT);
  const code = await exited;
  clearTimeout(timer);
  if (late) throw new Error(`posidle did not end within ${LIMIT} ms:\n${stderr().slice(-3_000)}`);
  return code;
}
