import { setTimeout as pause } from 'node:timers/promises';
import { type Container, named, type PodSpec } from '../pods/kubernetes.ts';
import { until } from '../support/until.ts';
import { FILE_60S, USED_UP, WRITES_ON, whenWritten } from './bench/scenarios.ts';
import type { Destination } from './destination.ts';
import type { Acts, Playing } from './play.ts';
import type { Row } from './row.ts';
import { statusOf } from './site.ts';

type Change = (pod: PodSpec) => void;

const deleted = () => ({ during: whenWritten((pod) => pod.delete()) });
/** Writes 20 lines, and 20 more when it has been stopped for a while. */
const STOPS_SLOWLY = {
  main: `trap 'sleep 4; lines 21 40 >>a.log; exit 0' TERM; slowly 1 20 >>a.log; touch written
while :; do sleep 0.2; done`,
  lines: 40,
  told: { read: 40 },
};
/** Before it the kubelet reported no end of main while a native sidecar waited for its next start (seen on 1.34.4). */
const REPORTS_MAIN = 37;
/** Writes 20 lines, and 20 more when the file `go` is there. */
const WAITS = {
  main: 'slowly 1 20 >>a.log; touch written; until [ -e go ]; do sleep 0.2; done; slowly 21 40 >>a.log',
  lines: 40,
};
const go = (pod: Playing) => pod.exec('main', 'touch /var/log/app/go');
/** Ends when Fluentd has found the log. */
const READS = 'until [ -s /var/log/fluentd/app.pos ]; do sleep 0.2; done';
/** Fluentd needs some twenty seconds to read it. */
const LONG_DRAIN = {
  main: 'lines 1 40000 >>a.log; touch written; until [ -e go ]; do sleep 0.2; done',
  lines: 40_000,
  tail: 'read_bytes_limit_per_second 65536',
};
const NOBODY_DRAINED = {
  outcome: /^unproven$/,
  end: /^no-fluentd$/,
  codes: [4],
  lost: 40,
  message: /posidle could not drain Fluentd/,
};

/** When the drain runs, and lines come already. */
const inDrain =
  (act: (pod: Playing) => Promise<unknown>) =>
  (destination: Destination): Acts => ({
    during: whenWritten(async (pod) => {
      await go(pod);
      await destination.reaches(1_000);
      await act(pod);
    }),
  });
/** The shell of `kubectl exec` has the word in its own command, so the pattern is none for itself. */
const KILL_NODE = `until pid=$(grep -l 'posidle[.]cjs' /proc/[0-9]*/cmdline | cut -d/ -f3) && [ -n "$pid" ]; do sleep 0.05; done
kill -KILL $pid`;

const fluentd =
  (change: Partial<Container>): Change =>
  (pod) =>
    void Object.assign(named(pod, 'fluentd'), change);
const runAs = (runAsUser: number) => fluentd({ securityContext: { runAsUser } });
const byShell = (script: string) => fluentd({ command: ['sh', '-c', script] });
const START = 'exec tini -- fluentd -c';
const umask = byShell(`umask 077; ${START} /fluentd/etc/fluent.conf`);
/** A restart is a matter of a second. The next one has to wait for ten. */
const breaks = byShell(`[ -e /var/log/app/broken ] && exit 1; ${START} /fluentd/etc/fluent.conf`);
const limits =
  (most: object): Change =>
  (pod) =>
    void Object.assign(named(pod, 'posidle'), { resources: { limits: most } });
const all =
  (...changes: readonly Change[]): Change =>
  (pod) => {
    for (const change of changes) change(pod);
  };
const grace =
  (seconds: number): Change =>
  (pod) => {
    pod.terminationGracePeriodSeconds = seconds;
    named(pod, 'posidle').env = [{ name: 'POSIDLE_GRACE', value: `${seconds}s` }];
  };

/** A sidecar that writes 5 lines, and 50 more when it is stopped. */
const logger = (name: string): Container => ({
  name,
  image: 'busybox:1.37',
  restartPolicy: 'Always',
  command: [
    'sh',
    '-c',
    `log=/var/log/app/${name}.log
    say() { for i in $(seq "$1" "$2"); do echo "${name} $i" >>$log; done; }
    trap 'say 6 55; exit 0' TERM; say 1 5; while :; do sleep 0.2; done`,
  ],
  volumeMounts: [{ name: 'logs', mountPath: '/var/log/app' }],
});
const sidecar =
  (at: number, ...names: readonly string[]): Change =>
  (pod) =>
    void pod.initContainers?.splice(at, 0, ...names.map(logger));

