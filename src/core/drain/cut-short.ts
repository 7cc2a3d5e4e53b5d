/** A deadline or a second signal cuts the drain short. */
import type { Millis } from '../text/units.ts';
import { drainDeadline, isOver, signalsIn } from './deadlines.ts';
import { mayFlush, type View } from './flushing.ts';
import { flush, type Step, stay } from './moves.ts';
import type { Draining, Gate } from './state.ts';
import { stop } from './stop-fluentd.ts';

/** From the last flush to the stop signal: of two signals that arrive together the stop would be handled first. */
const FLUSH_HEAD_START: Millis = 250;

/** When a drain with this deadline is cut short: then there is still time for a last flush. */
export function cutAt(deadline: Millis): Millis {
  return deadline - FLUSH_HEAD_START;
}

/** The stop is due, whatever is still open: what was read since the last flush is flushed first. */
export function cutShort(state: Draining, gate: Gate | undefined, view: View): Step {
  const { seen, policy } = view;
  const { closingAt } = state;
  if (closingAt === undefined && gate !== undefined && mayFlush(state, view))
    return flush({ ...state, closingAt: seen.at }, seen, seen.at + FLUSH_HEAD_START);
  const deadline = drainDeadline(state.trigger, seen, policy);
  const isCut = signalsIn(seen).length > 1;
  const end = closingAt !== undefined ? closingAt + FLUSH_HEAD_START : isCut ? seen.at : deadline;
  if (!isOver(end, seen.at)) return stay(state, end);
  return stop(state, gate, seen, policy);
}
