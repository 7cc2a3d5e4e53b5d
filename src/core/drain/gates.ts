/** The gates of the drain, in the order of a line's path: file, Fluentd's memory, buffers. The drain ends when all are open. */
import { describeLeft, listed } from '../progress/describe.ts';
import {
  type DoubtKind,
  heldIn,
  ignoringNewer,
  isLeft,
  type Left,
  type PendingChunks,
  type Progress,
  pendingChunks,
} from '../progress/progress.ts';
import type { Seen } from '../progress/seen.ts';
import { counted } from '../text/units.ts';
import { finishEnd, isOver, keptUntil } from './deadlines.ts';
import { CANNOT_BE_ASKED, describeUnproven } from './explain.ts';
import { isAllFlushed } from './flushing.ts';
import type { Policy } from './policy.ts';
import type { Draining, Gate, Trigger } from './state.ts';
import { mainAwaitedUntil, settleEnd } from './trigger.ts';

/** Doubts that may pass, each with its gate. An empty pos file counts as "nothing was logged" only after a whole start timeout. */
const PASSING: Readonly<Partial<Record<DoubtKind, Gate['name']>>> = {
  'not-started': 'worker',
  'no-answer': 'worker',
  'not-believed': 'worker',
  'not-looked-at': 'pos-file',
  'pos-file': 'pos-file',
  'empty-pos-file': 'pos-file',
  unlisted: 'pos-file',
  unseen: 'pos-file',
};
/** These keep the drain waiting. Chunks count only when none of these is left. */
const TO_READ = ['unread', 'unfound'] as const;

/** The first closed gate of the drain, or undefined if waiting no longer helps. */
export function drainGate(state: Draining, seen: Seen, policy: Policy): Gate | undefined {
  return fluentdGate(seen) ?? progressGate(state, seen, policy);
}

function progressGate(state: Draining, seen: Seen, policy: Policy): Gate | undefined {
  const { trigger } = state;
  const progress = ignoringNewer(seen.progress, state.pending);
  const { mainEndedAt = trigger.at } = state;
  if (seen.extent === 'light' || progress.at < Math.max(trigger.at, mainEndedAt))
    return { name: 'look', why: 'posidle has not looked at everything since the drain began' };
  const waitsFor = (name: Gate['name'], ...kinds: readonly Left['kind'][]) => leftGate(progress, name, kinds);
  return (
    doubtGate(progress, trigger) ??
    workerGate(progress) ??
    waitsFor('unread', 'unread') ??
    waitsFor('unfound', 'unfound') ??
    waitsFor('unread', 'moving') ??
    proofGate(seen) ??
    (isFinishing(state, seen) ? waitsFor('finish', 'unfinished', 'kept') : undefined) ??
    mainGate(state, seen, policy) ??
    settleGate(state, seen, policy) ??
    (isOver(keptUntil(trigger, seen), seen.at) ? undefined : waitsFor('settle', 'kept')) ??
    flushGate(progress, state, seen) ??
    waitsFor('buffers', 'held')
  );
}

function leftGate({ left: all }: Progress, name: Gate['name'], kinds: readonly Left['kind'][]) {
  const left = all.filter((one) => kinds.includes(one.kind) && !(one.kind === 'held' && one.next === 'none'));
  return left.length === 0 ? undefined : { name, why: describeLeft(listed(left)) };
}

function doubtGate({ doubts, source }: Progress, trigger: Trigger | undefined): Gate | undefined {
  for (const { kind, about, why } of doubts) {
    if (kind === 'empty-pos-file' && trigger?.by === 'start-timeout') continue;
    // Waiting for its answer is in vain, and the files say what is read.
    if (kind === 'not-believed' && source === 'files') continue;
    const name = PASSING[kind];
    const between = name === 'worker' ? ': ' : ' ';
    if (name !== undefined) return { name, why: [about, why].filter(Boolean).join(between) };
  }
  return undefined;
}

