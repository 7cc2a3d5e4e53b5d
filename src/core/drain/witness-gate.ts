/** The gates where a witness answers: the drain waits on what it says, and asks nothing else. */
import type { Observation } from '../observe/observation.ts';
import { describeLeft, isLeft, type Left, type Owed, owedIn, withoutLater } from '../progress/progress.ts';
import { isOver, keptEnd, witnessedSettleEnd } from './deadlines.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate } from './state.ts';

/** Waiting for these helps, and nothing in a buffer counts before they are gone. */
const TO_READ = ['starting', 'unread', 'unfound'] as const;

/** Whether the witnesses decide. */
export function isWitnessed({ isWitnessed = false, witness }: Observation): boolean {
  return isWitnessed && (witness === undefined || witness.isWhole);
}

/** The first gate that is closed; undefined: nothing is left that waiting would help. */
export function witnessGate(state: Draining, seen: Observation, policy: Policy): Gate | undefined {
  const { witness, at } = seen;
  if (witness === undefined || witness.progress.at < state.trigger.at)
    return { name: 'look', why: 'posidle has not asked the witness since then' };
  const progress = withoutLater(witness.progress, state.owed);
  const gate = (name: Gate['name'], ...kinds: readonly Left['kind'][]): Gate | undefined => {
    const left = progress.left.filter(({ kind }) => kinds.includes(kind));
    return left.length === 0 ? undefined : { name, why: describeLeft(left) };
  };
  const isFlushed = state.flush !== undefined && state.flush.at >= (seen.movedAt ?? state.flush.at);
  return (
    gate('worker', 'starting') ??
    gate('unread', 'unread') ??
    gate('undiscovered', 'unfound') ??
    (isOver(witnessedSettleEnd(state.trigger, seen, policy), at)
      ? undefined
      : {
          name: 'settle',
          why: 'everything is read; posidle waits for `settle` to see whether it stays so',
        }) ??
    (isOver(keptEnd(seen, policy), at) ? undefined : gate('settle', 'kept')) ??
    (policy.dryRun ? undefined : gate(isFlushed || isRetrying(seen) ? 'buffers' : 'flush', 'held'))
  );
}

/** What has to go before the drain is over: the chunks that there were when all was read. */
export function owedNow({ owed }: Draining, { witness }: Observation): Owed | undefined {
  if (witness === undefined) return owed;
  const { progress } = witness;
  if (isLeft(progress, ...TO_READ)) return undefined;
  return owed?.mark === progress.mark ? owed : owedIn(progress);
}

/** A buffer holds what a flush would send. One that retries sends it by itself. */
export function mayFlushWitnessed({ witness }: Observation): boolean {
  return witness !== undefined && !isLeft(witness.progress, 'starting') && isLeft(witness.progress, 'held');
}

/** Every output that holds chunks waits for its next try. */
function isRetrying({ witness }: Observation): boolean {
  const outputs = (witness?.testimony.witnesses ?? []).flatMap((one) =>
    one.kind === 'alive' ? one.said.outputs.filter(({ chunks }) => chunks > 0) : [],
  );
  return outputs.length > 0 && outputs.every((output) => output.isRetrying);
}
