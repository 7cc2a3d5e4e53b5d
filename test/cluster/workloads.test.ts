import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Manifest, PodSpec } from '../pods/kubernetes.ts';
import { FILE_60S, type Story } from './bench/scenarios.ts';
import { ASLEEP, partsOf } from './bench/strategies.ts';
import { evict, type Pod } from './kubectl.ts';
import { hasEnded, Site, statusOf } from './site.ts';

/** Ten lines that name the Pod, and ten more a while after SIGTERM. */
const STOPS_SLOWLY = `logs() { for i in $(seq "$1" "$2"); do echo "$(hostname) line $i" >>a.log; done; }
trap 'sleep 4; logs 11 20; exit 0' TERM; logs 1 10; touch written; while :; do sleep 0.2; done`;
const LABELS = { app: 'a' };
const WRITTEN = 'until [ -e /var/log/app/written ]; do sleep 0.2; done';

describe('what makes and ends Pods', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test('a rollout and a scale-down of a Deployment lose no line', () =>
    Site.use(async (site) => {
      await createAt(site, STOPS_SLOWLY, (spec) => deploymentOf(spec, 1));
      const old = await nextOf(site);
      await site.kubectl('rollout', 'restart', 'deployment/a');
      await nextOf(site, old);
      await site.kubectl('scale', '--replicas=0', 'deployment/a');
      await site.until('all Pods are gone', (pods) => pods.every(({ isGone }) => isGone));
      expectDrained(site.pods(), 2);
      expect(site.destination.lines.size).toBe(40);
    }));

  test('each attempt of a Job with a backoffLimit is drained', () =>
    Site.use(async (site) => {
      const main = 'for i in $(seq 20); do echo "$(hostname) line $i" >>a.log; done; sleep 3; exit 1';
      await createAt(site, main, jobOf);
      await site.until('two Pods end', (pods) => pods.filter(hasEnded).length >= 2);
      expectDrained(site.pods(), 2);
      expect(site.destination.lines.size).toBe(40);
    }));

  test('evictions within a disruption budget, as `kubectl drain` makes them, lose no line', () =>
    Site.use(async (site) => {
      await createAt(site, STOPS_SLOWLY, (spec) => deploymentOf(spec, 2));
      await site.create(BUDGET);
      const one = await nextOf(site);
      const two = await nextOf(site, one);
      for (const pod of [one, two]) {
        await site.kubectl('wait', '--for=jsonpath={.status.disruptionsAllowed}=1', 'pdb/b', '--timeout=90s');
        await evict(site.namespace, pod.name);
      }
      const old = await site.until('the old Pods are gone', (pods) => {
        const gone = pods.filter(
          ({ metadata: { uid }, isGone }) => isGone && [one.uid, two.uid].includes(uid),
        );
        return gone.length === 2 && gone;
      });
      expectDrained(old);
      for (const { name } of [one, two]) expect(linesOf(site, name)).toHaveLength(20);
    }));
});

const BUDGET: Manifest = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b' },
  spec: { minAvailable: 1, selector: { matchLabels: LABELS } },
};

function createAt(site: Site, main: string, around: (spec: PodSpec) => Manifest): Promise<void> {
  const story: Story = { title: '', main, buffer: FILE_60S };
  const { configMaps, spec } = partsOf(story, ASLEEP, site.destination.endpoint);
  return site.create(...configMaps, around(spec));
}

/** A Pod that has written, and is not `old`. */
async function nextOf(site: Site, old?: Pod['metadata']): Promise<Pod['metadata']> {
  const { metadata } = await site.until('the next Pod runs', (pods) =>
    pods.findLast(
      (pod) => pod.metadata.uid !== old?.uid && statusOf(pod, 'main')?.state.running !== undefined,
    ),
  );
  await site.kubectl('exec', metadata.name, '-c', 'main', '--', 'sh', '-c', WRITTEN);
  return metadata;
}

/** Each main writes 20 lines. */
function expectDrained(pods: readonly Pod[], count = pods.length): void {
  const ends = pods.map((pod) => statusOf(pod, 'posidle')?.state.terminated);
  const drained = { exitCode: 0, message: expect.stringMatching(/"outcome":"drained".*"lines":20,/) };
  expect(ends).toMatchObject(new Array(count).fill(drained));
}

/** STOPS_SLOWLY and its like begin each line with the Pod's name. */
function linesOf({ destination }: Site, pod: string): readonly string[] {
  return [...destination.lines].filter((line) => line.startsWith(`${pod} `));
}

function jobOf(pod: PodSpec): Manifest {
  const spec = { backoffLimit: 1, template: { spec: pod } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec };
}

function deploymentOf(pod: PodSpec, replicas: number): Manifest {
  const template = { metadata: { labels: LABELS }, spec: { ...pod, restartPolicy: 'Always' } };
  const spec = { replicas, selector: { matchLabels: LABELS }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec };
}
