import { describeOutcome, exitCodeOf } from '../core/outcome.ts';
import { watch } from '../daemon/loop.ts';
import type { LogFormat, LogLevel } from '../log.ts';
import { openLog } from '../node/logger.ts';
import { NodeHost } from '../node/node-host.ts';
import { onStopSignals } from '../node/signals.ts';
import { policyOf, posFilesOf, targetOf, type WatchArgs } from './options.ts';
import { LogReporter } from './report.ts';

/** `posidle watch`: beside a fluentd that something else started. Resolves to the exit code. */
export async function runWatch(args: WatchArgs): Promise<number> {
  const posFiles = posFilesOf(args['pos-file']);
  const subject = { posFiles, fluentd: targetOf(args) };
  const policy = policyOf(args);
  const log = openLog(args['log-level'] as LogLevel, formatOf(args));
  const host = new NodeHost(posFiles);
  onStopSignals((by) => host.request(by));
  try {
    log.info({ posFiles, policy }, `posidle watches ${posFiles.join(', ')}`);
    const outcome = await watch(host, { subject, policy, report: new LogReporter(log) });
    const code = exitCodeOf(outcome, policy);
    const tell = outcome.drained || outcome.end === 'dry-run' ? log.info : log.warn;
    tell({ outcome, code }, describeOutcome(outcome));
    return code;
  } finally {
    host.close();
    await log.close();
  }
}

function formatOf(args: WatchArgs): LogFormat {
  return (args['log-format'] as LogFormat | undefined) ?? (process.stderr.isTTY ? 'pretty' : 'json');
}