/** Closed while a worker has yet to start, or has ended: the next one goes on where that has stopped. */
function workerGate({ away }: Progress): Gate | undefined {
  return away === 0 ? undefined : { name: 'worker', why: `Fluentd lacks ${counted(away, 'worker')}` };
}

/** Closed while the process may be another program, which posidle must not signal. */
function proofGate({ fluentd }: Seen): Gate | undefined {
  if (fluentd.kind !== 'running' || fluentd.proof !== 'none') return undefined;
  return { name: 'fluentd', why: describeUnproven(fluentd.supervisor.pid) };
}

/** in_tail was asked to deliver what main has left unfinished. */
function isFinishing({ mainEndedAt }: Draining, seen: Seen): boolean {
  const isAsked = mainEndedAt !== undefined && seen.progress.source === 'witness';
  return isAsked && !isOver(finishEnd(mainEndedAt, seen), seen.at);
}

function mainGate({ trigger }: Draining, seen: Seen, policy: Policy): Gate | undefined {
  const until = mainAwaitedUntil(trigger, seen, policy);
  if (until === undefined || isOver(until, seen.at)) return undefined;
  return { name: 'main', why: 'everything is read; nothing has said yet that main has ended' };
}

function settleGate({ trigger }: Draining, seen: Seen, policy: Policy): Gate | undefined {
  if (isOver(settleEnd(trigger, seen, policy), seen.at)) return undefined;
  return { name: 'settle', why: 'everything is read; posidle waits to see whether it stays so' };
}

/** Closed while everything is read, but buffers hold chunks that no flush has covered. */
function flushGate(progress: Progress, state: Draining, seen: Seen): Gate | undefined {
  const held = heldIn(progress.left);
  const isHeld = held.some(({ next }) => next === 'flush');
  // SIGUSR1 would kill a wrapper.
  const mayBeHeld = progress.unseen.length > 0 && seen.fluentd.kind !== 'wrapper';
  if (isAllFlushed(state, seen) || !(isHeld || mayBeHeld)) return undefined;
  return { name: 'flush', why: 'everything is read, but not flushed yet' };
}

/** The chunks that must go before the drain is over: those that exist when all lines are read and none is in flight. Undefined before. */
export function pendingNow(state: Draining, seen: Seen): PendingChunks | undefined {
  const { pending, trigger } = state;
  if (seen.extent !== 'all') return pending;
  const progress = seen.progress;
  const isToCome = isLeft(progress, ...TO_READ, 'moving') || !isOver(progress.busyUntil, seen.at);
  if (isToCome || doubtGate(progress, undefined) !== undefined) return undefined;
  if (pending?.version === progress.version) return pending;
  const mayEmit = isFinishing(state, seen) || !isOver(keptUntil(trigger, seen), seen.at);
  return isLeft(progress, 'kept') && mayEmit ? undefined : pendingChunks(progress);
}

function fluentdGate(seen: Seen): Gate | undefined {
  const { fluentd, workers } = seen;
  if (fluentd.kind === 'absent') return { name: 'fluentd', why: fluentd.why };
  if (fluentd.kind === 'wrapper' && workers === 'gone')
    return { name: 'fluentd', why: 'Fluentd has ended, and its wrapper has not started another one' };
  if (fluentd.kind === 'remote' && fluentd.isStarting) return { name: 'worker', why: CANNOT_BE_ASKED };
  if (fluentd.kind === 'running' && fluentd.successor !== undefined)
    return { name: 'fluentd', why: `Fluentd is being replaced by pid ${fluentd.successor.pid}` };
  if (workers === 'starting')
    return { name: 'worker', why: 'the worker is new, and has not opened its pos file yet' };
  if (workers !== 'gone') return undefined;
  return { name: 'worker', why: 'the worker is gone, and its supervisor is starting another one' };
}

/** While watching: the first reason why not everything is read, or undefined. */
export function readGate({ progress }: Pick<Seen, 'progress'>): Gate | undefined {
  return doubtGate(progress, undefined) ?? workerGate(progress) ?? leftGate(progress, 'unread', TO_READ);
}