/** Fluentd makes files below /tmp. Ruby takes no emptyDir for that: it has no sticky bit. */
const RESTRICTED: Change = (pod) => {
  const found = named(pod, 'fluentd');
  found.securityContext = { runAsUser: 999, readOnlyRootFilesystem: true };
  found.env = [
    ...(found.env ?? []),
    { name: 'TMPDIR', value: '/dev/shm' },
    { name: 'SERVERENGINE_SOCKETMANAGER_SOCK_DIR', value: '/dev/shm' },
  ];
  pod.securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
  named(pod, 'main').securityContext = { runAsUser: 1_000 };
  for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
    container.securityContext = {
      ...container.securityContext,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    };
  }
  pod.securityContext['fsGroup'] = 999;
};
const UNHEALTHY = {
  exec: { command: ['test', '-e', '/posidle/.healthy'] },
  periodSeconds: 1,
  initialDelaySeconds: 8,
  failureThreshold: 1,
};
/** main's shell is PID 1 and takes no SIGTERM until it has set its trap. */
const EARLY = {
  main: `trap 'exit 0' TERM; i=0; while i=$((i + 1)); do lines $i $i >>a.log; lines $i $i; sleep 0.2; done`,
  change: grace(20),
};

const restarted = (container: string) => (pod: Playing) =>
  pod.until(`${container} runs again`, (seen) => {
    const status = statusOf(seen, container);
    return status !== undefined && status.restartCount > 0 && status.state.running;
  });
const starts = (container: string) => (pod: Playing) =>
  pod.until(`${container} starts`, (seen) => {
    const state = statusOf(seen, container)?.state;
    return state?.running ?? state?.terminated;
  });

/** `kubectl set image` with another name of the same image: the kubelet restarts the container. */
const setImage = (container: string, image: string) => ({
  ...WAITS,
  acts: () => ({
    during: whenWritten(async (pod) => {
      const prefix = image.includes('/') ? 'docker.io' : 'docker.io/library';
      await pod.exec('fluentd', READS);
      await pod.kubectl('set', 'image', `pod/${pod.name}`, `${container}=${prefix}/${image}`);
      await restarted(container)(pod);
      await go(pod);
    }),
  }),
});

type Defaults = 'main' | 'lines' | 'buffer' | 'title';

function table(
  rows: Readonly<Record<string, Omit<Row, Defaults> & Partial<Pick<Row, Defaults>>>>,
): readonly Row[] {
  return Object.entries(rows).map(([title, row]) => ({
    title,
    // Nothing flushes it, if posidle does not.
    buffer: FILE_60S,
    ...(row.main === undefined ? { main: 'slowly 1 20 >>a.log', lines: 20 } : { main: row.main }),
    ...row,
  }));
}

