import type { StopRequest } from '../look/snapshot.ts';
import type { Owed } from '../progress/progress.ts';
import type { Millis } from '../text/units.ts';

/** Where the machine stands. The data belong to the state: nothing can be read that does not apply. */
export type State =
  | { readonly name: 'waiting'; readonly since: Millis }
  | { readonly name: 'watching'; readonly since: Millis }
  | Draining
  | ({
      readonly name: 'stopping';
      readonly since: Millis;
      readonly termedOrphans: boolean;
      readonly toldAt: Millis;
      readonly told: readonly number[];
    } & DrainResult)
  | ({ readonly name: 'killing'; readonly since: Millis } & DrainResult)
  | {
      readonly name: 'stopped';
      readonly since: Millis;
      readonly end: End;
      readonly result: DrainResult | undefined;
    };

export type StateName = State['name'];

export interface Draining {
  readonly name: 'draining';
  readonly since: Millis;
  readonly trigger: Trigger;
  readonly completed?: true;
  readonly flushedAt?: Millis;
  /** The first look of this row of looks that found nothing left. */
  readonly emptyAt?: Millis | undefined;
  /** The chunks that have to go; undefined: not everything is read. */
  readonly owed: Owed | undefined;
  /** The stop is due, and waits only for the last flush to begin. */
  readonly closingAt?: Millis;
}

export interface Trigger {
  readonly by: 'quiet' | 'start-timeout' | 'done-process' | 'deserted' | StopRequest['by'];
  readonly at: Millis;
}

export interface DrainResult {
  readonly trigger: Trigger;
  readonly owed: Owed | undefined;
}

export interface Gate {
  readonly name: GateName;
  readonly why: string;
}

type GateName =
  | 'look'
  | 'fluentd'
  | 'worker'
  | 'pos-file'
  | 'unfound'
  | 'unread'
  | 'settle'
  | 'flush'
  | 'buffers';

/** How it ended. `left-to-kubelet`: Fluentd runs on, for the kubelet to stop. `survived`: even SIGKILL did not end it. */
export interface End {
  readonly kind:
    | 'stopped'
    | 'killed'
    | 'survived'
    | 'ended-by-itself'
    | 'left-to-kubelet'
    | 'no-fluentd'
    | 'not-permitted'
    | 'ambiguous'
    | 'no-fluentd-named'
    | 'not-proven';
  readonly why: string;
}

export type Action =
  | { readonly do: 'signal'; readonly target: 'supervisor' | 'workers' | 'all'; readonly signal: string }
  /** All buffers at once; asked of the supervisor. */
  | { readonly do: 'flush' }
  /** End the unfinished last line of a file of this size. */
  | { readonly do: 'end-line'; readonly path: string; readonly size: number };

export function begin(at: Millis): State {
  return { name: 'waiting', since: at };
}
