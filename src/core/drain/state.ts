import { DRAIN_REQUESTS, type DrainRequest, type OfMain } from '../progress/drain-request.ts';
import type { PendingChunks } from '../progress/progress.ts';
import type { Question } from '../progress/question.ts';
import type { Millis } from '../text/units.ts';

/** The state machine's state. Each state has only the data that apply to it. */
export type State =
  /** `startingAt`: when a look last saw that Fluentd only starts. */
  | { readonly name: 'waiting'; readonly since: Millis; readonly startingAt?: Millis | undefined }
  | { readonly name: 'watching'; readonly since: Millis }
  | Draining
  | ({
      readonly name: 'stopping';
      readonly since: Millis;
      readonly toldAt: Millis;
      readonly told: readonly number[];
    } & DrainResult)
  /** `killed`: the supervisor, if posidle sees one. */
  | ({ readonly name: 'killing'; readonly since: Millis; readonly killed: number | undefined } & DrainResult)
  | {
      readonly name: 'stopped';
      readonly since: Millis;
      readonly end: End;
      /** undefined if no drain had begun. */
      readonly trigger: Trigger | undefined;
      readonly pending: PendingChunks | undefined;
    };

export type StateName = State['name'];
export type Of<Name extends StateName> = Extract<State, { readonly name: Name }>;

/** Every change of state. The types of `step` allow no other, and a test compares the diagram in ARCHITECTURE.md. */
export const NEXT = {
  waiting: ['watching', 'draining', 'stopped'],
  watching: ['draining', 'stopped'],
  // To itself: a certain trigger after a guess.
  draining: ['watching', 'draining', 'stopping', 'stopped'],
  stopping: ['killing', 'stopped'],
  killing: ['stopped'],
  stopped: [],
} as const satisfies Readonly<Record<StateName, readonly StateName[]>>;

export type Next<Name extends StateName> = (typeof NEXT)[Name][number];

export interface Draining {
  readonly name: 'draining';
  readonly since: Millis;
  readonly trigger: Trigger;
  /** Since when the drain knows that main has ended; undefined while main may still write. */
  readonly mainEndedAt: Millis | undefined;
  readonly flushedAt?: Millis;
  /** The first of the latest consecutive looks that found nothing left. */
  readonly emptyAt?: Millis | undefined;
  /** The chunks that must go; undefined while not everything is read. */
  readonly pending: PendingChunks | undefined;
}

export interface Trigger {
  readonly by: 'quiet' | 'start-timeout' | 'done-process' | 'deserted' | DrainRequest['by'];
  readonly at: Millis;
}

const TRIGGERS: Readonly<Record<Trigger['by'], { readonly main: OfMain }>> = {
  ...DRAIN_REQUESTS,
  quiet: { main: 'guess' },
  'start-timeout': { main: 'guess' },
  deserted: { main: 'nothing' },
  // The process table says it, at each look.
  'done-process': { main: 'nothing' },
};

export function ofMain({ by }: Pick<Trigger, 'by'>): OfMain {
  return TRIGGERS[by].main;
}

export interface DrainResult {
  readonly trigger: Trigger;
  readonly pending: PendingChunks | undefined;
}

export interface Gate {
  readonly name:
    | 'look'
    | 'fluentd'
    | 'worker'
    | 'pos-file'
    | 'unfound'
    | 'unread'
    | 'finish'
    | 'main'
    | 'settle'
    | 'flush'
    | 'buffers';
  readonly why: string;
}

/** How the watch ended. `left-to-kubelet`: Fluentd still runs, and the kubelet stops it. `survived`: SIGKILL did not end it. */
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
    | 'not-proven';
  readonly why: string;
}

/** What a decision sets in motion. */
export type Action = 'flush' | 'stop' | 'kill';

/** What a look asks the witnesses. While main may still write, an unfinished line is left alone. */
export function questionIn(state: State): Question {
  if (state.name !== 'draining') return 'look';
  return state.mainEndedAt === undefined ? 'find' : 'finish';
}

/** Fluentd got the stop order. */
export function isTold({ name }: State): boolean {
  return name === 'stopping' || name === 'killing';
}

export function begin(at: Millis): Of<'waiting'> {
  return { name: 'waiting', since: at };
}
