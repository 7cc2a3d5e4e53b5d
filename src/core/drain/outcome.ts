import { describeHeld, type Held, heldIn, sumOf } from '../fluentd/buffer-contents.ts';
import { describeAbandoned } from '../observe/abandoned.ts';
import type { Abandoned, Observation } from '../observe/observation.ts';
import { unseenAtTheEnd } from '../observe/output-ledger.ts';
import { type Doubt, describeDoubts } from '../progress/progress.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { deliveriesOf, lossGate, type OutputOutcome, thrownAwayGate } from './delivery.ts';
import { acceptsEmpty, bufferGate, readGate, waitingIn } from './gates.ts';
import type { End, Gate, State, StateName, Trigger } from './state.ts';
import { toldByWitness } from './witnessed-outcome.ts';

/** What came of it, told after Fluentd is gone: its own exit code says nothing about delivery. */
export interface Outcome {
  readonly end: End['kind'];
  readonly why: string;
  /**
   * `drained`: everything was read, flushed and delivered. `unproven`: everything was read and flushed, and nobody can see what became
   * of some buffer. `not drained`: something was left, thrown away, or is not known to have been read.
   */
  readonly drained: 'drained' | 'unproven' | 'not drained';
  readonly trigger: Trigger['by'] | null;
  /** The first condition that did not hold; null where all did. */
  readonly gate: Gate | null;
  readonly outputs: readonly OutputOutcome[];
  /** What nobody can prove, the largest first; only a witness tells. At most ten, of `doubted` in all. */
  readonly doubts: readonly Doubt[];
  readonly doubted: number;
  readonly left: {
    readonly files: number;
    readonly bytes: number;
    /** The ten files with most left. */
    readonly worst: readonly { readonly path: string; readonly lag: number | null; readonly state: string }[];
    /** Chunks on disk after Fluentd's end. */
    readonly onDisk: Held;
    /** What the buffers held when the drain ended without being empty. Nobody can see what of it Fluentd still delivered while it stopped. */
    readonly held: Held;
    /** Buffers that nobody could see. */
    readonly unseen: readonly string[];
  };
  /** Milliseconds spent in each state. */
  readonly durations: Readonly<Partial<Record<StateName, Millis>>>;
}

export type Durations = Outcome['durations'];
type Stopped = Extract<State, { name: 'stopped' }>;

const WORST = 10;

/** The outcome of a run that ended in `stopped`, by the look that was taken when Fluentd was gone. */
export function outcomeOf(stopped: Stopped, why: string, last: LastLook): Outcome {
  const { witness } = last.seen;
  const outside = outcomeByLooks(stopped, why, last);
  return witness === undefined
    ? outside
    : { ...outside, ...toldByWitness(witness, stopped, outside.drained) };
}

function outcomeByLooks({ end, result }: Stopped, why: string, last: LastLook): Outcome {
  const { seen } = last;
  const { ledger } = seen.memory;
  const atTheEnd = IS_GONE.has(end.kind) ? unseenAtTheEnd(ledger, seen.movedAt, result?.flush?.at) : [];
  const unlisted = ledger.backupsUnknown === undefined ? [] : [ledger.backupsUnknown];
  const unseen = [...new Set([...ledger.unseen, ...atTheEnd, ...unlisted])];
  const outputs = deliveriesOf(seen, result);
  const abandoned = [...seen.memory.abandoned.values()];
  const left = unreadIn(seen, abandoned);
  const gate =
    thrownAwayGate(outputs) ??
    result?.gate ??
    readGate(seen, acceptsEmpty(result?.trigger)) ??
    abandonedGate(abandoned) ??
    unreadableGate(left) ??
    bufferGate(seen, result?.flush) ??
    lossGate(seen, end.kind, result) ??
    null;
  const isClean = gate === null && hasEnded(end);
  return {
    end: end.kind,
    why,
    drained: !isClean ? 'not drained' : unseen.length > 0 ? 'unproven' : 'drained',
    trigger: result?.trigger.by ?? null,
    gate,
    outputs,
    doubts: [],
    doubted: 0,
    left: {
      files: left.length,
      bytes: left.reduce((sum, { lag }) => sum + (lag ?? 0), 0),
      worst: left
        .toSorted((a, b) => (b.lag ?? Number.MAX_VALUE) - (a.lag ?? Number.MAX_VALUE))
        .slice(0, WORST)
        .map(({ path, lag, state }) => ({ path, lag, state })),
      onDisk: sumOf((seen.buffers?.outputs ?? []).map((output) => waitingIn(output, result?.flush, seen.at))),
      held: result?.held ?? heldIn(undefined),
      unseen,
    },
    durations: last.durations,
  };
}

