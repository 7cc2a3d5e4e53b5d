import type { ProcessIdentity } from '../fluentd/processes.ts';
import type { Millis } from '../text/units.ts';

/** What the looks so far know of the Pod's main process. */
export interface MainProcess {
  /** Since when each process that matches now has been seen. */
  readonly sightings: ReadonlyMap<string, Millis>;
  readonly seen: boolean;
  /** Since when it has been gone, after it was seen. */
  readonly goneSince: Millis | undefined;
}

export const NO_MAIN: MainProcess = { sightings: new Map(), seen: false, goneSince: undefined };

/** An exec probe of the same name is gone sooner. */
const LEAST_LIFE: Millis = 400;

/** Only what lives for a while counts: a probe neither stands for main nor hides that it has ended. */
export function watchMain(before: MainProcess, matches: readonly ProcessIdentity[], at: Millis): MainProcess {
  const sightings = new Map(matches.map(keyOf).map((key) => [key, before.sightings.get(key) ?? at]));
  const isThere = [...sightings.values()].some((since) => at - since >= LEAST_LIFE);
  const seen = before.seen || isThere;
  return { sightings, seen, goneSince: seen && !isThere ? (before.goneSince ?? at) : undefined };
}

function keyOf({ pid, startTime }: ProcessIdentity): string {
  return `${pid} ${startTime}`;
}
