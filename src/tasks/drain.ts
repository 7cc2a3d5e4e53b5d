import { KUBELET_RESERVE } from '../core/drain/policy.ts';
import type { Millis } from '../core/text/units.ts';
import { SHARED_DIR } from '../core/witness/load.ts';
import type { NodeHost } from '../node/node-host.ts';
import { endingFor, sharedDir } from '../node/witness/shared-dir.ts';
import { UsageError } from './usage-error.ts';
import { type WatchOptions, WITNESS_START } from './watch-options.ts';

type DrainSetup = Pick<WatchOptions, 'witness'> & { readonly grace: Millis; readonly mainEnded: boolean };

/**
 * Requests the drain, and gives the arguments for a `watch` of the Fluentd whose witness listens. In an ending Pod the grace period counts
 * from the mark `ending`, which the preStop hook of posidle's container made (docker/image/asleep): main may have used a part of it, or all.
 * `mainEnded`: the caller knows that main has ended.
 */
export async function beginDrain(
  host: NodeHost,
  { grace, mainEnded, witness = sharedDir() ?? SHARED_DIR }: DrainSetup,
) {
  if (witness === 'off') throw new UsageError('--witness off: only a Fluentd with a witness can be drained');
  const ending = await endingFor(witness);
  const [podEnds, spent] = [ending !== undefined, ending ?? 0];
  host.request(mainEnded ? 'main-ended' : 'drain', host.now() - spent);
  const options = {
    grace: podEnds ? Math.max(grace, spent + KUBELET_RESERVE) : grace,
    quiet: 'off',
    startTimeout: WITNESS_START,
    podEnds,
    witness,
  } as const;
  const found = { posFiles: [], conf: undefined, warnings: [], confPath: undefined };
  return { options, found };
}
