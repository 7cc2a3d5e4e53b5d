import { bufferedIn, type Held } from '../fluentd/buffers.ts';
import { describeAbandoned } from '../observe/abandoned.ts';
import type { Abandoned, Observation } from '../observe/observation.ts';
import { counted, formatBytes, formatDuration, type Millis } from '../text/units.ts';
import { bufferGate, readGate } from './gates.ts';
import type { End, Gate, State, StateName, Trigger } from './state.ts';

/** What came of it, told after Fluentd is gone: its own exit code says nothing about delivery. */
export interface Outcome {
  readonly end: End['kind'];
  readonly why: string;
  /** Nothing was open when the drain ended, and nothing was left when Fluentd was gone. */
  readonly drained: boolean;
  readonly trigger: Trigger['by'] | null;
  /** The first condition that did not hold; null where it drained. */
  readonly gate: Gate | null;
  readonly left: {
    readonly files: number;
    readonly bytes: number;
    /** The ten files with most left. */
    readonly worst: readonly { readonly path: string; readonly lag: number | null; readonly state: string }[];
    /** Chunks on disk after Fluentd's end. */
    readonly onDisk: Held;
    /** What the buffers held when the drain ended without being empty; what of it a shutdown flush delivered, nobody can see. */
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
  const { end, verdict } = stopped;
  const { seen } = last;
  const abandoned = [...seen.memory.abandoned.values()];
  const unread = [
    ...seen.files.filter(({ lag }) => lag === null || lag > 0),
    ...abandoned.map(({ path, bytes }) => ({ path, lag: bytes, state: 'missing' })),
    ...(seen.undiscovered ?? [])
      .filter(({ size }) => size > 0)
      .map(({ path, size }) => ({ path, lag: size, state: 'undiscovered' })),
  ];
  const left =
    readGate(seen, verdict?.trigger.by === 'start-timeout') ??
    abandonedGate(abandoned) ??
    bufferGate(seen) ??
    lostGate(stopped, seen);
  const gate = verdict?.gate ?? left ?? null;
  return {
    end: end.kind,
    why,
    drained: gate === null && hasEnded(end),
    trigger: verdict?.trigger.by ?? null,
    gate,
    left: {
      files: unread.length,
      bytes: unread.reduce((sum, { lag }) => sum + (lag ?? 0), 0),
      worst: unread
        .toSorted((a, b) => (b.lag ?? Number.MAX_VALUE) - (a.lag ?? Number.MAX_VALUE))
        .slice(0, WORST)
        .map(({ path, lag, state }) => ({ path, lag, state })),
      onDisk: bufferedIn(seen.buffers),
      held: verdict?.held ?? bufferedIn(undefined),
      unseen: seen.buffers?.unseen ?? [],
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
      return EXIT.notPermitted;
    case 'ambiguous':
      return EXIT.usage;
    case 'survived':
      return EXIT.left;
    case 'stopped':
    case 'killed':
    case 'ended-by-itself':
      return strict && isAnythingLeft(outcome) ? EXIT.left : EXIT.ok;
    case 'dry-run':
      return EXIT.ok;
  }
}

/** An unfinished last line is no reason to wait, but it is left. */
export function isAnythingLeft({ drained, left }: Outcome): boolean {
  return !drained || left.files > 0 || left.onDisk.chunks > 0;
}

/** What came of it, in one sentence. */
export function describeOutcome(outcome: Outcome): string {
  const { end, why, drained, gate, left, durations } = outcome;
  if (end === 'dry-run') return gate === null ? `${why}; everything is read` : `${why}; open: ${gate.why}`;
  if (!['stopped', 'killed', 'ended-by-itself', 'survived'].includes(end)) return why;
  const took = formatDuration((durations.stopping ?? 0) + (durations.killing ?? 0));
  const parts = [
    `${why}${end === 'ended-by-itself' ? '' : ` after ${took}`}`,
    drained
      ? `drained${left.unseen.length > 0 ? ', as far as can be seen' : ''}`
      : `not drained (${gate === null ? 'Fluentd survived' : `${gate.name}: ${gate.why}`})`,
    left.files > 0 &&
      `left ${formatBytes(left.bytes)} in ${counted(left.files, 'file')}: ${left.worst.map(({ path }) => path).join(', ')}`,
    left.onDisk.chunks > 0 && `left on disk ${describeHeld(left.onDisk)}`,
    left.held.chunks > 0 && `held when told to stop ${describeHeld(left.held)}`,
  ];
  return parts.filter((part) => part !== false).join('; ');
}

function describeHeld({ chunks, bytes }: Held): string {
  return `${counted(chunks, 'chunk')} (${formatBytes(bytes)})`;
}

function abandonedGate(files: readonly Abandoned[]): Gate | undefined {
  return files.length === 0 ? undefined : { name: 'unread', why: describeAbandoned(files) };
}

/** What was in memory is gone where a worker, or Fluentd, had no time to flush it. */
function lostGate({ end, verdict }: Stopped, { buffers, memory }: Observation): Gate | undefined {
  if (memory.workerReplaced && buffers?.inMemory === true) {
    return {
      name: 'worker',
      why: 'a worker ended and another took its place; what its memory held is not known',
    };
  }
  if (end.kind === 'killed' && (buffers?.inMemory !== false || buffers.unseen.length > 0)) {
    return { name: 'buffers', why: 'Fluentd had to be killed; what its memory held is not known' };
  }
  const unflushed = end.kind === 'ended-by-itself' && verdict === undefined;
  if (!unflushed || buffers?.inMemory !== true) return undefined;
  return {
    name: 'buffers',
    why: 'Fluentd ended before it was asked to flush; what its memory held is not known',
  };
}

function hasEnded(end: End): boolean {
  return end.kind === 'stopped' || end.kind === 'killed' || end.kind === 'ended-by-itself';
}
