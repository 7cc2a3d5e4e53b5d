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
import { multilineWarnings, quietWarnings } from '../core/fluent-conf/warnings.ts';
import { formatDuration } from '../core/text/units.ts';
import type { Reporter } from '../daemon/loop.ts';
import type { Log } from '../log.ts';
import { inWords } from '../node/files/in-words.ts';
import type { NodeHost } from '../node/node-host.ts';
import { openLog } from '../node/output/logger.ts';
import { writeTerminationLog } from '../node/output/termination-log.ts';
import { onSignals } from '../node/processes/signals.ts';
import type { Armed } from '../tasks/arm-triggers.ts';
import type { Found } from '../tasks/find-pos-files.ts';
import { CommandError } from '../tasks/usage-error.ts';
import { type Surroundings, type WatchReporter, watch } from '../tasks/watch.ts';
import type { WatchOptions } from '../tasks/watch-options.ts';
import { LogReporter } from './drain-report/report.ts';
import { StatusBoard } from './drain-report/status-board.ts';
import { listen } from './listen.ts';
import { inFlags, logInFlags, outcomeInFlags } from './options/flag-wording.ts';
import type { SharedArgs } from './options/options.ts';
import { startWarnings } from './start-warnings.ts';

/** The options that say how to report, and who may call. */
type SuperviseArgs = Pick<
  SharedArgs,
  'listen' | 'log-format' | 'log-level' | 'quit-token' | 'strict' | 'termination-log'
>;

/** Watches until Fluentd is gone; tells the log, the termination message and whoever asks by HTTP. */
export async function supervise(
  host: NodeHost,
  args: SuperviseArgs,
  options: WatchOptions,
  given: Pick<Surroundings, 'parent' | 'found'> = {},
): Promise<Outcome> {
  const { parent } = given;
  let signals = 0;
  let giveUp: ((error: Error) => void) | undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  onSignals(
    (by) => {
      host.request(by);
      signals += 1;
      if (signals > 1) giveUp?.(new CommandError(TOO_EARLY, EXIT.noFluentd));
    },
    (signal) => void parent?.forward(signal),
  );
  let close = async () => {};
  const begin = async (found: Found, policy: Policy, armed: Armed): Promise<WatchReporter> => {
    const stderr = openLog(args['log-level'], args['log-format']);
    const log = logInFlags(stderr);
    const board = new StatusBoard(() => host.now(), policy);
    const routes = board.routes(() => host.request('http'), args['quit-token']);
    const server = args.listen && (await listen(args.listen, routes));
    close = async () => {
      server?.close();
      await stderr.close();
    };
    giveUp = undefined;
    tellStart(log, { found, policy, armed: withCalls(armed, args) });
    for (const warning of await startWarnings(args, process.env)) log.warn({}, warning);
    const lines = new LogReporter(log, policy, found.witness);
    return {
      ...all([board, lines]),
      warned: (text) => log.warn({}, inFlags(text)),
      withoutEvents: (why) =>
        log.warn(
          {},
          `the system reports no changes of files (${why}). posidle looks once a second instead; that loses nothing`,
        ),
      ended: (outcome) => tellEnd(log, outcomeInFlags(outcome), args, parent?.end),
    };
  };
  try {
    return await Promise.race([watch(host, options, { begin, ...given, nameOptions: inFlags }), givenUp]);
  } finally {
    await close();
  }
}

const TOO_EARLY = 'ended by a second signal, before the configuration was read';

const ONLY_CALLS =
  'quiet is off: only a call or a signal begins the drain. If none comes, the Pod never completes.';
const AS_SIDECAR = 'In a native sidecar the kubelet sends SIGTERM';
const ELSEWHERE = 'Everywhere else add a trigger that needs no call, such as --quiet 10m';

const NO_FLUSH =
  'there is no witness: posidle can ask for a flush only if it sees the process of Fluentd and may signal it. Without a flush, Fluentd may ' +
  'end with full buffers. Mount a volume at /posidle, here and into Fluentd, and load the witness: posidle witness /posidle prints the lines';

/** One reporter for several, which are told of flags. */
function all(reporters: readonly Reporter[]): Reporter {
  return {
    transition: (transition) => {
      const told = { ...transition, why: inFlags(transition.why) };
      reporters.forEach((reporter) => void reporter.transition(told));
    },
    looked: (state, seen) => reporters.forEach((reporter) => void reporter.looked(state, seen)),
    performed: (done) => reporters.forEach((reporter) => void reporter.performed(done)),
  };
}

/** The triggers with those that the command adds. */
function withCalls({ when, ...armed }: Armed, { listen, 'quit-token': token }: SuperviseArgs): Armed {
  const call = listen && token ? [`POST /quitquitquit comes to ${listen.host}:${listen.port}`] : [];
  return { when: [...when, ...call, 'SIGTERM comes'], ...armed };
}

interface Start {
  readonly found: Found;
  readonly policy: Policy;
  readonly armed: Armed;
}

function tellStart(log: Log, { found, policy, armed }: Start): void {
  const { posFiles, conf, confPath, warnings, witness } = found;
  const by = confPath === undefined ? '' : `, by ${confPath}`;
  log.info(
    { posFiles, fluentConf: confPath },
    posFiles.length === 0
      ? `posidle drains Fluentd by its witness in ${witness}`
      : `posidle watches ${posFiles.join(', ')}${by}; the drain begins when ${armed.when.join(', or when ')}`,
  );
  log.debug({ policy }, 'the settings');
  if (policy.leavesStop && witness === undefined) log.warn({}, NO_FLUSH);
  // The kubelet sends SIGTERM to a native sidecar, which it also starts again.
  if (!armed.byItself && policy.restartPolicy !== 'always' && !policy.leavesStop) {
    const asSidecar = policy.parent ? AS_SIDECAR : `${AS_SIDECAR}: give --restart-policy always`;
    log.warn({}, `${ONLY_CALLS} ${asSidecar}. ${ELSEWHERE}`);
  }
  if (policy.restartPolicy === 'on-failure') for (const text of armed.hasty) log.warn({}, text);
  const waits = policy.quiet === 'off' ? { grace: policy.grace } : { quiet: policy.quiet };
  const further = conf === undefined ? [] : [...quietWarnings(conf, waits), ...multilineWarnings(conf)];
  for (const warning of [...warnings, ...further]) log.warn({}, warning);
}

/** `childEnd`: how the command of `run` ended. */
async function tellEnd(log: Log, outcome: Outcome, args: SuperviseArgs, childEnd?: string): Promise<void> {
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
