import type { Millis } from '../text/units.ts';

/** How posidle runs: next to Fluentd, or as its parent. */
export type Role = 'beside' | 'parent';

/** What the view without a witness needs to know. */
export interface Limits {
  /** How long "everything read" must hold before it is believed. */
  readonly settle: Millis;
  readonly role: Role;
  readonly tail: TailFacts;
}

/** How in_tail reads, by fluent.conf. Each value is the slowest of all sources. */
export interface TailFacts {
  readonly refreshInterval: Millis;
  readonly rotateWait: Millis;
  readonly multilineFlush: Millis;
}

/** How long a Fluentd or a wrapper that is short of CPU may take to start its worker and open its pos file. */
export const SLOW_START: Millis = 10_000;

/** in_tail's own defaults (lib/fluent/plugin/in_tail.rb). */
export const DEFAULT_TAIL: TailFacts = {
  refreshInterval: 60_000,
  rotateWait: 5_000,
  multilineFlush: 0,
};