/** How Pods are set up and end. */
export const SET_UPS: readonly Row[] = table({
  'the Pod is deleted 0.3 s after main has ended, as Airflow does it': {
    acts: () => ({
      during: async (pod) => {
        await pod.until('main ends', (seen) => statusOf(seen, 'main')?.state.terminated);
        await pause(300);
        await pod.delete();
      },
    }),
  },
  'the Pod is over its activeDeadlineSeconds': {
    ...STOPS_SLOWLY,
    change: (pod) => void Object.assign(pod, { activeDeadlineSeconds: 30 }),
  },
  'a Job is over its activeDeadlineSeconds while posidle drains': {
    job: { activeDeadlineSeconds: 15, backoffLimit: 0 },
    acts: (destination) => {
      destination.isAway = true;
      return {
        during: async (pod) => {
          await pod.until('main ends', (seen) => statusOf(seen, 'main')?.state.terminated);
          await pod.kubectl('wait', '--for=condition=FailureTarget', 'job', '--all', '--timeout=60s');
          destination.isAway = false;
        },
      };
    },
  },
  'a Job completes at once when somebody ends its drain, and the outcome says what was left': {
    job: { backoffLimit: 0 },
    change: (pod) => void Object.assign(pod, { shareProcessNamespace: true }),
    acts: (destination) => {
      destination.isAway = true;
      return {
        during: async (pod) => {
          const said = () => pod.kubectl('logs', pod.name, '-c', 'posidle');
          await until('posidle drains', async () => (await said()).includes('→ draining'), {
            within: 60_000,
          });
          await pod.exec('posidle', 'sh /opt/posidle/asleep stop');
        },
      };
    },
    told: { outcome: /^not-drained$/, end: /^stopped$/, lost: 20, codes: [3], within: 30 },
  },

  // main uses up the grace period.
  'main is killed after a grace period of 5 s': {
    main: WRITES_ON,
    change: grace(5),
    acts: deleted,
    told: USED_UP,
  },
  'main needs 5 s of 20 s, and the rest is too short for the drain': {
    main: `trap 'sleep 5; exit 0' TERM; lines 1 60000 >>a.log; touch written; while :; do sleep 0.2; done`,
    lines: 60_000,
    tail: 'read_bytes_limit_per_second 16384',
    change: grace(20),
    acts: deleted,
    // Of the last two seconds a busy node takes one: then posidle is killed before it says more than that it was cut off.
    told: { outcome: /^(not-drained|unproven)$/, codes: [3, 137], lost: 60_000, kill: 'perhaps' },
  },

  // Users, rights and limits.
  'Fluentd is root, umask 077': { change: all(runAs(0), umask) },
  'Fluentd is user 999, umask 077': { change: all(runAs(999), umask) },
  'the whole Pod has one user and group, as OpenShift assigns them': {
    change: (pod) => {
      pod.securityContext = { runAsUser: 1_000_660_000, fsGroup: 1_000_660_000 };
      for (const { securityContext } of pod.initContainers ?? []) delete securityContext?.['runAsUser'];
    },
  },
  'the Pod fits the level `restricted`, and is deleted, and main writes once more': {
    ...STOPS_SLOWLY,
    change: RESTRICTED,
    acts: () => ({
      during: whenWritten(async (pod) => {
        // It warns of each Pod that is there and would be refused.
        const level = 'pod-security.kubernetes.io/enforce=restricted';
        await pod.kubectl('label', '--warnings-as-errors', 'namespace', pod.namespace, level);
        await pod.delete();
      }),
    }),
  },
  'Fluentd may use 100m of a CPU': {
    change: fluentd({ resources: { limits: { cpu: '100m', memory: '320Mi' } } }),
  },
  'posidle may use 50m of a CPU, and 24 MiB': { change: limits({ cpu: '50m', memory: '24Mi' }) },
  'posidle may use 16 MiB, too little for Node': {
    change: limits({ memory: '16Mi' }),
    told: {
      outcome: /^unproven$/,
      end: /^none$/,
      codes: [137],
      message: /the drain was cut off/,
      lost: 20,
    },
  },

  // Other containers.
  'a second main container, and two sidecars behind posidle that write until their end': {
    lines: 150,
    told: { read: 150 },
    change: all(sidecar(3, 'one', 'two'), (pod) => {
      const main = named(pod, 'main');
      const args = ['sleep 2; for i in $(seq 21 40); do echo "line $i" >>/var/log/app/b.log; done; sleep 5'];
      pod.containers.push({ ...main, name: 'second', args });
    }),
  },
  'a sidecar before Fluentd and one before posidle write until their end': {
    lines: 130,
    change: all(sidecar(1, 'before'), sidecar(3, 'between')),
    told: { lost: 100 },
    unseen: 'the kubelet stops one after Fluentd, and one after posidle',
  },

  // Fluentd.
  'Fluentd has four workers, words in RUBYOPT and the network of its node': {
    change: all(
      (pod) => void Object.assign(pod, { hostNetwork: true }),
      fluentd({ env: [{ name: 'RUBYOPT', value: '-I/posidle/ruby -renumerator -W0 -rset' }] }),
      byShell(
        `(echo "<system>\n  workers 4\n</system>"; sed "/<source>/i<worker 0>" /fluentd/etc/fluent.conf; echo "</worker>") >/tmp/f.conf; ${START} /tmp/f.conf`,
      ),
    ),
  },
  "a shell is Fluentd's PID 1": {
    change: byShell('fluentd -c /fluentd/etc/fluent.conf || exit 1'),
    told: { end: /^stopped$/ },
  },
});

