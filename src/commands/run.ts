import { exitCodeOf, type Outcome } from '../core/drain/outcome.ts';
import { fluentdArguments } from '../core/fluentd/command-line.ts';
import { NodeHost } from '../node/node-host.ts';
import { onSignals } from '../node/processes/signals.ts';
import { Parent } from '../tasks/parent.ts';
import { findSubject } from '../tasks/subject.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { policyOf, type RunArgs } from './options/options.ts';
import { doneFileOf, supervise } from './supervise.ts';

/** `posidle run -- fluentd …`: as fluentd's parent, the container's command. Resolves to the exit code. */
export async function runParent(args: RunArgs, command: readonly string[]): Promise<number> {
  const host = new NodeHost();
  const parent = new Parent(host, command);
  onSignals(
    (by) => {
      host.request(by);
      // A dry run ends nothing: Fluentd gets what it would get without posidle.
      if (args['dry-run']) void parent.end(by);
    },
    (signal) => void parent.forward(signal),
  );
  const doneFile = doneFileOf(args);
  if (command.length === 0) {
    throw new UsageError('no command given: posidle run [options] -- fluentd -c fluent.conf');
  }
  refuseDaemon(command);
  const policy = { ...policyOf(args), parent: true };
  const found = await findSubject(host, {
    posFiles: args['pos-file'] ?? [],
    fluentConf: args['fluent-conf'],
    command,
    mayAsk: true,
  });
  try {
    return await supervise({
      host,
      args,
      found,
      doneFile,
      policy,
      start: () => parent.start(),
      codeOf: (outcome) => codeOfRun(outcome, exitCodeOf(outcome, args), parent),
    });
  } catch (error) {
    // Whatever is wrong with posidle, Fluentd gets its orderly end.
    await parent.stop(policy.stopSignal, policy.stopTimeout);
    throw error;
  }
}

const WITH_OWN_CODE: ReadonlySet<Outcome['end']> = new Set(['ended-by-itself', 'no-fluentd', 'dry-run']);

/** Where Fluentd ended by itself its own code counts, 128 + n for a signal. A dry run leaves it running until it does. */
async function codeOfRun({ end }: Outcome, code: number, parent: Parent): Promise<number> {
  if (end !== 'dry-run') await parent.finish();
  return WITH_OWN_CODE.has(end) ? await parent.ownCode() : code;
}

/** Throws where fluentd is told to become a daemon: its parent would see it end at once. */
export function refuseDaemon(command: readonly string[]): void {
  if (fluentdArguments(command).daemon === undefined) return;
  throw new UsageError(
    '--daemon: fluentd would go into the background, and posidle run is its parent: leave it out',
  );
}
