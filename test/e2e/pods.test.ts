import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { BUNDLE } from '../pods/bundle.ts';
import { BASES, buildImage } from '../pods/images.ts';
import { type KubeletVariant, type PodReport, playPod } from '../pods/kubelet.ts';
import { type Container, configMapsIn, type Manifest, type PodSpec, podIn } from '../pods/kubernetes.ts';
import { configMap, kustomize, manifestsIn } from '../pods/kustomize.ts';
import { missingPodman } from '../pods/podman.ts';
import { rpcBlock } from '../pods/readme.ts';
import { skipFor } from '../support/needs.ts';

const missing = missingPodman(Object.values(BASES));
const OVERLAYS = 'docker/kubernetes';
const BUILD_LIMIT = 120_000;
const LIMIT = 180_000;
/** Seconds from main's end to the Pod's: three Pods start at a time, and what hangs takes two minutes, the stop timeout. */
const PATIENCE = 60;
/** Refreshes its file as long as it lives, and says nothing at its end. */
const WITH_HEARTBEAT = `while touch /var/log/app/.alive; do sleep 0.5; done &
for line in $(seq 20); do echo "line $line of 20" >>/var/log/app/job.log; sleep "$EVERY"; done
`;
/** As the kubelet asks a container to end, once Fluentd knows of main's last line. */
const SIGTERM_AFTER_MAIN = `until grep -q 'line 20 of 20' /var/log/app/job.log && grep -q job.log /var/log/fluentd/app.pos; do sleep 0.2; done
kill -TERM 1
`;
/** How docker/README looks into a running Pod. A hook that fails ends the test. */
const LOOK_INTO_POD = `until grep -q job.log /var/log/fluentd/app.pos; do sleep 0.2; done
node /opt/posidle/posidle.cjs inspect --json | grep -q '"path": *"/var/log/app/job.log"'
`;
/** Ten lines and a failure, then the other ten and the mark. */
const FAILS_ONCE = `log=/var/log/app/job.log
first=1; [ -e $log ] && first=11
for line in $(seq $first $((first + 9))); do echo "line $line of 20" >>$log; sleep "$EVERY"; done
[ $first = 11 ] && touch /var/log/app/.done
`;
beforeAll(async () => {
  if (missing !== undefined) return;
  await buildImage('docker/Dockerfile', 'posidle-fluentd:0.1.0', dirname(BUNDLE));
  await buildImage('docker/init.Dockerfile', 'posidle-init:0.1.0', dirname(BUNDLE));
}, BUILD_LIMIT);

