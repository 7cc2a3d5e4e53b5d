import type { Millis } from '../text/units.ts';
import type { DrainRequest } from './drain-request.ts';
import type { FluentdReading } from './fluentd-reading.ts';
import type { Progress } from './progress.ts';

/** All that a decision sees of one look. */
export interface Seen {
  readonly at: Millis;
  /** The scope of the look. `overdue`: the look has not ended, and this repeats the previous one. */
  readonly extent: 'all' | 'light' | 'overdue';
  /** `witness`: there is or was a witness in Fluentd. */
  readonly source: 'witness' | 'outside';
  readonly progress: Progress;
  readonly fluentd: FluentdReading;
  /** How an order reaches Fluentd now. A signal would kill one that is just starting. */
  readonly reach: 'witness' | 'signal' | 'none';
  /** `starting`: a worker has not opened its pos file yet. `gone`: the last one has ended. */
  readonly workers: 'up' | 'starting' | 'gone';
  /** Fluentd has started and read something. */
  readonly hasRead: boolean;
  readonly requests: readonly DrainRequest[];
  /** Main's process, if it is looked for. */
  readonly main: {
    readonly seen: boolean;
    readonly goneSince: Millis | undefined;
    /** The longest time after which it was there again; undefined if it never was. */
    readonly longestGap: Millis | undefined;
  };
  /** Since when Fluentd, which was there, has been gone. */
  readonly goneSince: Millis | undefined;
  /** The first look. */
  readonly began: Millis;
}
