import {
  describeHeld,
  type Held,
  heldBy,
  isRetrying,
  type OutputReading,
  sumOf,
} from '../fluentd/buffer-contents.ts';
import type { UndiscoveredFile } from '../look/undiscovered.ts';
import type { Observation, ObservedFile } from '../observe/observation.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { isOver, isWorkerStarting, settleEnd } from './deadlines.ts';
import { describeUnproven } from './explain.ts';
import type { Policy } from './policy.ts';
import type { Draining, Flush, Gate, Trigger } from './state.ts';
import { isWitnessed, witnessGate } from './witness-gate.ts';

/** The first gate of the drain that is closed; undefined: everything is read, flushed and delivered, as far as it can be seen. */
export function drainGate(state: Draining, seen: Observation, policy: Policy): Gate | undefined {
  if (isWitnessed(seen)) return fluentdGate(seen) ?? witnessGate(state, seen, policy);
  return (
    unreadGate(state, seen) ??
    proofGate(seen, policy) ??
    settleGate(state, seen, policy) ??
    flushGate(state, seen, policy) ??
    (policy.dryRun ? undefined : bufferGate(seen, state.flush))
  );
}

/** The first gate that is closed as long as not everything is read. */
export function unreadGate({ trigger }: Pick<Draining, 'trigger'>, seen: Observation): Gate | undefined {
  return fluentdGate(seen) ?? readGate(seen, acceptsEmpty(trigger));
}

/** Only after a whole start timeout does an empty pos file mean that nothing was logged. */
export function acceptsEmpty(trigger: Trigger | undefined): boolean {
  return trigger?.by === 'start-timeout';
}

/** The first condition of "everything read" that does not hold; undefined: everything is read. */
export function readGate(seen: Observation, acceptEmpty: boolean): Gate | undefined {
  const doubt = seen.unknown.find(({ empty }) => !(acceptEmpty && empty));
  if (doubt !== undefined) return { name: 'pos-file', why: `${doubt.path} ${doubt.why}` };
  const unread = seen.files.filter((file) => !file.read);
  if (unread.length > 0) return { name: 'unread', why: describeUnread(unread) };
  if (!seen.isWhole) return { name: 'look', why: 'posidle could not look at every file' };
  const [unlisted] = seen.unlisted;
  if (unlisted !== undefined) return { name: 'undiscovered', why: unlisted };
  const undiscovered = seen.undiscovered.filter(({ size, unreadable }) => size > 0 && !unreadable);
  if (undiscovered.length > 0) return { name: 'undiscovered', why: describeUndiscovered(undiscovered) };
  return undefined;
}

/** Nothing is signalled that may be another program. */
function proofGate({ fluentd }: Observation, { dryRun }: Policy): Gate | undefined {
  if (dryRun || fluentd.kind !== 'running' || fluentd.isProven) return undefined;
  return { name: 'fluentd', why: describeUnproven(fluentd.supervisor.pid) };
}

function settleGate(state: Draining, seen: Observation, policy: Policy): Gate | undefined {
  if (isOver(settleEnd(state.trigger, seen, policy), seen.at)) return undefined;
  return { name: 'settle', why: 'everything is read; posidle waits for `settle` to see whether it stays so' };
}

function flushGate({ flush }: Draining, seen: Observation, { dryRun }: Policy): Gate | undefined {
  const { buffers, movedAt, fluentd } = seen;
  // A wrapper would die of SIGUSR1.
  if (dryRun || buffers?.none === true || fluentd.kind === 'wrapper' || isDeaf(seen)) return undefined;
  const isFlushed = flush !== undefined && flush.at >= (movedAt ?? flush.at);
  return isFlushed ? undefined : { name: 'flush', why: 'everything is read, but not flushed yet' };
}

/** What of the buffers keeps the drain going; undefined: they are empty, as far as they can be seen. */
export function bufferGate({ buffers, at, memory }: Observation, flush: Flush | undefined): Gate | undefined {
  if (buffers === undefined) return { name: 'look', why: 'posidle has not looked at the buffers' };
  const waiting = buffers.outputs.flatMap((output) => describeWaiting(output, flush, at));
  const silent = buffers.asked
    ? buffers.outputs.filter(({ key, told }) => told === undefined && memory.ledger.accounts.has(key))
    : [];
  const why = [
    ...waiting,
    ...buffers.silent,
    ...silent.map(({ name }) => `monitor_agent does not report ${name}`),
  ].join(', ');
  return why === '' ? undefined : { name: isRetrying(buffers) ? 'retry' : 'buffers', why };
}

