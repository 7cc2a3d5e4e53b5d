import { exitCodeOf } from '../core/drain/outcome.ts';
import { NodeHost } from '../node/node-host.ts';
import { onSignals } from '../node/processes/signals.ts';
import { findSubject } from '../tasks/subject.ts';
import { policyOf, targetOf, type WatchArgs } from './options/options.ts';
import { doneFileOf, supervise } from './supervise.ts';

/** `posidle watch`: beside a fluentd that something else started. Resolves to the exit code. */
export async function runWatch(args: WatchArgs): Promise<number> {
  const host = new NodeHost();
  onSignals(
    (by) => host.request(by),
    () => {},
  );
  const doneFile = doneFileOf(args);
  const target = targetOf(args);
  const policy = policyOf(args);
  const found = await findSubject(host, {
    posFiles: args['pos-file'] ?? [],
    fluentConf: args['fluent-conf'],
    mayAsk: true,
  });
  return supervise({
    host,
    args,
    found,
    doneFile,
    policy,
    start: async () => target,
    codeOf: (outcome) => exitCodeOf(outcome, args),
  });
}
