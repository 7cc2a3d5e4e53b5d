import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Manifest, PodSpec } from '../pods/kubernetes.ts';
import type { Story } from './bench/scenarios.ts';
import { ASLEEP, partsOf } from './bench/strategies.ts';
import { evict, type Pod } from './kubectl.ts';
import { hasEnded, Site, statusOf } from './site.ts';

/** Ten lines that name the Pod, and ten more a while after SIGTERM. */
const STOPS_SLOWLY = `logs() { for i in $(seq "$1" "$2"); do echo "$(hostname) line $i" >>a.log; done; }
trap 'sleep 8; logs 11 20; exit 0' TERM; logs 1 10; touch written; while :; do sleep 0.2; done`;
const LABELS = { app: 'a' };
const WRITTEN = 'until [ -e /var/log/app/written ]; do sleep 0.2; done';

describe('what makes and ends Pods', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.each(['Deployment', 'StatefulSet'])('a rollout and a scale-down of a %s lose no line', (kind) =>
    Site.use(async (site) => {
      await createAt(site, STOPS_SLOWLY, (spec) => setOf(kind, spec));
      const old = await nextOf(site);
      await site.kubectl('rollout', 'restart', `${kind}/a`);
      await nextOf(site, old);
      await site.kubectl('scale', '--replicas=0', `${kind}/a`);
      await site.until('all Pods are gone', (pods) => pods.every(({ isGone }) => isGone));
      expectDrained(site.pods(), 2);
      // The Pods of a StatefulSet have one name, and so their lines.
      expect(site.destination.lines.size + site.destination.repeated).toBe(40);
    }),
  );

  test('each attempt of a Job with a backoffLimit is drained', () =>
    Site.use(async (site) => {
      const main = 'for i in $(seq 20); do echo "$(hostname) line $i" >>a.log; done; sleep 3; exit 1';
      await createAt(site, main, (spec) => jobOf(spec, { backoffLimit: 1 }));
      await site.until('two Pods end', (pods) => pods.filter(hasEnded).length >= 2);
      expectDrained(site.pods(), 2);
      expect(site.destination.lines.size).toBe(40);
    }));

  test('a CronJob that replaces its Job drains the old one', () =>
    Site.use(async (site) => {
      await createAt(site, STOPS_SLOWLY, (spec) =>
        cronJobOf(spec, { schedule: '* * * * *', concurrencyPolicy: 'Replace' }),
      );
      const { uid, name } = await nextOf(site);
      const old = await site.until('the old Pod is gone', (pods) =>
        pods.find(({ metadata, isGone }) => metadata.uid === uid && isGone),
      );
      expectDrained([old]);
      expect(linesOf(site, name)).toHaveLength(20);
    }));

  test('evictions within a disruption budget, as `kubectl drain` makes them, lose no line', () =>
    Site.use(async (site) => {
      await createAt(site, STOPS_SLOWLY, (spec) => setOf('Deployment', spec, 2));
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
  const story: Story = { title: '', main, buffer: { type: 'file', flushInterval: '60s' } };
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

function expectDrained(pods: readonly Pod[], count = pods.length): void {
  const ends = pods.map((pod) => statusOf(pod, 'posidle')?.state.terminated);
  const drained = { exitCode: 0, message: expect.stringContaining('"outcome":"drained"') };
  expect(ends).toMatchObject(new Array(count).fill(drained));
}

/** STOPS_SLOWLY and its like begin each line with the Pod's name. */
function linesOf({ destination }: Site, pod: string): readonly string[] {
  return [...destination.lines].filter((line) => line.startsWith(`${pod} `));
}

function jobOf(spec: PodSpec, job: object) {
  const whole = { ...job, template: { spec } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: whole };
}

function cronJobOf(pod: PodSpec, fields: object): Manifest {
  const jobTemplate = { spec: jobOf(pod, { backoffLimit: 0 }).spec };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { ...fields, jobTemplate },
  };
}

function setOf(kind: string, pod: PodSpec, replicas = 1): Manifest {
  const template = { metadata: { labels: LABELS }, spec: { ...pod, restartPolicy: 'Always' } };
  const set = { replicas, selector: { matchLabels: LABELS }, template };
  const spec = kind === 'StatefulSet' ? { ...set, serviceName: 'a' } : set;
  return { apiVersion: 'apps/v1', kind, metadata: { name: 'a' }, spec };
}
