import type { Held } from '../fluentd/buffers.ts';
import type { StopRequest } from '../look/snapshot.ts';
import type { Millis } from '../text/units.ts';

/** Where the machine stands. The data belong to the state: nothing can be read that does not apply. */
export type State =
  /** No fluentd yet, or nothing logged yet. */
  | { readonly name: 'waiting'; readonly since: Millis }
  /** The quiet window runs. */
  | { readonly name: 'watching'; readonly since: Millis }
  /** A trigger has fired: everything must be read, and stay so for the settle time. */
  | {
      readonly name: 'catching-up';
      readonly since: Millis;
      readonly trigger: Trigger;
      /** Unfinished last lines were ended, once. */
      readonly completed: boolean;
    }
  /** Everything is read; the flush is asked for, and the buffers must become empty. */
  | {
      readonly name: 'flushing';
      readonly since: Millis;
      readonly trigger: Trigger;
      readonly completed: boolean;
      readonly flushedAt: Millis;
      /** The first look that found the buffers empty. */
      readonly emptyAt: Millis | undefined;
    }
  /** The stop signal is sent: Fluentd flushes and ends. */
  | ({
      readonly name: 'stopping';
      readonly since: Millis;
      readonly termedOrphans: boolean;
      /** The last time that it was told. */
      readonly toldAt: Millis;
      /** It was the supervisor that ended, by itself: only its workers are being stopped. */
      readonly deserted: boolean;
    } & Verdict)
  /** SIGKILL is sent to what was left. */
  | ({ readonly name: 'killing'; readonly since: Millis } & Verdict)
  /** The end. */
  | {
      readonly name: 'stopped';
      readonly since: Millis;
      readonly end: End;
      readonly verdict: Verdict | undefined;
    };

export type StateName = State['name'];

/** What made the drain begin. */
export interface Trigger {
  readonly by: 'quiet' | 'start-timeout' | 'done-process' | 'deserted' | StopRequest['by'];
  readonly at: Millis;
}

/** What the drain came to. */
export interface Verdict {
  readonly trigger: Trigger;
  /** The first thing that was still open when the drain ended; undefined: drained. */
  readonly gate: Gate | undefined;
  /** What the buffers held then. */
  readonly held: Held;
}

/** A condition of the drain that does not hold yet. */
export interface Gate {
  readonly name: 'look' | 'worker' | 'pos-file' | 'undiscovered' | 'unread' | 'settle' | 'buffers' | 'retry';
  readonly why: string;
}

/** How it ended. */
export type End =
  /** Fluentd ended after the stop signal. */
  | { readonly kind: 'stopped' }
  /** Fluentd ended after SIGKILL. */
  | { readonly kind: 'killed' }
  /** Even SIGKILL did not end it. */
  | { readonly kind: 'survived' }
  | { readonly kind: 'ended-by-itself' }
  | { readonly kind: 'no-fluentd'; readonly why: string }
  | { readonly kind: 'not-permitted'; readonly why: string }
  | { readonly kind: 'ambiguous'; readonly why: string }
  | { readonly kind: 'dry-run' };

/** An order to the outside world. */
export type Action =
  | { readonly do: 'signal'; readonly target: 'supervisor' | 'workers' | 'all'; readonly signal: string }
  /** All buffers at once; asked of the supervisor. */
  | { readonly do: 'flush' }
  /** End the unfinished last line of a file of this size. */
  | { readonly do: 'end-line'; readonly path: string; readonly size: number };

export function begin(at: Millis): State {
  return { name: 'waiting', since: at };
}
