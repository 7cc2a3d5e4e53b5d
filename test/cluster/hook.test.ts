import { beforeEach, describe, expect, inject, test } from 'vitest';
import { configMapsIn, type PodSpec, podIn } from '../pods/kubernetes.ts';
import { kustomize } from '../pods/kustomize.ts';
import { append, expectDelivered, logOf, named, PATIENCE, playPlacement, playThese } from './placement.ts';
import type { Acts } from './play.ts';

/** main writes its last lines 8 s after its SIGTERM. */
const SLOW_MAIN = `log=/var/log/app/job.log
trap 'sleep 8; for line in $(seq 11 20); do echo "line $line of 20" >>$log; done; exit 0' TERM
for line in $(seq 10); do echo "line $line of 20" >>$log; done
touch /var/log/app/written
while :; do sleep 0.2; done
`;
const deleteIt: Acts = {
  during: async (pod) => {
    await pod.exec('main', 'sh', '-c', 'until [ -e /var/log/app/written ]; do sleep 0.2; done');
    await pod.delete();
  },
};

describe("pre-stop: posidle as Fluentd's hook", { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test('drains when main has ended, stops Fluentd, and leaves its outcome', async () => {
    const played = await playPlacement('pre-stop');
    expectDelivered(played, 'main-ended', 'fluentd');
    expect(logOf(played.report, 'fluentd')).toMatch(/stops it next; drained/);
    expect(played.report.containers['posidle-gate']).toMatchObject({ code: 0, message: '' });
  });

  test('ends with a shell as the first process, without SIGKILL', async () => {
    const played = await playPlacement('pre-stop', (spec) => {
      named(spec, 'fluentd').command = ['sh', '-c', 'fluentd --config /fluentd/etc/fluent.conf || exit 1'];
    });
    expectDelivered(played, 'main-ended', 'fluentd');
  });

  test('waits for the last lines of a main that is deleted', async () => {
    const manifests = kustomize('docker/kubernetes/pre-stop');
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'with-fluentd' }, spec: podIn(manifests) };
    const slow = (spec: PodSpec) => void Object.assign(named(spec, 'main'), { args: [SLOW_MAIN] });
    const { lines, report } = await playThese([...configMapsIn(manifests), pod], slow, deleteIt);
    expect(lines).toBe(20);
    expect(report.containers.fluentd).toMatchObject({
      code: 0,
      message: expect.stringContaining('"outcome":"drained"'),
    });
    expect(report.tail).toBeLessThan(PATIENCE);
  });

  test('works for a Fluentd without root, without capabilities, on a read-only root', async () => {
    const restrict = (spec: PodSpec) => {
      spec.securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
      named(spec, 'main').securityContext = { runAsUser: 1000 };
      Object.assign(named(spec, 'fluentd'), {
        securityContext: {
          runAsUser: 999,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
          allowPrivilegeEscalation: false,
        },
        // Fluentd makes files below /tmp. Ruby takes no emptyDir for that: it has no sticky bit.
        env: [
          ...(named(spec, 'fluentd').env ?? []),
          { name: 'TMPDIR', value: '/dev/shm' },
          { name: 'SERVERENGINE_SOCKETMANAGER_SOCK_DIR', value: '/dev/shm' },
        ],
      });
    };
    expectDelivered(await playPlacement('pre-stop', restrict), 'main-ended', 'fluentd');
  });

  test('only flushes if Fluentd alone restarts, and main runs on', async () => {
    const played = await playPlacement(
      'pre-stop',
      (spec) => {
        append(
          spec,
          'until [ -e /var/log/app/.restarted ]; do sleep 0.2; done; echo "line 21 of 21" >>/var/log/app/job.log',
        );
        // It fails until the file exists.
        Object.assign(named(spec, 'fluentd'), {
          livenessProbe: {
            exec: { command: ['test', '-e', '/posidle/.healthy'] },
            periodSeconds: 1,
            initialDelaySeconds: 6,
            failureThreshold: 1,
          },
        });
      },
      {
        during: async (pod) => {
          await pod.exec(
            'posidle-gate',
            'sh',
            '-c',
            'until [ -e /posidle/hook ]; do sleep 0.1; done; touch /posidle/.healthy',
          );
          await pod.exec('main', 'touch', '/var/log/app/.restarted');
        },
      },
    );
    const { fluentd } = played.report.containers;
    expect(played.lines).toBe(21);
    expect(fluentd).toMatchObject({
      code: 0,
      restarts: 1,
      // A busy kubelet may kill it before its last word.
      message: expect.stringMatching(
        /"outcome":"(drained|unproven)","trigger":"main-ended","left":\{"count":0/,
      ),
    });
  });
});
