import { describe, expect, test } from 'vitest';
import { injectInto, NO_POD } from '../../../src/core/inject/inject.ts';
import { CHANGED, LEFT_ALONE, type PodManifest } from '../../support/inject-cases.ts';

const IMAGE = 'registry/posidle:1';

const FIXED: ReadonlySet<string> = new Set([
  ...[
    'Pod',
    'posidle',
    'posidle-install',
    'posidle-gate',
    'RUBYOPT',
    'Always',
    'true',
    'ALL',
    'RuntimeDefault',
  ],
  ...[
    '/posidle',
    '/posidle/posidle',
    'drain',
    '--grace',
    '/opt/posidle/install',
    '/opt/posidle/gate',
    'ending',
  ],
  ...['20m', '16Mi', '200m', '64Mi', '200Mi', IMAGE],
]);

/** Each text in a value, as often as it stands there. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('inject', () => {
  test.each(Object.entries(LEFT_ALONE))('leaves a Pod alone with %s, and says why', (_, [manifest, why]) => {
    const document = { kind: 'Pod', ...manifest };
    const { document: after, pods } = injectInto(document, IMAGE);
    expect(after).toBe(document);
    expect(pods).toEqual([{ name: 'Pod ', reason: expect.stringMatching(why) }]);
  });

  test.each(Object.entries(CHANGED))('adds installer, hook and gate to a Pod with %s', (_, manifest) => {
    const { document, pods } = injectInto({ kind: 'Pod', ...manifest }, IMAGE);
    const { metadata, spec } = document as PodManifest;
    expect(pods).toEqual([{ name: 'Pod ', reason: undefined }]);
    expect(metadata.annotations).toMatchObject({
      ...manifest.metadata.annotations,
      'posidle/injected': 'true',
    });
    const name = manifest.metadata.annotations?.['posidle/container'] ?? 'fluentd';
    const names = (spec.initContainers as { name: string }[]).map((one) => one.name);
    expect(names[0]).toBe('posidle-install');
    expect(names.indexOf('posidle-gate')).toBe(names.indexOf(name) + 1);
  });

  test.each(Object.entries(CHANGED))(
    'copies nothing of a Pod with %s to where it means more',
    (_, manifest) => {
      const { document } = injectInto({ kind: 'Pod', ...manifest }, IMAGE);
      const before = textsIn(manifest);
      const added = textsIn(document).filter((text) => {
        const at = before.indexOf(text);
        if (at >= 0) before.splice(at, 1);
        return at < 0;
      });
      // Only a RUBYOPT and the grace period of the Pod itself stand in what is added, each for the same container or Pod.
      const foreign = added.filter(
        (text) => !/^-I\/posidle\/ruby -renumerator( |$)|^\d+s$/.test(text) && !FIXED.has(text),
      );
      expect(foreign).toEqual([]);
    },
  );

  test.each([
    ['Job', (template: object) => ({ spec: { template } })],
    ['Deployment', (template: object) => ({ spec: { replicas: 2, template } })],
    ['CronJob', (template: object) => ({ spec: { jobTemplate: { spec: { template } } } })],
  ])('finds the Pod of a %s, also in a List', (kind, around) => {
    const pod = CHANGED['a plain Fluentd'] ?? { metadata: {}, spec: {} };
    const { document: alone } = injectInto({ kind: 'Pod', ...pod }, IMAGE);
    const { kind: _, ...changed } = alone as { kind: string };
    const named = { kind, metadata: { name: 'x' } };
    const map = { kind: 'ConfigMap', data: {} };
    const { document, pods } = injectInto(
      { kind: 'List', items: [map, { ...named, ...around(pod) }] },
      IMAGE,
    );
    expect(document).toEqual({ kind: 'List', items: [map, { ...named, ...around(changed) }] });
    expect(pods).toEqual([{ name: `${kind} x`, reason: undefined }]);
  });

  test('changes nothing a second time', () => {
    const once = injectInto({ kind: 'Pod', ...CHANGED['a native sidecar'] }, IMAGE).document;
    expect(injectInto(once, IMAGE)).toEqual({
      document: once,
      pods: [{ name: 'Pod ', reason: 'posidle is there already' }],
    });
  });

  test.each([undefined, 'text', [], { kind: 'ConfigMap' }])('finds no Pod in %j', (document) => {
    expect(injectInto(document, IMAGE)).toEqual({ document, pods: [] });
    expect(NO_POD).toContain('CronJob');
  });

  test.each([{}, { spec: null }, { spec: { template: { spec: { containers: 'none' } } } }])(
    'refuses a Job without containers: %j',
    (job) => {
      expect(() => injectInto({ kind: 'Job', metadata: { name: 'x' }, ...job }, IMAGE)).toThrow(
        'Job x has no spec.template.spec.containers',
      );
    },
  );
});
