import { exitCodeOf } from '../core/drain/outcome.ts';
import { NodeHost } from '../node/node-host.ts';
import { targetOf, type WatchArgs, watchOptionsOf } from './options/options.ts';
import { supervise } from './supervise.ts';

/** `posidle watch`: beside a fluentd that something else started. Resolves to the exit code. */
export async function runWatch(args: WatchArgs): Promise<number> {
  const options = { ...watchOptionsOf(args), fluentd: targetOf(args) };
  return exitCodeOf(await supervise(new NodeHost(), args, options), args);
}
