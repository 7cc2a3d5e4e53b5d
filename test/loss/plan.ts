import type { Fluentd } from '../support/real-fluentd.ts';

/** What is asked for. `time` scales the waits that are configured, `volume` the work: lines, sends, outages. */
export interface Scales {
  time: number;
  volume: number;
}

/** The waits of a real set-up, in ms, after scaling. */
interface Waits {
  /** The script's interval and posidle's quiet window: 60 s in the article. */
  window: number;
  /** flush_interval and refresh_interval: 60 s by Fluentd's defaults. */
  flush: number;
  refresh: number;
  /** Between two lines of the article's Job: 3 s. */
  pause: number;
}

export interface Plan {
  fluentd: Fluentd;
  waits: Waits;
  /** Scales a number of lines, or of ms of work, by the volume. */
  work(amount: number, least?: number): number;
}

const SECOND = 1000;

export function planFor(fluentd: Fluentd, { time, volume }: Scales): Plan {
  const wait = (seconds: number) => Math.max(SECOND, Math.round(seconds * SECOND * time));
  return {
    fluentd,
    waits: {
      window: wait(60),
      flush: wait(60),
      refresh: wait(60),
      pause: Math.round(3 * SECOND * time),
    },
    work: (amount, least = 1) => Math.max(least, Math.round(amount * volume)),
  };
}

export const seconds = (ms: number): string => `${ms / SECOND}s`;
