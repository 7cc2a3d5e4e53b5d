import { constants } from 'node:os';
import { unseenBuffers } from '../core/buffers.ts';
import { quietWarnings } from '../core/fluent-conf.ts';
import { describeOutcome, type Outcome } from '../core/outcome.ts';
import type { Policy } from '../core/policy.ts';
import type { FluentdTarget } from '../core/processes.ts';
import type { StopVia } from '../core/subject.ts';
import { type Reporter, watch } from '../daemon/loop.ts';
import type { Log, LogFormat, LogLevel } from '../log.ts';
import { DoneFile } from '../node/done-file.ts';
import { type HttpServer, type Routes, startHttpServer } from '../node/http-server.ts';
import { openLog } from '../node/logger.ts';
import type { NodeHost } from '../node/node-host.ts';
import { writeTerminationLog } from '../node/termination-log.ts';
import { usageOf } from '../node/usage.ts';
import type { RunArgs } from './options.ts';
import { LogReporter } from './report.ts';
import { StatusBoard } from './status-board.ts';
import { type Found, subjectFor, withConf } from './subject.ts';
import { UsageError } from './usage-error.ts';

/** One watch from start to outcome, told to the log and to the termination message. */
export interface Supervision {
  readonly host: NodeHost;
  readonly args: RunArgs;
  readonly found: Found;
  readonly target: FluentdTarget;
  readonly policy: Policy;
  readonly codeOf: (outcome: Outcome) => number | Promise<number>;
}

/** Watches until Fluentd is gone; resolves to the exit code. */
export async function supervise({
  host,
  args,
  found,
  target,
  policy: given,
  codeOf,
}: Supervision): Promise<number> {
  const subject = subjectFor(found, {
    fluentd: target,
    stopVia: args['stop-via'] as StopVia,
    doneProcess: args['done-process'],
  });
  const policy = withConf(given, found);
  const log = openLog(args['log-level'] as LogLevel, formatOf(args));
  const doneFile =
    args['done-file'] === undefined
      ? undefined
      : new DoneFile(args['done-file'], args['ignore-old-done-file']);
  const board = new StatusBoard(() => host.now(), usageOf);
  const server = await listen(
    args,
    board.routes(() => host.request('http'), args['token-file']),
  );
  try {
    tellStart(log, found, policy);
    host.watchFiles(found.posFiles);
    doneFile?.watch(() => host.request('done-file'));
    const report = all([board, new LogReporter(log, { bar: process.stderr.isTTY, usage: usageOf })]);
    const outcome = await watch(host, { subject, policy, report });
    const code = await codeOf(outcome);
    const tell = outcome.drained || outcome.end === 'dry-run' ? log.info : log.warn;
    tell({ outcome, code }, describeOutcome(outcome));
    await writeTerminationLog(args['termination-log'], outcome).catch((error: Error) =>
      log.warn({}, `the termination message cannot be written: ${error.message}`),
    );
    return code;
  } finally {
    doneFile?.close();
    server?.close();
    host.close();
    await log.close();
  }
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

/** The shell's way to tell an end by signal in an exit code. */
export function codeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function tellStart(log: Log, { posFiles, conf, confPath, warnings }: Found, policy: Policy): void {
  const by = confPath === undefined ? '' : `, by ${confPath}`;
  log.info({ posFiles, fluentConf: confPath, policy }, `posidle watches ${posFiles.join(', ')}${by}`);
  const waits = policy.quiet === 'off' ? { grace: policy.grace } : { quiet: policy.quiet };
  for (const warning of [...warnings, ...(conf === undefined ? [] : quietWarnings(conf, waits))])
    log.warn({}, warning);
  const unseen = unseenBuffers(conf);
  if (unseen.length === 0) return;
  const remedy =
    conf === undefined
      ? 'give --fluent-conf'
      : 'add to fluent.conf: <source> @type monitor_agent, bind 127.0.0.1 </source>';
  log.info(
    { unseen },
    `buffers that posidle cannot see, and can only ask to flush: ${unseen.join(', ')}; to make them visible, ${remedy}`,
  );
}

function formatOf(args: RunArgs): LogFormat {
  return (args['log-format'] as LogFormat | undefined) ?? (process.stderr.isTTY ? 'pretty' : 'json');
}
