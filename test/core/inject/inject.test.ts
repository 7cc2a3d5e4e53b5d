import { describe, expect, test } from 'vitest';
import { injectInto } from '../../../src/core/inject/inject.ts';
import { CHANGED, LEFT_ALONE, type PodManifest } from '../../support/inject-cases.ts';

const IMAGE = 'registry/posidle:1';

const NAMES = ['Pod', 'posidle', 'posidle-install', 'posidle-gate', 'RUBYOPT', 'Always', 'true', 'ALL'];
const WORDS = [
  '/posidle',
  '/posidle/posidle',
  'drain',
  '--grace',
  '/opt/posidle/install',
  '/opt/posidle/gate',
];
const SIZES = ['20m', '16Mi', '200m', '64Mi', '200Mi'];
const FIXED: ReadonlySet<string> = new Set([...NAMES, ...WORDS, ...SIZES, 'RuntimeDefault', 'ending', IMAGE]);
const injected = (manifest: object, kind = 'Pod') => injectInto({ kind, ...manifest }, IMAGE);

/** All texts in a value, with repetitions. */
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
    const { document, pods } = injected(manifest);
    const { metadata, spec } = document as PodManifest;
    expect(pods).toEqual([{ name: 'Pod ', reason: undefined }]);
    const { annotations } = manifest.metadata;
    expect(metadata.annotations).toMatchObject({ ...annotations, 'posidle/injected': 'true' });
    const name = annotations?.['posidle/container'] ?? 'fluentd';
    const names = (spec.initContainers as { name: string }[]).map((one) => one.name);
    expect(names[0]).toBe('posidle-install');
    expect(names.indexOf('posidle-gate')).toBe(names.indexOf(name) + 1);
  });

  test.each(Object.entries(CHANGED))(
    'copies nothing of a Pod with %s to where it means more',
    (_, manifest) => {
      const before = textsIn(manifest);
      const added = textsIn(injected(manifest).document).filter((text) => {
        const at = before.indexOf(text);
        if (at >= 0) before.splice(at, 1);
        return at < 0;
      });
      // Only a RUBYOPT and the grace period of the Pod itself stand in what is added, each for the same container or Pod.
      const own = /^-I\/posidle\/ruby -renumerator( |$)|^\d+s$/;
      expect(added.filter((text) => !own.test(text) && !FIXED.has(text))).toEqual([]);
    },
  );

  test.each([
    ['Job', (template: object) => ({ spec: { template } })],
    ['Deployment', (template: object) => ({ spec: { replicas: 2, template } })],
    ['CronJob', (template: object) => ({ spec: { jobTemplate: { spec: { template } } } })],
  ])('finds the Pod of a %s, also in a List', (kind, around) => {
    const pod = CHANGED['a plain Fluentd'] ?? { metadata: {}, spec: {} };
    const { kind: _, ...changed } = injected(pod).document as { kind: string };
    const list = (of: object) => ({
      kind: 'List',
      items: [
        { kind: 'ConfigMap', data: {} },
        { kind, metadata: { name: 'x' }, ...around(of) },
      ],
    });
    const { document, pods } = injectInto(list(pod), IMAGE);
    expect(document).toEqual(list(changed));
    expect(pods).toEqual([{ name: `${kind} x`, reason: undefined }]);
  });

  test('changes nothing a second time', () => {
    const { document } = injected(CHANGED['a native sidecar'] ?? {});
    const pods = [{ name: 'Pod ', reason: 'posidle is there already' }];
    expect(injectInto(document, IMAGE)).toEqual({ document, pods });
  });

  test.each([undefined, 'text', [], { kind: 'ConfigMap' }])('finds no Pod in %j', (document) => {
    expect(injectInto(document, IMAGE)).toEqual({ document, pods: [] });
  });

  const NO_CONTAINERS = [{}, { spec: null }, { spec: { template: { spec: { containers: 'none' } } } }];
  test.each(NO_CONTAINERS)('refuses a Job without containers: %j', (job) => {
    const why = 'Job x has no spec.template.spec.containers';
    expect(() => injected({ metadata: { name: 'x' }, ...job }, 'Job')).toThrow(why);
  });
});
