import { beforeEach, describe, expect, inject, test } from 'vitest';
import { hasEnded, jobOf, LOGS, podOf, Site, STOPS_SLOWLY, setOf, WRITTEN } from './site.ts';

describe('what ends Pods with the hook', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.each(['Deployment', 'StatefulSet'])('a rollout and a scale-down of a %s lose no line', (kind) =>
    Site.use(async (site) => {
      await site.create(setOf(kind, 1, STOPS_SLOWLY));
      await site.exec(await site.running(), 'main', WRITTEN);
      const [old] = [...site.pods.values()];
      await site.kubectl('rollout', 'restart', `${kind}/a`);
      const isNext = (uid: string | undefined) => uid !== old?.metadata.uid;
      await site.until('the next Pod runs', (pods) =>
        pods.some((pod) => isNext(pod.metadata.uid) && pod.status.phase === 'Running'),
      );
      const next = [...site.pods.values()].findLast((pod) => isNext(pod.metadata.uid));
      await site.exec(next?.metadata.name ?? '', 'main', WRITTEN);
      await site.kubectl('scale', '--replicas=0', `${kind}/a`);
      await site.until('all Pods are gone', (pods) => pods.every(({ isGone }) => isGone));
      // The Pods of a StatefulSet have one name, and so their lines.
      expect(site.destination.lines.size + site.destination.repeated).toBe(40);
      for (const word of site.words()) expect(word).toMatchObject({ outcome: 'drained' });
    }),
  );

  test('an eviction loses no line', () =>
    Site.use(async (site) => {
      await site.create(podOf(STOPS_SLOWLY));
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.evict('p');
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test('each attempt of a Job with a backoffLimit is drained', () =>
    Site.use(async (site) => {
      await site.create(jobOf(`${LOGS}logs 1 20; sleep 3; exit 1`, { backoffLimit: 1 }));
      await site.ended(2);
      expect(site.destination.lines.size).toBe(40);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }, { outcome: 'drained' }]);
    }));

  test('a Job that is over its activeDeadlineSeconds loses no line', () =>
    Site.use(async (site) => {
      await site.create(jobOf(STOPS_SLOWLY, { activeDeadlineSeconds: 12 }));
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.until('the Pod ends', (pods) => pods.length > 0 && pods.every(hasEnded));
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test('a Pod that is over its activeDeadlineSeconds loses no line without a report', () =>
    Site.use(async (site) => {
      await site.create(podOf(STOPS_SLOWLY, (spec) => Object.assign(spec, { activeDeadlineSeconds: 12 })));
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test('a Job of a CronJob completes with all its lines', () =>
    Site.use(async (site) => {
      const { spec } = jobOf(`${LOGS}logs 1 20`, { backoffLimit: 0 }) as { spec: object };
      const jobTemplate = { spec };
      await site.create({
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        // It runs by the call below.
        spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate },
      });
      await site.kubectl('create', 'job', 'now', '--from=cronjob/c');
      await site.kubectl('wait', '--for=condition=complete', 'job/now', '--timeout=120s');
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));
});
