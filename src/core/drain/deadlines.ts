import { IN_TAIL_TICK, timeToRead } from '../in-tail/pace.ts';
import type { StopRequest } from '../look/snapshot.ts';
import type { Observation } from '../observe/observation.ts';
import { isRefusing } from '../observe/output-ledger.ts';
import type { Millis } from '../text/units.ts';
import { type Policy, stopReserve } from './policy.ts';
import type { State, Trigger } from './state.ts';

/** A child below which no Fluentd shows may be on its way to one, and a Fluentd without a worker yet may be short of CPU. */
const SLOW_START: Millis = 10_000;
/** A worker reads its configuration and loads its plugins first. */
const SLOW_WORKER: Millis = 60_000;
/** How long before the drain's deadline what was read is flushed: it must still be delivered. */
const FLUSH_RESERVE: Millis = 10_000;
const ALREADY_OVER = Number.NEGATIVE_INFINITY;

export function isOver(deadline: Millis | undefined, at: Millis): boolean {
  return deadline !== undefined && at >= deadline;
}

/** When a Fluentd that is not there yet is given up. After a signal the kubelet counts: main may have been faster than Fluentd's start. */
export function absenceDeadline(state: State, seen: Observation, policy: Policy): Millis | undefined {
  if (signalsIn(seen).length > 1) return ALREADY_OVER;
  return earliest([startDeadline(state, policy), graceEnd(seen, policy)]);
}

function earliest(instants: readonly (Millis | undefined)[]): Millis | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Until then several fluentds may be told apart: the one that is meant may only just be opening its pos file. */
export function choiceDeadline({ memory }: Observation): Millis {
  return memory.began + SLOW_START;
}

/** When a process that matches, and is no fluentd, is refused. */
export function foreignDeadline(since: Millis | undefined): Millis {
  return since === undefined ? ALREADY_OVER : since + SLOW_START;
}

/** When the quiet window ends; undefined: silence is no trigger, or nothing has moved yet. */
export function quietAt({ movedAt }: Observation, { quiet }: Policy): Millis | undefined {
  return quiet === 'off' || movedAt === undefined ? undefined : movedAt + quiet;
}

/** When main's process counts as ended: gone for long enough, or never seen within the start timeout. */
export function mainEndAt(
  { memory }: Observation,
  { doneProcessGone, startTimeout }: Policy,
): Millis | undefined {
  const { seen, goneSince } = memory.main;
  if (goneSince !== undefined) return goneSince + doneProcessGone;
  return seen || startTimeout === 'off' ? undefined : memory.began + startTimeout;
}

/** When a trigger will come if nothing happens. */
export function triggerAt(seen: Observation, policy: Policy): Millis | undefined {
  const instants = [quietAt(seen, policy), policy.doneProcess ? mainEndAt(seen, policy) : undefined];
  return earliest(instants.filter((at) => !isOver(at, seen.at)));
}

/** How long a pos file that cannot be believed holds the quiet window up; the drain's own gate still stands. */
export function doubtEnd({ memory }: Observation, { startTimeout }: Policy): Millis | undefined {
  return startTimeout === 'off' ? undefined : memory.began + startTimeout;
}

/** When what must come first is given up. */
export function startDeadline({ since }: State, { startTimeout }: Policy): Millis | undefined {
  return startTimeout === 'off' ? undefined : since + startTimeout;
}

/** When everything has been read for long enough to be believed. */
export function settleEnd(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const held = Math.max(seen.readSince ?? trigger.at, silentSince(trigger, seen)) + policy.settle;
  return Math.max(held, rotationEnd(seen, policy), multilineEnd(seen, policy), startEnd(seen, policy));
}

/** The same where a witness answers: it sees everything that was written before it was asked, so only a main that may still run is waited for. */
export function witnessedSettleEnd(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const isTold = policy.leavesStop && trigger.by !== 'hook';
  if (isTold || MEANS_THE_END.has(trigger.by)) return ALREADY_OVER;
  return Math.max(trigger.at, seen.movedAt ?? trigger.at) + policy.settle;
}

const MEANS_THE_END: ReadonlySet<Trigger['by']> = new Set([
  'quiet',
  'done-process',
  'done-file',
  'main-ended',
  'deserted',
  'start-timeout',
]);

/** How long what Fluentd keeps outside its buffers is waited for: what stays longer comes out when it stops. */
export function keptEnd(seen: Observation, policy: Policy): Millis {
  return multilineEnd(seen, policy);
}

/** The quiet window counts towards the settle time, and so does the time for which main has been gone. */
function silentSince(trigger: Trigger, { memory }: Observation): Millis {
  if (trigger.by === 'quiet') return ALREADY_OVER;
  if (trigger.by === 'done-process') return memory.main.goneSince ?? trigger.at;
  return trigger.at;
}

/** What is appended to a renamed file is read for rotate_wait, and no pos file shows it (in_tail.rb:1035). */
function rotationEnd(
  { at, rotatedAt, memory, files }: Observation,
  { tail: { rotateWait, readLimit } }: Policy,
): Millis {
  const rest = readLimit === undefined ? 0 : restAfter({ memory, files }, readLimit);
  if (rotatedAt === undefined && rest === 0) return ALREADY_OVER;
  // A file that came and went between two looks shows no rotation.
  const since = rotatedAt ?? Math.max(0, ...[...memory.gone.values()].map(({ since }) => since));
  const readSince = rest === 0 ? since : Math.max(since, roomSince({ at, memory }));
  return readSince + rotateWait + IN_TAIL_TICK + rest;
}

