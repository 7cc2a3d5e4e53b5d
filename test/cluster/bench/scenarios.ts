import type { PodSpec } from '../../pods/kubernetes.ts';
import type { Destination } from '../destination.ts';
import type { Acts, Playing } from '../play.ts';

/** A Pod with main and Fluentd, and what becomes of it. */
export interface Story {
  readonly title: string;
  /** How many lines the containers write. Without a number, main prints what it has written, until it is killed. */
  readonly lines?: number;
  /** main's script. `lines FIRST LAST` prints numbered lines, `slowly FIRST LAST` five of them a second. */
  readonly main: string;
  /** The parameters of <buffer>. */
  readonly buffer?: { readonly type?: 'file'; readonly flushInterval?: string };
  /** More settings of in_tail. */
  readonly tail?: string;
  /** What else is changed in the Pod. */
  readonly change?: (pod: PodSpec) => void;
  /** Deleted instead of left to end by itself, or disturbed otherwise. */
  readonly acts?: (destination: Destination) => Acts;
  /** The fields of a Job around the Pod. */
  readonly job?: object;
  /** What must come of it with posidle. */
  readonly told?: Told;
}

/** Each field has a default: all is drained. */
export interface Told {
  readonly outcome?: RegExp;
  /** Drained: `left-to-kubelet`. */
  readonly end?: RegExp;
  /** posidle's exit codes. */
  readonly codes?: readonly (number | undefined)[];
  /** Of its termination message, where a line is lost. */
  readonly message?: RegExp;
  /** At most so many lines. */
  readonly lost?: number;
  /** At least so many lines. */
  readonly written?: number;
  /** The lines in the outcome. The witness delivers what is written after a drain that began too early: only they show it. */
  readonly read?: number;
  /** Seconds from the Pod's deletion, or from main's end, to the Pod's end. */
  readonly within?: number;
  /** Whether the kubelet kills Fluentd. */
  readonly kill?: 'perhaps' | 'certain';
  /** Of Fluentd. */
  readonly restarts?: readonly number[];
}

export interface Scenario extends Story {
  readonly name: string;
  /** CPU and memory of the sidecars are measured while main is silent. */
  readonly isMeasured?: boolean;
}

/** The beginning of each script of main. */
export const PRELUDE = `lines() { awk -v first="$1" -v last="$2" 'BEGIN { for (i = first; i <= last; i++) print "line " i " of main" }'; }
slowly() { for i in $(seq "$1" "$2"); do lines "$i" "$i"; sleep 0.2; done; }
cd /var/log/app
`;
export const FILE_60S = { type: 'file', flushInterval: '60s' } as const;
const OUTAGE = 25_000;
/** main ignores SIGTERM, and writes until it is killed. */
export const WRITES_ON = `trap '' TERM; slowly 1 10 >>a.log; lines 1 10; touch written
i=10; while i=$((i + 1)); do lines $i $i >>a.log; lines $i $i; sleep 0.2; done`;
/** The witness flushes each second. The kubelet may stop Fluentd before posidle has begun. */
export const USED_UP: Told = {
  outcome: /^(drained|unproven|not-drained)$/,
  codes: [0, 3, 137],
  written: 20,
  kill: 'perhaps',
  lost: 8,
};

export function whenWritten(act: (pod: Playing) => Promise<void>): NonNullable<Acts['during']> {
  return async (pod) => {
    await pod.exec('main', 'until [ -e /var/log/app/written ]; do sleep 0.2; done');
    await act(pod);
  };
}

const AWAY = (destination: Destination): Acts => {
  destination.isAway = true;
  return { afterMain: () => setTimeout(() => (destination.isAway = false), OUTAGE) };
};

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'idle',
    title: 'nothing is left when main ends',
    lines: 20,
    main: 'slowly 1 20 >>a.log; sleep 13',
    isMeasured: true,
  },
  {
    name: 'burst',
    title: 'a burst of 300,000 lines at the end',
    lines: 300_000,
    main: 'slowly 1 20 >>a.log; lines 21 300000 >>a.log',
  },
  {
    name: 'file-buffer',
    title: 'file buffer, flush_interval 60s',
    lines: 20,
    main: 'slowly 1 20 >>a.log',
    buffer: FILE_60S,
  },
  {
    name: 'new-file',
    title: 'a new file in the last moment',
    lines: 510,
    main: 'slowly 1 10 >>a.log; sleep 2; lines 11 510 >>b.log',
  },
  {
    name: 'short',
    title: 'a main of 1 s, and Fluentd looks for new files every 60 s',
    lines: 5,
    main: 'slowly 1 5 >>a.log',
    tail: 'refresh_interval 60s',
  },
  {
    name: 'rotating',
    title: 'a log that is rotated each 3 s from its first moment, and Fluentd looks for new files every 60 s',
    lines: 60,
    main: 'for n in 0 1 2 3; do slowly $((15 * n + 1)) $((15 * n + 15)) >>a.log; mv a.log a.log.$n; done',
    tail: 'refresh_interval 60s',
  },
  {
    name: 'throttled',
    title: 'read_bytes_limit_per_second',
    lines: 60_000,
    main: 'slowly 1 20 >>a.log; lines 21 60000 >>a.log',
    tail: 'read_bytes_limit_per_second 65536',
  },
  {
    name: 'away',
    title: 'the destination is away until 25 s after the end of main, memory buffer',
    lines: 200,
    main: 'slowly 1 20 >>a.log; lines 21 200 >>a.log',
    acts: AWAY,
  },
  {
    name: 'grace-used',
    title: 'main uses up the grace period of 5 s, file buffer',
    main: WRITES_ON,
    buffer: FILE_60S,
    acts: () => ({ during: whenWritten((pod) => pod.delete('--grace-period=5')) }),
  },
  {
    name: 'no-newline',
    title: 'the last line has no newline',
    lines: 21,
    main: "slowly 1 20 >>a.log; printf 'line 21 of main' >>a.log",
  },
];
