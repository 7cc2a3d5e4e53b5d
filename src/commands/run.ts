import { exitCodeOf, type Outcome } from '../core/drain/outcome.ts';
import { NodeHost } from '../node/node-host.ts';
import { Parent } from '../tasks/parent.ts';
import { UsageError } from '../tasks/usage-error.ts';
import { type RunArgs, watchOptionsOf } from './options/options.ts';
import { supervise } from './supervise.ts';

const WITH_OWN_CODE: ReadonlySet<Outcome['end']> = new Set(['ended-by-itself', 'no-fluentd']);

/** `posidle run -- fluentd …`: as fluentd's parent, the container's command. Resolves to the exit code; to Fluentd's own where it ended by itself. */
export async function runParent(args: RunArgs, command: readonly string[]): Promise<number> {
  if (command.length === 0) {
    throw new UsageError(
      'run: the command to start is missing. Use posidle run [options] -- fluentd -c fluent.conf',
    );
  }
  const host = new NodeHost();
  const parent = new Parent(host, command);
  const outcome = await supervise(host, args, watchOptionsOf(args), { parent });
  const ownCode = WITH_OWN_CODE.has(outcome.end) ? await parent.exitCode() : undefined;
  return ownCode ?? exitCodeOf(outcome, args);
}
