import { openGate } from './gates.ts';
import type { Observation } from './observation.ts';
import type { Policy } from './policy.ts';
import type { End, Gate, State, StateName, Trigger } from './state.ts';
import { counted, formatBytes, formatDuration, type Millis } from './units.ts';

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
  const unread = last.seen.files.filter(({ lag }) => lag === null || lag > 0);
  const gate = verdict?.gate ?? openGate(last.seen, verdict?.trigger.by === 'start-timeout') ?? null;
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
export function exitCodeOf({ end, drained }: Outcome, { strict }: Pick<Policy, 'strict'>): number {
  switch (end) {
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
      return strict && !drained ? EXIT.left : EXIT.ok;
    case 'dry-run':
      return EXIT.ok;
  }
}

/** `drained and stopped in 4.2 s` or what was left, in one sentence. */
export function describeOutcome({ end, why, drained, gate, left, durations }: Outcome): string {
  if (end === 'dry-run') return gate === null ? `${why}; everything is read` : `${why}; open: ${gate.why}`;
  if (!['stopped', 'killed', 'ended-by-itself', 'survived'].includes(end)) return why;
  const rest = left.files === 0 ? '' : `; ${formatBytes(left.bytes)} left in ${counted(left.files, 'file')}`;
  const open = gate === null ? '' : `; ${gate.name}: ${gate.why}`;
  const took = formatDuration((durations.stopping ?? 0) + (durations.killing ?? 0));
  return `${why}${end === 'ended-by-itself' ? '' : ` after ${took}`}, ${drained ? 'drained' : 'not drained'}${rest}${open}`;
}

function hasEnded(end: End): boolean {
  return end.kind === 'stopped' || end.kind === 'killed' || end.kind === 'ended-by-itself';
}
