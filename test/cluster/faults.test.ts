import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { PodSpec } from '../pods/kubernetes.ts';
import type { Pod } from './kubectl.ts';
import { named } from './placement.ts';
import { hooked, LOGS, podOf, Site, STOPS_SLOWLY, statusOf, WRITTEN } from './site.ts';

/** The launcher writes its own pid, which the second try has, and below it that of the first. */
const killed = (line: 'head' | 'tail') =>
  `until pid=$(${line} -n 1 /posidle/hook) && grep -q posidle.cjs /proc/$pid/cmdline; do sleep 0.05; done; kill -KILL $pid`;
const HOOK_RUNS = 'until [ -e /posidle/hook ]; do sleep 0.05; done';
const MAIN_ENDED = 'until [ -e /posidle/main-ended ]; do sleep 0.05; done';
const ENDS_BY_ITSELF = `${LOGS}logs 1 10; touch /tmp/written; sleep 6; logs 11 20
`;
const UNHEALTHY = {
  livenessProbe: {
    exec: { command: ['test', '-e', '/posidle/.healthy'] },
    periodSeconds: 1,
    initialDelaySeconds: 8,
    failureThreshold: 1,
  },
};

describe('faults beside the hook', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test('a Pod that is deleted while a liveness probe restarts Fluentd loses no line', () =>
    Site.use(async (site) => {
      await site.create(podOf(STOPS_SLOWLY, (spec) => Object.assign(named(spec, 'fluentd'), UNHEALTHY)));
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.exec('p', 'posidle-gate', HOOK_RUNS);
      await site.delete('p');
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).not.toMatchObject([{ outcome: 'not-drained' }]);
    }));

  test('a hook that is killed once runs again, and loses no line', () =>
    Site.use(async (site) => {
      await site.create(podOf(ENDS_BY_ITSELF));
      await site.exec(await site.running(), 'fluentd', killed('tail'));
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test('a hook that is killed twice leaves its message, and the kubelet makes an event', () =>
    Site.use(async (site) => {
      site.destination.isAway = true;
      await site.create(podOf(ENDS_BY_ITSELF));
      await site.exec(await site.running(), 'fluentd', `${killed('tail')}; ${killed('head')}`);
      await site.ended();
      expect(site.words()).toMatchObject([{ outcome: 'unproven', why: expect.stringContaining('cut off') }]);
      expect(await site.events()).toContain('FailedPreStopHook');
    }));

  test('if the hook is short of memory, no line is lost without a report', () =>
    Site.use(async (site) => {
      const short = (spec: PodSpec) => {
        named(spec, 'fluentd').resources = { limits: { memory: '80Mi' } };
      };
      await site.create(podOf(ENDS_BY_ITSELF, short));
      await site.ended();
      const lost = 20 - site.destination.lines.size;
      expect({ lost, words: site.words() }).toMatchObject({
        words: [{ outcome: lost > 0 ? expect.not.stringMatching('^drained$') : expect.any(String) }],
      });
    }));

  test('a gate that is killed before the hook loses no line', () =>
    Site.use(async (site) => {
      await site.createKiller();
      await site.create(podOf(STOPS_SLOWLY));
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.killContainer('p', 'posidle-gate');
      await site.until('the gate runs again', () => isRestarted(site.pod('p'), 'posidle-gate'));
      await site.delete('p');
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test('a gate that is killed while the hook waits makes the outcome unproven', () =>
    Site.use(async (site) => {
      await site.createKiller();
      await site.create(podOf(STOPS_SLOWLY.replace('sleep 10', 'sleep 30')));
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.delete('p');
      await site.exec('p', 'fluentd', HOOK_RUNS);
      await site.killContainer('p', 'posidle-gate');
      await site.ended();
      expect(site.words()).toMatchObject([
        {
          outcome: 'unproven',
          doubts: { worst: expect.arrayContaining([expect.objectContaining({ kind: 'main-may-run' })]) },
        },
      ]);
    }));

  test('a gate that is killed after main has ended changes nothing', () =>
    Site.use(async (site) => {
      await site.createKiller();
      await site.create(podOf(ENDS_BY_ITSELF));
      await site.exec(await site.running(), 'fluentd', MAIN_ENDED);
      await site.killContainer('p', 'posidle-gate').catch(() => undefined);
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test('a gate whose image is changed in place still says when main has ended', () =>
    Site.use(async (site) => {
      await site.create(podOf(STOPS_SLOWLY));
      await site.exec(await site.running(), 'main', WRITTEN);
      const path = '/spec/initContainers/2/image';
      const patch = JSON.stringify([{ op: 'replace', path, value: 'posidle-fluentd:0.1.0' }]);
      await site.kubectl('patch', 'pod', 'p', '--type=json', '-p', patch);
      await site.until('the gate runs again', () => isRestarted(site.pod('p'), 'posidle-gate'));
      await site.delete('p');
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'drained' }]);
    }));

  test.each(['posidle-install', 'fluentd', 'posidle-gate', 'main'])(
    'a Pod that is deleted as soon as %s starts ends at once',
    (container) =>
      Site.use(async (site) => {
        await site.create(podOf(STOPS_SLOWLY));
        await site.until(`${container} starts`, ([pod]) => {
          const { state } = (pod && statusOf(pod, container)) ?? { state: {} };
          return 'running' in state || 'terminated' in state;
        });
        const deletion = Date.now();
        await site.delete('p');
        await site.ended();
        // A hanging container takes the whole grace period of 120 s. main may, too: its shell, as PID 1, ignores a SIGTERM before its trap.
        const mainEnd = statusOf(site.pod('p'), 'main')?.state.terminated?.finishedAt;
        // For a main that never ran the kubelet writes null.
        const begin = Date.parse(mainEnd ?? '') || deletion;
        expect(Date.now() - begin).toBeLessThan(100_000);
        const lines = site.destination.lines.size;
        if (container === 'main') expect([0, 10, 20]).toContain(lines);
      }),
  );

  test('a deletion with a grace period of 5 s loses no line without a report', () =>
    Site.use(async (site) => {
      await site.create(podOf(STOPS_SLOWLY));
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.delete('p', '--grace-period=5');
      await site.ended();
      // main is killed before it has written the other ten.
      const lost = 10 - site.destination.lines.size;
      const [word] = site.words();
      if (lost > 0 || word === undefined)
        expect({ lost, word }).not.toMatchObject({ word: { outcome: 'drained' } });
    }));

  test('a main that ignores SIGTERM does not delay its earlier lines', () =>
    Site.use(async (site) => {
      const spec = hooked(`${LOGS}trap '' TERM; logs 1 20; touch /tmp/written; while :; do sleep 1; done`);
      spec.terminationGracePeriodSeconds = 25;
      named(spec, 'fluentd').lifecycle = {
        preStop: { exec: { command: ['/posidle/posidle', 'drain', '--grace', '25s'] } },
      };
      await site.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
      await site.exec(await site.running(), 'main', WRITTEN);
      await site.delete('p');
      await site.ended();
      expect(site.destination.lines.size).toBe(20);
      expect(site.words()).toMatchObject([{ outcome: 'unproven' }]);
    }));

  test('the gate reports the end of main even if Fluentd does not run', () =>
    Site.use(async (site) => {
      const broken = (spec: PodSpec) => {
        named(spec, 'fluentd').command = ['sh', '-c', 'sleep 1; exit 1'];
      };
      await site.create(podOf(ENDS_BY_ITSELF, broken));
      await site.ended();
      expect(site.words('posidle-gate')).toMatchObject([{ outcome: 'unproven' }]);
    }));
});

function isRestarted(pod: Pod, container: string): boolean {
  const status = statusOf(pod, container);
  return status !== undefined && status.restartCount > 0 && status.state.running !== undefined;
}
