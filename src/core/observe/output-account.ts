import {
  type Held,
  heldBy,
  NOTHING_HELD,
  type OutputReading,
  type RetryLimit,
} from '../fluentd/buffer-contents.ts';
import type { MonitoredOutput } from '../fluentd/monitor-agent.ts';
import type { Millis } from '../text/units.ts';

/** What one output has done. */
export interface Account {
  /** `@id`, or `object:…`. */
  readonly id: string;
  readonly name: string;
  /** The worker that it belongs to. */
  readonly worker: number;
  /** When it last told. */
  readonly at: Millis;
  /** `chunks + sent`: the most that two looks in a row have shown. */
  readonly most: number;
  /** The same in the last look. */
  readonly last: number;
  readonly held: Held;
  readonly inMemory: boolean;
  /** Fluentd's own log events go into it as well. */
  readonly takesOwnEvents: boolean;
  readonly emitted: number;
  readonly emitErrors: number;
  /** Chunks that a full buffer has thrown away. */
  readonly dropped: number;
  /** All that it throws away is counted. */
  readonly isCounted: boolean;
  /** Percent that were free when it last told; undefined: it has not told yet, and may have been full before. */
  readonly space: number | undefined;
  /** It had hardly any room when it was last looked at, or has refused records since the look before. */
  readonly isRefusing: boolean;
  /** All attempts that failed, and those in a row up to the last look; undefined: the last one succeeded. */
  readonly failures: number;
  readonly failing: Failing | undefined;
  /** It failed for so long that it may have thrown away a chunk between two looks. */
  readonly mayHaveGivenUp: boolean;
  /** It throws chunks away at a limit of retries, or where its buffer is full. */
  readonly isLimited: boolean;
  /** Chunks that were thrown away. */
  readonly thrownAway: Held;
  /** How often records could not be put into the buffer. */
  readonly refused: number;
  /** Records could not be put into it, and nobody knows whether it was full: in_tail tries again then, and else loses them. */
  readonly mayHaveRefused: boolean;
}

interface Failing {
  readonly times: number;
  /** The first of them came later. */
  readonly since: Millis;
  /** Sent chunks when the last of them was seen. */
  readonly sent: number;
}

/** What the next look is compared with. */
type Before = Omit<Account, 'at' | 'isCounted' | 'isLimited' | 'takesOwnEvents'>;

/** Where less is free, an output may have refused records only until there was room again. */
const ROOM_ENOUGH = 20;

export const FROM_ZERO = {
  most: 0,
  last: 0,
  held: NOTHING_HELD,
  emitted: 0,
  emitErrors: 0,
  dropped: 0,
  space: 100,
  isRefusing: false,
  failures: 0,
  failing: undefined,
};

/** How an account begins: whether its counters began at 0, and how much room the buffer had; undefined: nobody knows. */
export interface Start {
  readonly looks: Looks;
  readonly isNew: (worker: number) => boolean;
  readonly space: number | undefined;
}

/** Counters of a Fluentd that ran before the first look count from there on. */
export function begun({ name, worker, inMemory, told }: OutputReading, { isNew, space }: Start): Before {
  const first = isNew(worker) ? undefined : told;
  return {
    id: told?.id ?? '',
    name,
    worker,
    inMemory,
    ...FROM_ZERO,
    space,
    emitErrors: first?.emitErrors ?? 0,
    dropped: first?.dropped ?? 0,
    failures: first?.failures ?? 0,
    mayHaveGivenUp: false,
    thrownAway: NOTHING_HELD,
    refused: 0,
    mayHaveRefused: false,
  };
}

/** The counters are read one after the other, so a single look may be off by a chunk: two looks have to agree. */
export function accountOf(
  output: OutputReading,
  told: MonitoredOutput,
  before: Before,
  looks: Looks,
): Account {
  const held = heldBy(output);
  const dropped = told.dropped ?? 0;
  const now = told.chunks + told.sent + dropped;
  const most = Math.max(before.most, Math.min(before.last, now));
  const lost = Math.max(0, most - Math.max(before.last, now));
  const failing = output.retryLimit && failingNow(output.retryLimit, told, before, looks);
  // What nothing has left yet was never fuller than it is.
  const space = before.space ?? (told.sent + dropped === 0 ? told.space : undefined);
  const hasRoom = Math.min(told.space, space ?? 100) >= ROOM_ENOUGH;
  const errors = hasRoom ? Math.max(0, told.emitErrors - before.emitErrors) : 0;
  return {
    id: told.id,
    name: before.name,
    worker: before.worker,
    at: looks.now,
    inMemory: before.inMemory,
    takesOwnEvents: output.takesOwnEvents,
    most: most - lost,
    last: now,
    // What was held before the loss tells how many bytes went with it.
    held: now < most && lost === 0 ? before.held : held,
    emitted: told.emitted,
    emitErrors: told.emitErrors,
    dropped,
    isCounted: !output.mayDrop || told.dropped !== undefined,
    space: told.space,
    isRefusing: told.space < ROOM_ENOUGH || told.emitErrors > before.emitErrors,
    failures: told.failures,
    failing,
    isLimited: output.retryLimit !== undefined || output.mayDrop,
    mayHaveGivenUp: before.mayHaveGivenUp || hasReachedLimit(output, failing, before, looks),
    thrownAway: plus(before.thrownAway, {
      chunks: lost + Math.max(0, dropped - before.dropped),
      bytes: lost === 0 ? 0 : Math.max(0, before.held.bytes - held.bytes),
    }),
    refused: before.refused + (space === undefined ? 0 : errors),
    mayHaveRefused: before.mayHaveRefused || (space === undefined && errors > 0),
  };
}

/** When the buffers were looked at. */
export interface Looks {
  readonly before: Millis;
  readonly now: Millis;
}

/**
 * A success ends the retries of all chunks (output.rb, commit_write). As many chunks more as there are threads may only be on their way;
 * an empty buffer has none that is. The threads that fail together are one retry (output.rb, update_retry_state).
 */
function failingNow(
  { threads }: RetryLimit,
  told: MonitoredOutput,
  { failures, failing }: Before,
  looks: Looks,
): Failing | undefined {
  const failed = Math.ceil((told.failures - failures) / threads);
  const { times, since } = failing ?? { times: 0, since: looks.before };
  if (failed > 0) return { times: times + failed, since, sent: told.sent };
  const isEmpty = told.chunks + told.bytes === 0;
  return failing === undefined || isEmpty || told.sent > failing.sent + threads ? undefined : failing;
}

/** The limit is asked for at each attempt that failed. */
function hasReachedLimit(
  { retryLimit }: OutputReading,
  failing: Failing | undefined,
  before: Before,
  { now }: Looks,
): boolean {
  if (retryLimit === undefined || failing === undefined || failing.times === before.failing?.times)
    return false;
  return failing.times > retryLimit.times || now - failing.since >= retryLimit.timeout;
}

function plus(one: Held, other: Held): Held {
  return { chunks: one.chunks + other.chunks, bytes: one.bytes + other.bytes };
}
