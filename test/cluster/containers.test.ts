import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Container, PodSpec } from '../pods/kubernetes.ts';
import { kubectl } from './kubectl.ts';
import { named } from './placement.ts';
import { jobOf, LOGS, podOf, Site, STOPS_SLOWLY, WRITTEN } from './site.ts';

const MAIN = `${LOGS}logs 1 10; sleep 4; logs 11 20
`;
const WITNESS = '-I/posidle/ruby -renumerator';

function fluentdWith(change: (fluentd: Container) => object): (spec: PodSpec) => void {
  return (spec) => {
    const fluentd = named(spec, 'fluentd');
    Object.assign(fluentd, change(fluentd));
  };
}

const logger = (name: string, restartPolicy?: 'Always'): Container => ({
  name,
  image: 'busybox:1.37',
  command: [
    'sh',
    '-c',
    `log=/var/log/app/${name}.log
    trap 'for i in 6 7 8 9 10; do echo "${name} $i" >>$log; done; exit 0' TERM
    for i in 1 2 3 4 5; do echo "${name} $i" >>$log; done; while :; do sleep 0.2; done`,
  ],
  volumeMounts: [{ name: 'logs', mountPath: '/var/log/app' }],
  ...(restartPolicy && { restartPolicy }),
});

/** Each completes with all of its lines, proven. */
const COMPLETE: Readonly<Record<string, readonly [change: (spec: PodSpec) => void, lines?: number]>> = {
  'Fluentd as root': [fluentdWith(() => ({ securityContext: { runAsUser: 0 } }))],
  'two workers': [
    fluentdWith(() => ({
      command: [
        'sh',
        '-c',
        '(echo "<system>\n  workers 2\n</system>"; sed "/<source>/i<worker 0>" /fluentd/etc/fluent.conf; echo "</worker>") >/tmp/f.conf; exec tini -- fluentd -c /tmp/f.conf',
      ],
    })),
  ],
  'two mains': [
    (spec) => {
      const main = named(spec, 'main');
      const args = [
        'sleep 2; for i in $(seq 21 40); do echo "line $i" >>/var/log/app/second.log; done; sleep 5',
      ];
      spec.containers.push({ ...main, name: 'second', args });
    },
    40,
  ],
  'a sidecar behind the gate that logs until its end': [
    (spec) => spec.initContainers?.push(logger('behind', 'Always')),
    30,
  ],
  'CPU limits of 100m': [fluentdWith(() => ({ resources: { limits: { cpu: '100m', memory: '320Mi' } } }))],
  'a RUBYOPT that is there already': [
    fluentdWith(() => ({ env: [{ name: 'RUBYOPT', value: `${WITNESS} -W0 -rset` }] })),
  ],
  'shared processes': [(spec) => void Object.assign(spec, { shareProcessNamespace: true })],
};

describe('Pods with the hook', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.each(Object.entries(COMPLETE))('a Job completes with all its lines: %s', (_, [change, lines = 20]) =>
    Site.use(async (site) => {
      await site.create(jobOf(MAIN, { backoffLimit: 0 }, change));
      await site.ended();
      expect(site.destination.lines.size).toBe(lines);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
      expect(site.exitCodes()).toEqual([0]);
      await site.kubectl('wait', '--for=condition=complete', 'job/j', '--timeout=30s');
    }),
  );

  test('a sidecar before Fluentd ends after it: its last lines are lost, as the documentation says', () =>
    Site.use(async (site) => {
      await site.create(podOf(MAIN, (spec) => spec.initContainers?.unshift(logger('before', 'Always'))));
      await site.ended();
      expect(site.destination.lines.size).toBe(25);
    }));

  test('an installer that fails holds up neither main nor Fluentd', () =>
    Site.use(async (site) => {
      await site.create(
        podOf(MAIN, (spec) => {
          // Nothing can be written there.
          const install = named(spec, 'posidle-install');
          install.volumeMounts = [{ name: 'posidle', mountPath: '/posidle', readOnly: true }];
        }),
      );
      await site.ended();
      expect(site.pod('p').status.phase).toBe('Succeeded');
      expect(await site.events()).toContain('FailedPreStopHook');
    }));

  test('a namespace of the level `restricted`, with a quota', () =>
    Site.use(async (site) => {
      const level = 'pod-security.kubernetes.io/enforce=restricted';
      await kubectl(['label', 'namespace', site.namespace, level]);
      const hard = {
        'requests.cpu': '1',
        'requests.memory': '1Gi',
        'limits.cpu': '2',
        'limits.memory': '1Gi',
      };
      await site.create(
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } },
        podOf(STOPS_SLOWLY, (spec) => {
          for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
            container.securityContext = {
              runAsNonRoot: true,
              runAsUser: container.name === 'fluentd' ? 999 : 65534,
              readOnlyRootFilesystem: container.name !== 'main',
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
              seccompProfile: { type: 'RuntimeDefault' },
            };
            const limits = { cpu: '400m', memory: '256Mi' };
            container.resources = { requests: { cpu: '50m', memory: '64Mi' }, limits };
          }
          named(spec, 'fluentd').env?.push(
            // Fluentd makes files below /tmp. Ruby takes no emptyDir for that: it has no sticky bit.
            { name: 'TMPDIR', value: '/dev/shm' },
            { name: 'SERVERENGINE_SOCKETMANAGER_SOCK_DIR', value: '/dev/shm' },
          );
        }),
      );
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.delete('p');
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));
});