/** A full buffer keeps in_tail from reading. */
function roomSince({ at, memory: { ledger } }: Pick<Observation, 'at' | 'memory'>): Millis {
  return isRefusing(ledger) ? at : (ledger.roomSince ?? ALREADY_OVER);
}

/** How long the rest of renamed files takes. Below a limit in_tail closes a file when it has read it (in_tail.rb:672-684). */
function restAfter({ memory, files }: Pick<Observation, 'memory' | 'files'>, readLimit: number): Millis {
  // What has an entry, also under a new name that in_tail follows, is judged by it.
  const followed = new Set(files.filter(({ position }) => position !== null).map(({ inode }) => inode));
  const unread = [...memory.gone.values()].filter(
    ({ rest, isCut, hasEntry, inode }) => rest > 0 && !isCut && !hasEntry && !followed.has(inode),
  );
  if (unread.some(({ isOpen }) => isOpen)) return Number.POSITIVE_INFINITY;
  const unseen = unread.filter(({ isOpen }) => isOpen === undefined);
  return Math.max(0, ...unseen.map(({ rest }) => timeToRead(rest, readLimit)));
}

/** The last record of a multiline source is emitted when multiline_flush_interval has passed since its last line. */
function multilineEnd({ movedAt }: Observation, { tail: { multilineFlush } }: Policy): Millis {
  return multilineFlush === 0 || movedAt === undefined
    ? ALREADY_OVER
    : movedAt + multilineFlush + IN_TAIL_TICK;
}

/** A supervisor, or a worker, that has only just (re)started would die of a signal, whatever an older pos file says. */
export function startEnd({ fluentd, memory }: Observation, { settle, parent }: Policy): Millis {
  if (fluentd.kind === 'wrapper') return fluentd.since + SLOW_START;
  if (memory.supervisor === undefined) return ALREADY_OVER;
  const isUp = memory.workersSeen || !parent;
  const isUnsure = fluentd.kind === 'running' && fluentd.isStarting === undefined;
  const start = isUnsure ? SLOW_START : settle;
  const ofWorkers = memory.workersSince === undefined ? ALREADY_OVER : memory.workersSince + start;
  return Math.max(memory.supervisor.since + (isUp ? settle : SLOW_START), ofWorkers);
}

/** The worker has not opened its pos file. One that never will is not waited for: the pos files may be another Fluentd's. */
export function isWorkerStarting({ fluentd, memory, at }: Observation): boolean {
  if (fluentd.kind !== 'running' || fluentd.isStarting !== true) return false;
  return !isOver((memory.workersSince ?? memory.began) + SLOW_WORKER, at);
}

/** When it is time to flush, whatever is still unread. */
export function lastFlushAt(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const deadline = drainDeadline(trigger, seen, policy);
  const begun = Math.max(trigger.at, signalsIn(seen)[0]?.at ?? trigger.at);
  return deadline - Math.min(FLUSH_RESERVE, (deadline - begun) / 2);
}

/** How long a Fluentd that ended by itself is waited for once the drain has begun. */
export function returnDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis | undefined {
  if (seen.goneSince === undefined) return undefined;
  if (policy.parent) return seen.goneSince;
  const deadline = drainDeadline(trigger, seen, policy);
  // A restart by hand, or SIGUSR2 since 1.18, puts another supervisor in its place at once.
  return policy.restartPolicy !== 'never'
    ? deadline
    : Math.min(deadline, Math.max(seen.goneSince, trigger.at) + policy.settle);
}

/** A signal means that the kubelet counts: then the grace period bounds it all, whatever began the drain. */
export function drainDeadline(trigger: Trigger, seen: Observation, policy: Policy): Millis {
  const own = trigger.at + policy.drainTimeout;
  const byGrace = graceEnd(seen, policy);
  if (byGrace === undefined) return own;
  return signalsIn(seen)[0]?.by === trigger.by ? byGrace : Math.min(own, byGrace);
}

/** When the stop has to begin for the kubelet's sake; undefined: it does not count. */
function graceEnd(seen: Observation, policy: Policy): Millis | undefined {
  const [signal] = signalsIn(seen);
  return signal && signal.at + policy.grace - stopReserve(policy);
}

/** When what is left of Fluentd gets SIGKILL. */
export function stopDeadline({ since }: State, seen: Observation, policy: Policy): Millis {
  const [signal] = signalsIn(seen);
  if (signal === undefined) return since + policy.stopTimeout;
  return Math.max(signal.at + policy.grace, since + stopReserve(policy));
}

/** The calls for the end that the kubelet made: by a signal or a hook. */
export function signalsIn({ requests }: Pick<Observation, 'requests'>): readonly StopRequest[] {
  return requests.filter(({ by }) => OF_THE_KUBELET.has(by));
}

const OF_THE_KUBELET: ReadonlySet<StopRequest['by']> = new Set(['SIGTERM', 'SIGINT', 'main-ended', 'hook']);
