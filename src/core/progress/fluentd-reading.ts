import type { Millis } from '../text/units.ts';

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  /** The id of its session; 0 if the system does not tell. */
  readonly session: number;
  /** In the system's own unit. Pid and start time together identify a process. */
  readonly startTime: string;
  readonly zombie: boolean;
  readonly argv: readonly string[];
}

/** The system reuses a pid alone for other processes. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** Which Fluentd posidle must stop. */
export type FluentdTarget =
  | { readonly by: 'search' }
  /** The Fluentd whose witness listens, in another container. posidle looks at no process. */
  | { readonly by: 'witness' }
  /** The Fluentd in the session that this child leads, or below the child. It may run behind wrappers, or be restarted. */
  | { readonly by: 'session'; readonly leader: ProcessIdentity };

export type FluentdReading =
  | {
      readonly kind: 'absent';
      readonly why: string;
      /** A process of Fluentd ran before, as the witness's directory shows. */
      readonly hasEnded?: true;
    }
  | {
      readonly kind: 'running';
      readonly supervisor: ProcessIdentity;
      readonly workers: readonly ProcessIdentity[];
      /** Since 1.18, SIGUSR2 starts another supervisor, which takes over while this one still runs. */
      readonly successor?: ProcessIdentity;
      /**
       * The proof that it is the right Fluentd. `own`: it is posidle's child, or holds a pos file open. `not-permitted`: there is none, and
       * posidle may not signal it either.
       */
      readonly proof: 'own' | 'none' | 'not-permitted';
      /** A worker has not opened its pos file yet, and SIGUSR1 would kill it. Undefined if posidle may not see its open files. */
      readonly isStarting?: boolean | undefined;
    }
  /** The child of `posidle run`, with no Fluentd visible below it: it has not started one yet, or Fluentd has another name. */
  | {
      readonly kind: 'wrapper';
      readonly leader: ProcessIdentity;
      /** The first look that found this. */
      readonly since: Millis;
    }
  /** Only the witness's directory shows that Fluentd runs. It gets orders through the witness, and no signal: anybody may listen there. */
  | {
      readonly kind: 'remote';
      /** No worker listens yet, or no longer. */
      readonly isStarting?: true;
      /** The child of `run` has ended, and left workers. */
      readonly isOrphaned?: true;
    }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly ProcessRow[] };

/** Whether a Fluentd is there that can be drained. One that only starts, as the witness's directory shows, is not. */
export function isUp(fluentd: FluentdReading): boolean {
  return fluentd.kind !== 'absent' && !(fluentd.kind === 'remote' && fluentd.isStarting === true);
}
