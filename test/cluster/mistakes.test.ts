import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Container, PodSpec } from '../pods/kubernetes.ts';
import { named } from './placement.ts';
import { LOGS, podOf, Site, statusOf } from './site.ts';

/** On a busy node Fluentd takes ten seconds until it has its pos file. */
const MAIN = `${LOGS}logs 1 10; sleep 20
`;
const NO_FLUENTD: Partial<Container> = {
  image: 'busybox:1.37',
  command: ['sh', '-c', 'trap exit TERM; while :; do sleep 0.2; done'],
};
const WITHOUT_WITNESS = { env: [] };

/** The mistakes, each with the line that reports it. */
const MISTAKES: Readonly<Record<string, readonly [change: Partial<Container>, line: RegExp]>> = {
  'a Fluentd that is not there': [
    NO_FLUENTD,
    /^posidle: no Fluentd runs in this container: .*posidle\/container/m,
  ],
  'a hook without a witness in a container that is no Fluentd': [
    { ...NO_FLUENTD, ...WITHOUT_WITNESS },
    /^posidle: no Fluentd runs in this container: .*posidle\/container/m,
  ],
  'a configuration that cannot be read, without a witness': [
    {
      ...WITHOUT_WITNESS,
      command: [
        'sh',
        '-c',
        'cp /fluentd/etc/fluent.conf /tmp/f.conf; (until [ -e /var/log/fluentd/app.pos ]; do sleep 0.2; done; chmod 0 /tmp/f.conf) & exec fluentd -c /tmp/f.conf',
      ],
    },
    /^posidle: .*\/tmp\/f\.conf/m,
  ],
};

describe('a mistake in the manifest', { concurrent: true }, () => {
  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));

  test.each(Object.entries(MISTAKES))('%s is reported, and the Pod ends', (_, [change, line]) =>
    Site.use(async (site) => {
      await site.create(podOf(MAIN, (spec) => void Object.assign(named(spec, 'fluentd'), change)));
      await site.until('main ends', () => statusOf(site.pod('p'), 'main')?.state.terminated !== undefined);
      const begin = performance.now();
      await site.ended();
      // The hook takes 3 s, what hangs 120 s: the grace period.
      expect(performance.now() - begin).toBeLessThan(60_000);
      expect(await site.kubectl('logs', 'p', '-c', 'fluentd')).toMatch(line);
      expect(await site.events()).toContain('FailedPreStopHook');
      expect(site.pod('p').status.phase).toBe('Succeeded');
    }),
  );

  test('an empty /posidle is reported, and the Pod ends', () =>
    Site.use(async (site) => {
      const readOnly = (spec: PodSpec) => {
        named(spec, 'posidle-install').volumeMounts = [
          { name: 'posidle', mountPath: '/posidle', readOnly: true },
        ];
      };
      await site.create(podOf(MAIN, readOnly));
      await site.ended();
      expect(site.destination.lines.size).toBeLessThanOrEqual(10);
      expect(await site.kubectl('logs', 'p', '-c', 'posidle-install')).toMatch(
        /^posidle: cannot install into \/posidle\. Fluentd runs without it: nobody drains Fluentd$/m,
      );
      expect(await site.events()).toContain('FailedPreStopHook');
      expect(site.pod('p').status.phase).toBe('Succeeded');
    }));
});
