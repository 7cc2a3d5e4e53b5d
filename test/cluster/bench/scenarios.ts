import type { Container, PodSpec } from '../../pods/kubernetes.ts';
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
  /** Fluentd's container, where it is not the image's own. */
  readonly fluentd?: Partial<Container>;
  readonly restartPolicy?: 'OnFailure';
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
const SHELL = 'fluentd --config /fluentd/etc/fluent.conf || exit 1';
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
    await pod.exec('main', 'sh', '-c', 'until [ -e /var/log/app/written ]; do sleep 0.2; done');
    await act(pod);
  };
}

/** The kubelet starts Fluentd again while main goes on. */
const KILLED_IN_BETWEEN =
  'slowly 1 20 >>a.log; until [ -e killed ]; do sleep 0.2; done; slowly 21 40 >>a.log';

/** As the kernel kills a container that is out of memory: nobody in it can leave a last report. */
const killFluentd = (destination: Destination): Acts => ({
  during: async (pod) => {
    await destination.reaches(10);
    await pod.exec('fluentd', 'sh', '-c', 'kill -9 -1').catch(() => undefined);
    await pod.exec('main', 'touch', '/var/log/app/killed');
  },
});
/** Lines may be lost with the process that held them. */
const LOST_WITH_WORKER: Told = {
  outcome: /^(drained|unproven|not-drained)$/,
  message: /"kind":"worker-died"/,
  codes: [0, 3],
  lost: 40,
  restarts: [1],
};

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'idle',
    title: 'nothing is left when main ends',
    lines: 20,
    main: 'slowly 1 20 >>a.log; sleep 13',
    isMeasured: true,
  },
  { name: 'steady', title: 'steady, 20 lines', lines: 20, main: 'slowly 1 20 >>a.log' },
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
    name: 'many-files',
    title: '400 files at once',
    lines: 2_000,
    main: `sleep 3; awk 'BEGIN { for (i = 1; i <= 2000; i++) { file = int(i / 5) ".log"; print "line " i " of main" >>file; close(file) } }'`,
  },
  { name: 'one-line', title: 'a main of one line', lines: 1, main: 'lines 1 1 >>a.log' },
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
    acts: (destination) => {
      destination.isAway = true;
      return { afterMain: () => setTimeout(() => (destination.isAway = false), OUTAGE) };
    },
  },
  {
    name: 'shell-tini',
    title: "`sh -c 'fluentd …'` under tini, flush_interval 30s",
    lines: 20,
    main: 'slowly 1 20 >>a.log',
    buffer: { flushInterval: '30s' },
    fluentd: { command: ['tini', '--', 'sh', '-c', SHELL] },
  },
  {
    name: 'shell',
    title: 'the same with the shell as PID 1',
    lines: 20,
    main: 'slowly 1 20 >>a.log',
    buffer: { flushInterval: '30s' },
    fluentd: { command: ['sh', '-c', SHELL] },
    // The kubelet would wait for the whole grace period: this PID 1 takes no SIGTERM.
    told: { end: /^stopped$/ },
  },
  {
    name: 'deleted',
    title: 'the Pod is deleted, main needs 8 s and writes then, file buffer',
    lines: 400,
    main: `trap 'sleep 8; lines 21 400 >>a.log; exit 0' TERM; slowly 1 20 >>a.log; touch written; while :; do sleep 1; done`,
    buffer: FILE_60S,
    acts: () => ({ during: whenWritten((pod) => pod.delete()) }),
  },
  {
    name: 'restarted',
    title: 'main fails once and is restarted',
    lines: 20,
    main: 'if [ -e a.log ]; then slowly 11 20 >>a.log; else slowly 1 10 >>a.log; exit 1; fi',
    restartPolicy: 'OnFailure',
  },
  { name: 'silent', title: 'a main that never logs', lines: 0, main: 'sleep 4' },
  {
    name: 'killed',
    title: 'Fluentd is killed in between, memory buffer',
    lines: 40,
    main: KILLED_IN_BETWEEN,
    acts: killFluentd,
    told: LOST_WITH_WORKER,
  },
  {
    name: 'killed-file',
    title: 'Fluentd is killed in between, file buffer on a volume',
    lines: 40,
    main: KILLED_IN_BETWEEN,
    buffer: { type: 'file', flushInterval: '1s' },
    acts: killFluentd,
    told: LOST_WITH_WORKER,
  },
  {
    name: 'rotated',
    title: 'main rotates its log in its first moments',
    lines: 10_000,
    main: 'lines 1 5000 >>a.log; mv a.log a.log.1; lines 5001 10000 >>a.log; sleep 4',
    told: {
      outcome: /^(drained|unproven)$/,
      message: /"kind":"(nobody-saw-it-read|closed-unread)"/,
      lost: 5_000,
    },
  },
  {
    name: 'grace-used',
    title: 'main uses up the grace period of 5 s, file buffer',
    main: WRITES_ON,
    buffer: FILE_60S,
    acts: () => ({ during: whenWritten((pod) => pod.delete('--grace-period=5')) }),
    told: USED_UP,
  },
  {
    name: 'no-newline',
    title: 'the last line has no newline',
    lines: 21,
    main: "slowly 1 20 >>a.log; printf 'line 21 of main' >>a.log",
  },
];
