import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Manifest, PodSpec } from '../pods/kubernetes.ts';
import type { Story } from './bench/scenarios.ts';
import { ASLEEP, partsOf } from './bench/strategies.ts';
import { hasEnded, Site, statusOf } from './site.ts';

/** Ten lines that name the Pod, and ten more a while after SIGTERM. */
const STOPS_SLOWLY = `logs() { for i in $(seq "$1" "$2"); do echo "$(hostname) line $i" >>a.log; done; }
trap 'sleep 8; logs 11 20; exit 0' TERM; logs 1 10; touch written; while :; do sleep 0.2; done`;
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
      expectDrained(site, 2);
      // The Pods of a StatefulSet have one name, and so their lines.
      expect(site.destination.lines.size + site.destination.repeated).toBe(40);
    }),
  );

  test('each attempt of a Job with a backoffLimit is drained', () =>
    Site.use(async (site) => {
      const main = 'for i in $(seq 20); do echo "$(hostname) line $i" >>a.log; done; sleep 3; exit 1';
      await createAt(site, main, (spec) => jobOf(spec, { backoffLimit: 1 }));
      await site.until('two Pods end', (pods) => pods.filter(hasEnded).length >= 2);
      expectDrained(site, 2);
      expect(site.destination.lines.size).toBe(40);
    }));

  test('a Job of a CronJob completes with all its lines', () =>
    Site.use(async (site) => {
      await createAt(site, 'lines 1 20 >>a.log', (spec) => {
        const jobTemplate = { spec: jobOf(spec, { backoffLimit: 0 }).spec };
        const cron = { schedule: '0 0 1 1 *', suspend: true, jobTemplate };
        return { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'c' }, spec: cron };
      });
      await site.kubectl('wait', '--for=condition=complete', 'job/now', '--timeout=120s');
      expectDrained(site, 1);
      expect(site.destination.lines.size).toBe(20);
    }));
});

function createAt(site: Site, main: string, around: (spec: PodSpec) => Manifest): Promise<void> {
  const story: Story = { title: '', main, buffer: { type: 'file', flushInterval: '60s' } };
  const { configMaps, spec } = partsOf(story, ASLEEP, site.destination.endpoint);
  return site.create(...configMaps, around(spec));
}

/** The uid of a Pod that has written, and is not `old`. */
async function nextOf(site: Site, old?: string): Promise<string> {
  const { metadata } = await site.until('the next Pod runs', (pods) =>
    pods.findLast((pod) => pod.metadata.uid !== old && statusOf(pod, 'main')?.state.running !== undefined),
  );
  await site.kubectl('exec', metadata.name, '-c', 'main', '--', 'sh', '-c', WRITTEN);
  return metadata.uid;
}

function expectDrained(site: Site, count: number): void {
  const ends = site.pods().map((pod) => statusOf(pod, 'posidle')?.state.terminated);
  const drained = { exitCode: 0, message: expect.stringContaining('"outcome":"drained"') };
  expect(ends).toMatchObject(new Array(count).fill(drained));
}

function jobOf(spec: PodSpec, job: object) {
  const whole = { ...job, template: { spec } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: whole };
}

function setOf(kind: string, pod: PodSpec): Manifest {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { ...pod, restartPolicy: 'Always' } };
  const set = { replicas: 1, selector: { matchLabels: labels }, template };
  const spec = kind === 'StatefulSet' ? { ...set, serviceName: 'a' } : set;
  return { apiVersion: 'apps/v1', kind, metadata: { name: 'a' }, spec };
}
