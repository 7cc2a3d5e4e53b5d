import { describeOutcome, type Outcome } from '../core/drain/outcome.ts';
import type { Policy } from '../core/drain/policy.ts';
import { tailFacts } from '../core/fluent-conf/facts.ts';
import { multilineWarnings, quietWarnings } from '../core/fluent-conf/warnings.ts';
import { unseenByConf } from '../core/fluentd/buffers.ts';
import type { FluentdTarget } from '../core/fluentd/processes.ts';
import type { StopVia } from '../core/look/subject.ts';
import { type Reporter, watch } from '../daemon/loop.ts';
import type { Log, LogFormat, LogLevel } from '../log.ts';
import { DoneFile } from '../node/files/done-file.ts';
import { type HttpServer, type Routes, startHttpServer } from '../node/network/http-server.ts';
import type { NodeHost } from '../node/node-host.ts';
import { openLog } from '../node/output/logger.ts';
import { writeTerminationLog } from '../node/output/termination-log.ts';
import { usageOf } from '../node/processes/usage.ts';
import { type Found, subjectFor } from '../tasks/subject.ts';
import { UsageError } from '../tasks/usage-error.ts';
import type { RunArgs } from './options/options.ts';
import { LogReporter } from './tell/report.ts';
import { StatusBoard } from './tell/status-board.ts';

/** One watch from start to outcome, told to the log and to the termination message. */
export interface Supervision {
  readonly host: NodeHost;
  readonly args: RunArgs;
  readonly found: Found;
  readonly policy: Policy;
  readonly doneFile: DoneFile | undefined;
  /** Comes when all that could be wrong with the flags has been looked at. */
  readonly start: () => Promise<FluentdTarget>;
  readonly codeOf: (outcome: Outcome) => number | Promise<number>;
}

/** Watches until Fluentd is gone; resolves to the exit code. */
export async function supervise(supervision: Supervision): Promise<number> {
  const { host, args, found, doneFile } = supervision;
  const subject = subjectFor(found, {
    stopVia: args['stop-via'] as StopVia,
    doneProcess: args['done-process'],
  });
  const log = openLog(args['log-level'] as LogLevel, formatOf(args));
  const board = new StatusBoard(() => host.now(), usageOf);
  const quit = () => host.request('http');
  const server = await listen(args, board.routes(quit, args['token-file']));
  try {
    const policy = { ...supervision.policy, tail: tailFacts(found.conf) };
    tellStart(log, found, policy);
    host.watchFiles(found.posFiles, (why) =>
      log.warn({}, `no file events, looking by the clock alone: ${why}`),
    );
    doneFile?.watch(() => host.request('done-file'));
    const report = all([board, new LogReporter(log, { bar: process.stderr.isTTY, usage: usageOf })]);
    const fluentd = await supervision.start();
    const outcome = await watch(host, { subject: { ...subject, fluentd }, policy, report });
    const tell = outcome.drained === 'drained' || outcome.end === 'dry-run' ? log.info : log.warn;
    tell({ outcome }, describeOutcome(outcome));
    await writeTerminationLog(args['termination-log'], outcome).catch((error: Error) =>
      log.warn({}, `the termination message cannot be written: ${error.message}`),
    );
    return await supervision.codeOf(outcome);
  } finally {
    doneFile?.close();
    server?.close();
    host.close();
    await log.close();
  }
}

/** The marker as it is now, before anything that takes time. */
export function doneFileOf(args: RunArgs): DoneFile | undefined {
  const path = args['done-file'];
  return path === undefined ? undefined : new DoneFile(path, args['ignore-old-done-file']);
}

async function listen({ listen }: RunArgs, routes: Routes): Promise<HttpServer | undefined> {
  if (listen === undefined) return undefined;
  try {
    return await startHttpServer(listen, routes);
  } catch (error) {
    throw new UsageError(
      `--listen: cannot listen on ${listen.host}:${listen.port}: ${(error as Error).message}`,
    );
  }
}

/** One reporter for several. */
function all(reporters: readonly Reporter[]): Reporter {
  return {
    transition: (transition) => reporters.forEach((reporter) => void reporter.transition(transition)),
    looked: (state, seen) => reporters.forEach((reporter) => void reporter.looked(state, seen)),
    performed: (done) => reporters.forEach((reporter) => void reporter.performed(done)),
  };
}

function tellStart(log: Log, { posFiles, conf, confPath, warnings }: Found, policy: Policy): void {
  const by = confPath === undefined ? '' : `, by ${confPath}`;
  log.info({ posFiles, fluentConf: confPath, policy }, `posidle watches ${posFiles.join(', ')}${by}`);
  const waits = policy.quiet === 'off' ? { grace: policy.grace } : { quiet: policy.quiet };
  for (const warning of [
    ...warnings,
    ...(conf === undefined ? [] : [...quietWarnings(conf, waits), ...multilineWarnings(conf)]),
  ])
    log.warn({}, warning);
  const unseen = unseenByConf(conf);
  if (unseen.length === 0) return;
  const remedy =
    conf === undefined
      ? 'give --fluent-conf'
      : 'add to fluent.conf: <source> @type monitor_agent, bind 127.0.0.1 </source>';
  log.warn(
    { unseen },
    `posidle cannot see whether these buffers are delivered: ${unseen.join(', ')}; the outcome will be unproven; to make them visible, ${remedy}`,
  );
}

function formatOf(args: RunArgs): LogFormat {
  return (args['log-format'] as LogFormat | undefined) ?? (process.stderr.isTTY ? 'pretty' : 'json');
}
