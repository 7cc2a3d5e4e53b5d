import {
  describeOutcome,
  EXIT,
  exitCodeOf,
  isFailure,
  isStoppedByPosidle,
  isWarning,
  type Outcome,
} from '../core/drain/outcome.ts';
import type { Policy } from '../core/drain/policy.ts';
import { formatDuration } from '../core/text/units.ts';
import type { Log } from '../log.ts';
import { inWords } from '../node/files/in-words.ts';
import { NodeHost } from '../node/node-host.ts';
import { openLog } from '../node/output/logger.ts';
import { writeTerminationLog } from '../node/output/termination-log.ts';
import type { Armed } from '../tasks/arm-triggers.ts';
import type { FoundPosFiles } from '../tasks/find-conf.ts';
import { Parent } from '../tasks/parent.ts';
import { CommandError, UsageError } from '../tasks/usage-error.ts';
import { type WatchSetup, watch } from '../tasks/watch.ts';
import type { WatchOptions } from '../tasks/watch-options.ts';
import { LogReporter } from './drain-report/report.ts';
import { StatusBoard } from './drain-report/status-board.ts';
import { keepHeapSmall } from './heap.ts';
import { listen } from './listen.ts';
import { inFlags } from './options/commands.ts';
import { type RunArgs, targetOf, type WatchArgs, watchOptionsOf } from './options/options.ts';
import { startWarnings } from './start-warnings.ts';

/** `posidle watch`: drains a Fluentd that something else started. Resolves to the exit code. */
export async function runWatch(args: WatchArgs): Promise<number> {
  const options = { ...watchOptionsOf(args), fluentd: targetOf(args) };
  return exitCodeOf(await watchAndReport(new NodeHost(), args, options), args);
}

const WITH_OWN_CODE: ReadonlySet<Outcome['end']> = new Set(['ended-by-itself', 'no-fluentd']);

/** `posidle run -- fluentd …`: starts Fluentd and drains it. Resolves to the exit code: Fluentd's own if it ended by itself. */
export async function runParent(args: RunArgs, command: readonly string[]): Promise<number> {
  if (command.length === 0)
    throw new UsageError(
      'run: the command to start is missing. Use posidle run [options] -- fluentd -c fluent.conf',
    );
  const host = new NodeHost();
  const parent = new Parent(host, command);
  const outcome = await watchAndReport(host, args, watchOptionsOf(args), { parent });
  const ownCode = WITH_OWN_CODE.has(outcome.end) ? await parent.exitCode() : undefined;
  return ownCode ?? exitCodeOf(outcome, args);
}

type ReportArgs = Pick<
  RunArgs,
  'listen' | 'log-format' | 'log-level' | 'quit-token' | 'strict' | 'termination-log'
>;

/**
 * Signals that users send to a Fluentd container (supervisor.rb, install_supervisor_signal_handlers). Without a handler SIGUSR1 would
 * open Node's inspector on port 9229.
 */
const FORWARDED_SIGNALS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'] as const;
const TOO_EARLY = 'ended by a second signal, before the configuration was read';

/** Watches until Fluentd is gone. Reports to the log, the termination message and HTTP. */
export async function watchAndReport(
  host: NodeHost,
  args: ReportArgs,
  options: WatchOptions,
  given: Pick<WatchSetup, 'parent' | 'found'> = {},
): Promise<Outcome> {
  keepHeapSmall();
  const { parent } = given;
  let signals = 0;
  let giveUp: ((error: Error) => void) | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  // Handlers come first: a PID 1 gets only the signals that it handles.
  for (const by of ['SIGTERM', 'SIGINT'] as const)
    process.on(by, () => {
      host.request(by);
      signals += 1;
      if (signals > 1) giveUp?.(new CommandError(TOO_EARLY, EXIT.cannotWork));
    });
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => void parent?.forward(signal));
  let close = async () => {};
  const begin: WatchSetup['begin'] = async (found, policy, armed) => {
    const log = openLog(args['log-level'], args['log-format'], inFlags);
    const board = new StatusBoard(() => host.now());
    const lines = new LogReporter(log, policy, found.witness);
    const routes = board.routes(() => host.request('http'), args['quit-token']);
    const server = args.listen && (await listen(args.listen, routes));
    close = async () => {
      server?.close();
      await log.close();
    };
    giveUp = undefined;
    tellStart(log, found, policy, withCalls(armed, args), host.requests().length > 0);
    for (const warning of startWarnings(options, process.env)) log.warn({}, warning);
    return {
      transition: (transition) => {
        const told = { ...transition, why: inFlags(transition.why) };
        board.transition(told);
        lines.transition(told);
      },
      looked: (state, seen) => {
        board.looked(state, seen);
        lines.looked(state, seen);
      },
      performed: (done) => lines.performed(done),
      warned: (text) => log.warn({}, text),
      ended: (outcome) => tellEnd(log, { ...outcome, why: inFlags(outcome.why) }, args, parent?.end),
    };
  };
  try {
    return await Promise.race([watch(host, options, { begin, ...given }), givenUp]);
  } finally {
    await close();
  }
}

const ONLY_CALLS =
  'quiet is off: only a call or a signal begins the drain. If none comes, the Pod never completes. Add a trigger that needs no call, such as --quiet 10m';

/** Adds the triggers that only the command has: HTTP and SIGTERM. */
function withCalls({ when, ...armed }: Armed, { listen, 'quit-token': token }: ReportArgs): Armed {
  const call = listen && token ? [`POST /quitquitquit comes to ${listen.host}:${listen.port}`] : [];
  return { when: [...when, ...call, 'SIGTERM comes'], ...armed };
}

function tellStart(log: Log, found: FoundPosFiles, policy: Policy, armed: Armed, isCalled: boolean): void {
  const { posFiles, confPath, warnings, witness } = found;
  const by = confPath === undefined ? '' : `, by ${confPath}`;
  const place = witness === undefined ? '' : ` in ${witness}`;
  const what =
    posFiles.length === 0 ? `asks Fluentd's witness${place}` : `watches ${posFiles.join(', ')}${by}`;
  const when = isCalled ? '' : `; the drain begins when ${armed.when.join(', or when ')}`;
  log.info({ posFiles, fluentConf: confPath }, `posidle ${what}${when}`);
  log.debug({ policy }, 'the settings');
  if (!armed.byItself && !isCalled) log.warn({}, ONLY_CALLS);
  for (const warning of warnings) log.warn({}, warning);
}

async function tellEnd(log: Log, outcome: Outcome, args: ReportArgs, childEnd?: string): Promise<void> {
  const code = exitCodeOf(outcome, args);
  const waited = Object.values(outcome.durationsMs).reduce((sum, span) => sum + span, 0);
  const isOwn = childEnd !== undefined && !isStoppedByPosidle(outcome);
  const hasFailed = !isOwn && isFailure(outcome);
  const how = hasFailed ? `exit code ${code} after ${formatDuration(waited)}` : isOwn && childEnd;
  const tell = hasFailed ? log.error : isWarning(outcome) ? log.warn : log.info;
  tell({ outcome }, [describeOutcome(outcome), ...(how ? [how] : [])].join('; '));
  await writeTerminationLog(args['termination-log'], outcome).catch((error: Error) =>
    log.warn(
      {},
      `the termination message cannot be written: ${inWords(error)}. The outcome is only in this log`,
    ),
  );
}