describe('in a real Pod', { concurrent: true, timeout: LIMIT }, () => {
  skipFor(missing);

  test('rpc stops fluentd from a container of its own, without a single privilege', async () => {
    const pod = await play('rpc');
    expectDelivered(pod, 'quiet');
    const { user, hasReadOnlyRoot, capabilities } = pod.containers.posidle ?? {};
    expect({ user, hasReadOnlyRoot, capabilities }).toEqual({
      user: '65534:65534',
      hasReadOnlyRoot: true,
      capabilities: [],
    });
  });

  test('shared-pid stops fluentd by a signal', async () => {
    const pod = await play('shared-pid');
    expectDelivered(pod, 'quiet');
    expect(logOf(pod, 'posidle')).toMatch(/sent SIGINT to \d+/);
  });

  test('shared-pid says what is missing where the uid is not that of fluentd', async () => {
    const pod = await play('shared-pid', (spec) => {
      named(spec, 'posidle').securityContext = { runAsUser: 65534, runAsGroup: 65534 };
      named(spec, 'fluentd').command = ['timeout', '25', 'fluentd', '--config', '/fluentd/etc/fluent.conf'];
    });
    expect(pod.containers.posidle?.code).toBe(5);
    expect(logOf(pod, 'posidle')).toMatch(/same user|KILL/);
  });

  test('background stops fluentd in its own container, and the container ends after it', async () => {
    expectDelivered(await play('background'), 'quiet', 'fluentd');
  });

  test('marker: the file that main makes begins the end', async () => {
    expectDelivered(await play('marker'), 'done-file');
  });

  test('a heartbeat that has stopped begins the end', async () => {
    const pod = await play('rpc', (spec) => {
      named(spec, 'main').args = [WITH_HEARTBEAT];
      named(spec, 'posidle').env = [
        { name: 'POSIDLE_STOP_VIA', value: 'rpc' },
        { name: 'POSIDLE_HEARTBEAT_FILE', value: '/var/log/app/.alive' },
        { name: 'POSIDLE_HEARTBEAT_AGE', value: '6s' },
      ];
    });
    expectDelivered(pod, 'heartbeat');
    expect(logOf(pod, 'posidle')).toContain(
      'the drain begins when /var/log/app/.alive has not been refreshed for 6.0 s, or when SIGTERM comes',
    );
  });

  test.each<KubeletVariant>(['patient', 'restarting'])(
    'native-sidecar: the SIGTERM of a %s kubelet begins the end, and it stops fluentd itself, once',
    async (variant) => {
      const look = (spec: PodSpec) => {
        named(spec, 'posidle').lifecycle = { postStart: { exec: { command: ['sh', '-c', LOOK_INTO_POD] } } };
      };
      const pod = await playThese(kustomize(join(OVERLAYS, 'native-sidecar')), look, variant);
      expectAllLines(pod);
      expect(outcomeOf(pod)).toMatchObject({
        end: 'left-to-kubelet',
        drained: 'drained',
        trigger: 'SIGTERM',
      });
      expect(logOf(pod, 'fluentd').match(/fluentd worker is now running/g)).toHaveLength(1);
      expect(logOf(pod, 'posidle')).toMatch(/called RPC .*flushBuffers/);
    },
  );

  test('conf-d: what fluentd loads beside an unchanged fluent.conf shows that the buffers are empty', async () => {
    const pod = await play('conf-d');
    expectAllLines(pod);
    expect(outcomeOf(pod)).toMatchObject({ end: 'left-to-kubelet', drained: 'drained', trigger: 'SIGTERM' });
    expect(logOf(pod, 'fluentd')).toMatch(/loading additional configuration file/);
    expect(logOf(pod, 'posidle')).not.toMatch(/RPC/);
  });

  test("shared-pid: main's process that is gone begins the end, after its second attempt", async () => {
    const pod = await play('shared-pid', (spec) => {
      spec.restartPolicy = 'OnFailure';
      named(spec, 'main').args = [FAILS_ONCE];
      named(spec, 'posidle').env = [
        { name: 'POSIDLE_STOP_VIA', value: 'signal' },
        { name: 'POSIDLE_DONE_PROCESS', value: 'line .* of 20' },
        // A container starts again within a second or two; the kubelet's next back-off would be 10 s.
        { name: 'POSIDLE_DONE_PROCESS_GONE', value: '15s' },
      ];
    });
    expectDelivered(pod, 'done-process');
    expect(logOf(pod, 'posidle')).toMatch(/main's process runs again after/);
  });

  test('post-start: a posidle that the hook has started stops fluentd', async () => {
    const pod = await play('post-start');
    expectAllLines(pod);
    expect(logOf(pod, 'fluentd')).toMatch(/watching → draining: nothing has moved/);
  });

  test('parent: the container of the image ends with its fluentd', async () => {
    expectDelivered(await play('parent'), 'quiet', 'fluentd');
  });

  test('the image with no settings waits for silence, not for a call', async () => {
    const pod = await play('parent', (spec) => {
      const fluentd = named(spec, 'fluentd');
      fluentd.env = [];
      // Sooner than the 60 s of silence; the placement `parent` plays those.
      fluentd.lifecycle = { postStart: { exec: { command: ['sh', '-c', SIGTERM_AFTER_MAIN] } } };
    });
    expectDelivered(pod, 'SIGTERM', 'fluentd');
    expect(logOf(pod, 'fluentd')).toContain(
      'the drain begins when nothing has moved for 60 s, or when SIGTERM comes',
    );
  });

  test('init-container: the unchanged fluentd image runs what the init container left', async () => {
    expectDelivered(await play('init-container'), 'quiet', 'fluentd');
  });

  test('cronjob: a run completes', async () => {
    expectDelivered(await play('cronjob'), 'quiet');
  });

  test("baseline: the original script's container is gone before fluentd's worker has stopped", async () => {
    const pod = await playIn('test/pods/original');
    expect(logOf(pod, 'fluentd')).toMatch(/fluentd worker is now running/);
    expect(logOf(pod, 'fluentd')).not.toMatch(/Worker 0 finished/);
    expect(pod.containers.fluentd?.code).toBe(0);
  });

  test('a copied rpc block completes when only its log path is changed', async () => {
    const manifests = manifestsIn(rpcBlock().replaceAll('/var/log/app', '/data/logs'));
    expectDelivered(await playThese(manifests), 'quiet');
  });

  test('monitor: the component makes a Job complete that knew nothing of posidle, with the names of its volumes', async () => {
    expectDelivered(await playIn('test/pods/with-monitor'), 'quiet');
  });

  test('a main that fails once and is restarted does not end the Pod in between', async () => {
    const pod = await play('marker', (spec) => {
      spec.restartPolicy = 'OnFailure';
      named(spec, 'main').args = [FAILS_ONCE];
    });
    expectDelivered(pod, 'done-file');
  });
});

function play(overlay: string, change?: (pod: PodSpec) => void): Promise<PodReport> {
  return playIn(join(OVERLAYS, overlay), change);
}

function playIn(dir: string, change?: (pod: PodSpec) => void): Promise<PodReport> {
  return playThese(kustomize(dir), change);
}

function playThese(
  manifests: readonly Manifest[],
  change: (pod: PodSpec) => void = () => undefined,
  variant?: KubeletVariant,
) {
  const pod = podIn(manifests);
  hurry(pod);
  change(pod);
  return playPod(pod, [...configMapsIn(manifests), configMap('posidle', [BUNDLE])], variant);
}

/** What the manifests wait for in minutes is waited for in seconds here. */
function hurry(pod: PodSpec): void {
  const faster: Readonly<Record<string, string>> = { EVERY: '0.5', INTERVAL: '4', '60s': '8s' };
  for (const { env = [] } of [...(pod.initContainers ?? []), ...pod.containers]) {
    for (const variable of env)
      variable.value = faster[variable.name] ?? faster[variable.value] ?? variable.value;
  }
}

/** All of main's lines, and an outcome in the termination message of posidle's container. */
function expectDelivered(pod: PodReport, trigger: string, container = 'posidle'): void {
  expectAllLines(pod);
  expect(pod.containers[container]?.code).toBe(0);
  expect(outcomeOf(pod, container)).toMatchObject({ end: 'stopped', drained: 'drained', trigger });
}

function outcomeOf(pod: PodReport, container = 'posidle'): unknown {
  return JSON.parse(pod.containers[container]?.terminationMessage ?? '');
}

function expectAllLines(pod: PodReport): void {
  expect(pod.containers.main?.code).toBe(0);
  expect(delivered(pod)).toBe(20);
  expect(pod.containers.fluentd?.code).toBe(0);
  expect(logOf(pod, 'fluentd')).toMatch(/Worker 0 finished with status 0/);
  expect(pod.tail).toBeLessThan(PATIENCE);
}

function delivered(pod: PodReport): number {
  return new Set(logOf(pod, 'fluentd').match(/line \d+ of 20/g)).size;
}

function logOf(pod: PodReport, container: string): string {
  return pod.containers[container]?.log ?? '';
}

function named(spec: PodSpec, name: string): Container {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const found = all.find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}