interface LastLook {
  readonly seen: Observation;
  readonly durations: Durations;
}

export const EXIT = { ok: 0, bug: 1, usage: 2, left: 3, noFluentd: 4, notPermitted: 5 } as const;

/** The exit code that tells the outcome. */
export function exitCodeOf(outcome: Outcome, { strict }: { readonly strict: boolean }): number {
  switch (outcome.end) {
    case 'no-fluentd':
      return EXIT.noFluentd;
    case 'not-permitted':
    case 'not-proven':
      return EXIT.notPermitted;
    case 'ambiguous':
    case 'no-fluentd-named':
      return EXIT.usage;
    case 'survived':
      return EXIT.left;
    case 'stopped':
    case 'killed':
    case 'ended-by-itself':
    case 'left-to-kubelet':
      return strict && isAnythingLeft(outcome) ? EXIT.left : EXIT.ok;
    case 'dry-run':
      return EXIT.ok;
  }
}

/** Whether the log tells it as a warning. */
export function isWarning(outcome: Outcome, options: { readonly strict: boolean }): boolean {
  if (outcome.end === 'dry-run') return false;
  return outcome.drained !== 'drained' || exitCodeOf(outcome, options) !== EXIT.ok;
}

/** An unfinished last line is no reason to wait, but it is left. */
function isAnythingLeft({ drained, left }: Outcome): boolean {
  return drained !== 'drained' || left.files > 0 || left.onDisk.chunks > 0;
}

const WITHOUT_STOP: ReadonlySet<Outcome['end']> = new Set(['ended-by-itself', 'left-to-kubelet']);
const IS_GONE: ReadonlySet<Outcome['end']> = new Set(['stopped', 'killed', 'ended-by-itself']);
const HAS_OUTCOME: ReadonlySet<Outcome['end']> = new Set(['stopped', 'killed', 'survived', ...WITHOUT_STOP]);

/** What came of it, in one sentence. */
export function describeOutcome(outcome: Outcome): string {
  const { end, why, drained, gate, left, durations } = outcome;
  if (end === 'dry-run')
    return gate === null ? `${why}; everything is read` : `${why}; unfinished: ${gate.why}`;
  if (!HAS_OUTCOME.has(end)) return why;
  const took = formatDuration((durations.stopping ?? 0) + (durations.killing ?? 0));
  const parts = [
    `${why}${WITHOUT_STOP.has(end) ? '' : ` after ${took}`}`,
    drained === 'drained' ? drained : `${drained} (${reasonOf(outcome)})`,
    left.files > 0 &&
      `left ${formatBytes(left.bytes)} in ${counted(left.files, 'file')}: ${left.worst.map(({ path }) => path).join(', ')}`,
    left.onDisk.chunks > 0 && `left on disk: ${describeHeld(left.onDisk)}`,
    drained === 'not drained' &&
      left.held.chunks > 0 &&
      `in the buffers when Fluentd was told to stop: ${describeHeld(left.held)}`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}

function reasonOf({ gate, left, doubts, doubted }: Outcome): string {
  if (gate !== null) return `${gate.name}: ${gate.why}`;
  if (doubts.length > 0) return describeDoubts(doubts, doubted);
  return left.unseen.length > 0
    ? `everything was read, but posidle cannot see whether it was delivered: ${left.unseen.join(', ')}`
    : 'Fluentd survived';
}

/** Files that hold bytes which Fluentd did not read. */
function unreadIn(seen: Observation, abandoned: readonly Abandoned[]) {
  return [
    ...seen.files.filter(({ lag }) => lag === null || lag > 0),
    ...abandoned.map(({ path, bytes }) => ({ path, lag: bytes, state: 'missing' })),
    ...seen.undiscovered
      .filter(({ size }) => size > 0)
      .map(({ path, size, unreadable }) => ({
        path,
        lag: size,
        state: unreadable ? 'unreadable' : 'undiscovered',
      })),
  ];
}

function abandonedGate(files: readonly Abandoned[]): Gate | undefined {
  return files.length === 0 ? undefined : { name: 'unread', why: describeAbandoned(files) };
}

function unreadableGate(left: readonly { path: string; state: string }[]): Gate | undefined {
  const paths = left.filter(({ state }) => state === 'unreadable').map(({ path }) => path);
  if (paths.length === 0) return undefined;
  const more = paths.length > WORST ? ` and ${paths.length - WORST} more` : '';
  return { name: 'unreadable', why: `Fluentd may not read ${paths.slice(0, WORST).join(', ')}${more}` };
}

function hasEnded(end: End): boolean {
  return HAS_OUTCOME.has(end.kind) && end.kind !== 'survived';
}
