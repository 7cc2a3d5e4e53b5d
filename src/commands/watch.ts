import {
  describeOutcome,
  exitCodeOf,
  isFailure,
  isStoppedByPosidle,
  type Outcome,
} from '../core/drain/outcome.ts';
import { sum } from '../core/text/lists.ts';
import { formatDuration } from '../core/text/units.ts';
import { SHARED_DIR } from '../core/witness/load.ts';
import { exists } from '../node/files/files.ts';
import { inWords } from '../node/files/in-words.ts';
import { NodeHost } from '../node/node-host.ts';
import { type Log, openLog } from '../node/output/logger.ts';
import { writeTerminationLog } from '../node/output/termination-log.ts';
import type { FoundPosFiles } from '../tasks/find-conf.ts';
import { Parent } from '../tasks/parent.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { planWatch, type WatchReporter, watchFluentd } from '../tasks/watch.ts';
import type { WatchOptions } from '../tasks/watch-options.ts';
import { LogReporter } from './drain-report/report.ts';
import { WatchEndpoints } from './drain-report/watch-endpoints.ts';
import { keepHeapSmall } from './heap.ts';
import { listen } from './listen.ts';
import { unknownVariables } from './options/environment.ts';
import { USE_RUN } from './options/mistakes.ts';
import { type WatchArgs, watchOptionsOf } from './options/options.ts';

export async function runWatch(args: WatchArgs): Promise<number> {
  return exitCodeOf(await watchAndReport(new NodeHost(), args, watchOptionsOf(args)), args);
}

const WITH_OWN_CODE: ReadonlySet<Outcome['end']> = new Set(['ended-by-itself', 'no-fluentd']);

/** `posidle run -- fluentd …`: starts Fluentd and drains it. Resolves to the exit code: Fluentd's own if it failed by itself. */
export async function runParent(args: WatchArgs, command: readonly string[]): Promise<number> {
  if (command.length === 0) throw new UsageError(`run: the command to start is missing. ${USE_RUN}`);
  const host = new NodeHost();
  const parent = new Parent(host, command);
  const outcome = await watchAndReport(host, args, watchOptionsOf(args), parent);
  const ownCode = WITH_OWN_CODE.has(outcome.end) ? await parent.exitCode : undefined;
  // Fluentd's 0 says nothing of delivery.
  return ownCode || exitCodeOf(outcome, args);
}

type ReportArgs = Pick<WatchArgs, 'log-format' | 'strict' | 'termination-log'> &
  Partial<Pick<WatchArgs, 'listen' | 'quit-token'>>;

/**
 * Signals that users send to a Fluentd container (supervisor.rb, install_supervisor_signal_handlers). Without a handler SIGUSR1 would
 * open Node's inspector on port 9229.
 */
const FORWARDED_SIGNALS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'] as const;

/** Watches until Fluentd is gone. Reports to the log, the termination message and HTTP. */
export async function watchAndReport(
  host: NodeHost,
  args: ReportArgs,
  options: WatchOptions,
  parent?: Parent,
  known?: FoundPosFiles,
): Promise<Outcome> {
  keepHeapSmall();
  // Handlers come first: a PID 1 gets only the signals that it handles.
  for (const by of ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const) process.on(by, () => host.request(by));
  const log = openLog(args['log-format']);
  const warned = (text: string) => log.warn({}, text);
  for (const signal of FORWARDED_SIGNALS)
    process.on(
      signal,
      () => void parent?.forward(signal).catch(({ message }) => warned(`no ${signal}: ${message}`)),
    );
  try {
    const plan = await planWatch(host, options, parent, known);
    const { found, policy, armed } = plan;
    const endpoints = new WatchEndpoints(() => host.now());
    const isWanted = parent === undefined && options.witness !== 'off';
    const lines = new LogReporter(log, policy, isWanted ? (found.witness ?? SHARED_DIR) : undefined);
    const routes = endpoints.routes(() => host.request('http'), args['quit-token']);
    if (args.listen !== undefined) await listen(args.listen, routes);
    const isCalled = host.requests().length > 0;
    const when = isCalled ? [] : [...armed, ...callsIn(args)];
    tellStart(log, found, when, armed.length > 0 || isCalled);
    for (const warning of unknownVariables(process.env)) warned(warning);
    const token = args['quit-token'];
    if (token !== undefined && token !== 'none' && !(await exists(token)))
      warned(`--quit-token: posidle sees no file ${token}. Without it no POST begins the drain`);
    const report: WatchReporter = {
      transition: (transition) => {
        endpoints.transition(transition);
        lines.transition(transition);
      },
      looked: (state, seen) => {
        endpoints.looked(state, seen);
        lines.looked(state, seen);
      },
      performed: (done) => lines.performed(done),
      warned,
      ended: (outcome) => tellEnd(log, outcome, args, parent?.end),
    };
    return await watchFluentd(host, options, plan, report, parent);
  } finally {
    await log.close();
  }
}

const ONLY_CALLS =
  'quiet is off: only a call or a signal begins the drain. If none comes, the Pod never completes. Add a trigger that needs no call, such as --quiet 10m';

function callsIn({ listen, 'quit-token': token }: ReportArgs): readonly string[] {
  const call = listen && token ? [`POST /quitquitquit comes to ${listen.host}:${listen.port}`] : [];
  return [...call, 'SIGTERM comes'];
}

function tellStart(log: Log, found: FoundPosFiles, when: readonly string[], isCertain: boolean): void {
  const { posFiles, confPath, warnings, witness } = found;
  const by = confPath === undefined ? '' : `, by ${confPath}`;
  const place = witness === undefined ? '' : ` in ${witness}`;
  const watched = posFiles.length > 0 ? posFiles.join(', ') : "Fluentd's buffers";
  const isAsked = posFiles.length === 0 && confPath === undefined;
  const what = isAsked ? `asks Fluentd's witness${place}` : `watches ${watched}${by}`;
  const begin = when.length === 0 ? '' : `; the drain begins when ${when.join(', or when ')}`;
  log.info({ posFiles, fluentConf: confPath }, `posidle ${what}${begin}`);
  if (!isCertain) log.warn({}, ONLY_CALLS);
  for (const warning of warnings) log.warn({}, warning);
}

async function tellEnd(log: Log, outcome: Outcome, args: ReportArgs, childEnd?: string): Promise<void> {
  const code = exitCodeOf(outcome, args);
  const waited = sum(Object.values(outcome.durationsMs));
  const isOwn = childEnd !== undefined && !isStoppedByPosidle(outcome.end);
  const hasFailed = !isOwn && isFailure(outcome);
  const how = isOwn ? ` (${childEnd}; its log says why)` : '';
  const failed = hasFailed ? `; exit code ${code} after ${formatDuration(waited)}` : '';
  const tell = hasFailed ? log.error : outcome.outcome === 'drained' ? log.info : log.warn;
  tell({ outcome }, `${describeOutcome({ ...outcome, why: outcome.why + how })}${failed}`);
  await writeTerminationLog(args['termination-log'], outcome).catch((error: Error) =>
    log.warn(
      {},
      `the termination message cannot be written: ${inWords(error)}. The outcome is only in this log`,
    ),
  );
}