/** What goes wrong. */
export const TROUBLES: readonly Row[] = table({
  'Fluentd stands still': {
    change: grace(30),
    main: 'slowly 1 20 >>a.log; touch written; until [ -e go ]; do sleep 0.2; done',
    lines: 20,
    acts: () => ({
      during: whenWritten(async (pod) => {
        await starts('fluentd')(pod);
        await pod.exec('fluentd', `${READS}; kill -STOP -1`);
        await go(pod);
      }),
    }),
    told: {
      outcome: /^(unproven|not-drained)$/,
      codes: [0, 3, 4],
      lost: 20,
      kill: 'certain',
    },
  },
  'Fluentd waits for its next start when main ends': {
    ...WAITS,
    since: REPORTS_MAIN,
    change: breaks,
    acts: () => ({
      during: whenWritten(async (pod) => {
        await pod.exec('main', 'touch /var/log/app/broken');
        await pod.exec('fluentd', `${READS}; kill -KILL -1`).catch(() => undefined);
        await pod.until(
          'Fluentd waits',
          (seen) => statusOf(seen, 'fluentd')?.state.waiting?.reason === 'CrashLoopBackOff',
        );
        await go(pod);
      }),
    }),
    // For a container that waits for its start the kubelet reports 137.
    told: { ...NOBODY_DRAINED, kill: 'perhaps', restarts: [1, 2, 3], within: 15 },
  },
  'a liveness probe restarts Fluentd, and then the Pod is deleted': {
    ...STOPS_SLOWLY,
    change: fluentd({ livenessProbe: UNHEALTHY }),
    acts: () => ({
      during: whenWritten(async (pod) => {
        await restarted('fluentd')(pod);
        await pod.exec('posidle', 'touch /posidle/.healthy');
        await pod.delete();
      }),
    }),
    told: { outcome: /^(drained|unproven)$/, restarts: [1] },
  },

  // As the kernel kills a container that is out of memory: nobody in it can leave a last report.
  'Fluentd is killed in between': {
    ...WAITS,
    buffer: {},
    acts: (destination) => ({
      during: async (pod) => {
        await destination.reaches(10);
        await pod.exec('fluentd', 'kill -9 -1').catch(() => undefined);
        await go(pod);
      },
    }),
    // Lines may be lost with the process that held them.
    told: {
      outcome: /^(drained|unproven|not-drained)$/,
      message: /"kind":"worker-died"/,
      codes: [0, 3],
      lost: 40,
      restarts: [1],
    },
  },

  // posidle itself.
  'Node is killed in its drain': {
    ...LONG_DRAIN,
    acts: inDrain((pod) => pod.exec('posidle', KILL_NODE)),
    told: { within: 90 },
  },
  'the Pod is deleted in its drain, with a grace period of 1 s': {
    ...LONG_DRAIN,
    acts: inDrain((pod) => pod.delete('--grace-period=1')),
  },
  "posidle's image is changed while main runs": setImage('posidle', 'node:24-bookworm-slim'),
  "Fluentd's image is changed while main runs": {
    ...setImage('fluentd', 'fluent/fluentd:v1.18-debian'),
    told: { restarts: [1] },
  },

  // Mistakes in the manifest.
  // A Fluentd that does not come is waited for.
  "the mount of Fluentd's container is read-only": {
    change: all(grace(20), (pod) => {
      for (const mount of named(pod, 'fluentd').volumeMounts ?? [])
        if (mount.name === 'posidle') mount.readOnly = true;
    }),
    told: NOBODY_DRAINED,
  },
  'posidle stands before Fluentd': {
    change: all(grace(30), (pod) => void pod.initContainers?.reverse()),
    // A Fluentd that started late has only read by then, or is stopped before it loads its witness, and waited for.
    told: { ...NOBODY_DRAINED, outcome: /^(unproven|not-drained)$/ },
  },

  // The Pod is deleted while it starts.
  ...Object.fromEntries(
    ['posidle-install', 'fluentd', 'posidle', 'main'].map((container): [string, Omit<Row, Defaults>] => [
      `the Pod is deleted as soon as ${container} starts`,
      {
        ...EARLY,
        acts: () => ({
          early: async (pod) => {
            await starts(container)(pod);
            await pod.delete();
          },
        }),
        // main uses up the grace period: a busy node may need more than the second that is left.
        told: { outcome: /./, codes: [0, 3, 4, 137, undefined], lost: 8, within: 30, kill: 'perhaps' },
      },
    ]),
  ),
});
