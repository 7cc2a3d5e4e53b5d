import { exitCodeOf } from '../core/drain/outcome.ts';
import { NodeHost } from '../node/node-host.ts';
import { beginDrain } from '../tasks/drain.ts';
import type { DrainArgs } from './options/options.ts';
import { watchAndReport } from './watch.ts';

export async function runDrain(args: DrainArgs): Promise<number> {
  const host = new NodeHost();
  const { grace, witness, 'main-ended': mainEnded } = args;
  const { options, found } = await beginDrain(host, { grace, witness, mainEnded });
  return exitCodeOf(await watchAndReport(host, args, options, { found }), args);
}
