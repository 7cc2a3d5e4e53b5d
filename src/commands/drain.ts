import { exitCodeOf } from '../core/drain/outcome.ts';
import { KUBELET_RESERVE } from '../core/drain/policy.ts';
import { SHARED_DIR } from '../core/witness/load.ts';
import { NodeHost } from '../node/node-host.ts';
import { endingFor, sharedDir } from '../node/witness/shared-dir.ts';
import { NOTHING_FOUND } from '../tasks/find-conf.ts';
import { UsageError } from '../tasks/usage-error.ts';
import type { DrainArgs } from './options/options.ts';
import { watchAndReport } from './watch.ts';

/**
 * Requests the drain, and watches the Fluentd whose witness listens. In an ending Pod the grace period counts from the mark `ending`, which
 * the preStop hook of posidle's container made (docker/image/asleep): main may have used a part of it, or all. Else it counts from Node's
 * start, which is 0 for the host: on a busy node Node takes seconds to load posidle.
 */
export async function runDrain(args: DrainArgs): Promise<number> {
  const { grace, witness = sharedDir() ?? SHARED_DIR } = args;
  if (witness === 'off') throw new UsageError('--witness off: only a Fluentd with a witness can be drained');
  const host = new NodeHost();
  const ending = await endingFor(witness);
  const [podEnds, spent] = [ending !== undefined, ending ?? 0];
  host.request(args['main-ended'] ? 'main-ended' : 'drain', -spent);
  const options = {
    grace: podEnds ? Math.max(grace, spent + KUBELET_RESERVE) : grace,
    quiet: 'off',
    startTimeout: 'off',
    podEnds,
    witness,
  } as const;
  return exitCodeOf(await watchAndReport(host, args, options, undefined, NOTHING_FOUND), args);
}