function describeWaiting(output: OutputReading, flush: Flush | undefined, at: Millis): readonly string[] {
  const isTrying = output.told?.retrying === true;
  const waiting = waitingIn(output, flush, at);
  if (waiting.chunks === 0 && waiting.bytes === 0 && !isTrying) return [];
  return [`${describeHeld(waiting)} in ${output.name}${isTrying ? ', which retries' : ''}`];
}

/** What an output still has to deliver. Of an output that takes Fluentd's own log events, what came after the flush is no line of a log. */
export function waitingIn(output: OutputReading, flush: Flush | undefined, at: Millis): Held {
  const { onDisk, told } = output;
  if (!output.takesOwnEvents || flush === undefined) return heldBy(output);
  if (onDisk !== undefined) {
    const old = onDisk.filter(({ age }) => at - age <= flush.at);
    return sumOf(old.map(({ size }) => ({ chunks: 1, bytes: size })));
  }
  const before = flush.buffers?.outputs.find(({ key }) => key === output.key)?.told;
  if (told === undefined || before === undefined) return heldBy(output);
  const chunks = Math.max(0, before.chunks - (told.sent - before.sent));
  return { chunks, bytes: chunks === 0 ? 0 : told.bytes };
}

/** Nobody can ask it for a flush. */
export function isDeaf({ fluentd }: Observation): boolean {
  return fluentd.kind === 'remote' && fluentd.isDeaf === true;
}

/** Fluentd, or one of its workers, is away: nothing is read or flushed until it runs again. */
function fluentdGate(seen: Observation): Gate | undefined {
  const { fluentd, memory } = seen;
  if (fluentd.kind === 'absent') return { name: 'fluentd', why: fluentd.why };
  if (fluentd.kind === 'wrapper' && memory.supervisor !== undefined)
    return { name: 'fluentd', why: 'Fluentd has ended, and its wrapper has not started another one' };
  if (fluentd.kind !== 'running') return undefined;
  if (fluentd.successor !== undefined)
    return { name: 'fluentd', why: `Fluentd is being replaced by pid ${fluentd.successor.pid}` };
  if (isWorkerStarting(seen))
    return {
      name: 'worker',
      why: 'the worker has only just been started, and has not opened its pos file yet',
    };
  if (fluentd.alone || fluentd.workers.length > 0 || !memory.workersSeen) return undefined;
  return { name: 'worker', why: 'the worker is gone, and its supervisor is starting another one' };
}

/** Bytes are left that Fluentd could read, moving or not: the opposite of quiet. */
export function hasBytesLeft(seen: Observation): boolean {
  return seen.files.some(({ read, state }) => !read && state !== 'missing');
}

/** Bytes that Fluentd has still to read. */
export function bytesLeft({ files, undiscovered }: Observation): number {
  const read = files.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  return undiscovered.reduce((sum, { size }) => sum + size, read);
}

/** `2 files unread, 12.4 MiB left, most in /var/log/app.log (behind)`. */
function describeUnread(unread: readonly ObservedFile[]): string {
  const left = unread.reduce((sum, { lag }) => sum + (lag ?? 0), 0);
  const worst = unread.reduce((a, b) => ((b.lag ?? 0) > (a.lag ?? 0) ? b : a));
  const unsure = unread.some(({ lag }) => lag === null) ? 'at least ' : '';
  return `${counted(unread.length, 'file')} unread, ${unsure}${formatBytes(left)} left, most in ${worst.path} (${worst.state})`;
}

function describeUndiscovered(files: readonly UndiscoveredFile[]): string {
  const [first] = files;
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  const wait = Math.max(...files.map(({ refreshInterval }) => refreshInterval));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${first?.path}${more} (${formatBytes(bytes)}) not discovered yet; in_tail looks every ${formatDuration(wait)}`;
}
