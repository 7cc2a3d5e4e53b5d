import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { injectInto } from '../../src/core/inject/inject.ts';
import type { Manifest } from '../pods/kubernetes.ts';
import { kustomize, manifestsIn } from '../pods/kustomize.ts';
import { blocksIn } from '../pods/readme.ts';
import { CHANGED, LEFT_ALONE, PLACED, type PodManifest } from '../support/inject-cases.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';
import { api, createNamespace, deleteNamespace, kubectl, pathOf } from './kubectl.ts';
import { expectDelivered, playThese } from './placement.ts';
import { applyPolicy, deletePolicy, policyVersion } from './policy.ts';

const IMAGE = 'posidle:0.1.0';
const LABELS = { posidle: 'true' };
const inDir = tempDir();

describe('the policy of the API server', () => {
  let namespace: string;

  beforeEach(({ skip }) => skip(inject('noCluster') !== '', inject('noCluster')));
  beforeAll(async () => {
    if (inject('noCluster') !== '') return;
    await applyPolicy();
    namespace = await createNamespace();
    const [leftAlone] = LEFT_ALONE['no other container beside Fluentd'] ?? [];
    const isThere = async () =>
      'posidle/injected' in (await create(podOf(CHANGED['a plain Fluentd']))).annotations &&
      (await create(podOf(leftAlone))).warnings !== '';
    await until('both policies work', isThere, { every: 500 });
  });
  afterAll(async () => {
    if (inject('noCluster') !== '') return;
    await deleteNamespace(namespace);
    await deletePolicy();
  });

  test.each(Object.entries(LEFT_ALONE))(
    'leaves a Pod alone with %s, and warns of it',
    async (_, [manifest, why]) => {
      const without = await create(podOf(manifest, {}));
      const labelled = await create(podOf(manifest));
      expect(labelled.spec).toEqual(without.spec);
      expect(labelled.warnings).toMatch(why);
      expect(without.warnings).not.toMatch(why);
    },
  );

  test.each(Object.entries(CHANGED))(
    'adds to a Pod what `posidle inject` adds, and keeps it valid: %s',
    async (_, manifest) => {
      const { document, pods } = injectInto(podOf(manifest, {}), IMAGE);
      const byCommand = await create(document as Manifest);
      const byPolicy = await create(podOf(manifest));
      expect(byPolicy.spec).toEqual(byCommand.spec);
      expect(byPolicy.annotations).toEqual(byCommand.annotations);
      expect(byPolicy.annotations['posidle/injected']).toBe('true');
      const [warning] = pods[0]?.warnings ?? [];
      const expected = warning === undefined ? [] : [expect.stringMatching(new RegExp(`: ${warning}$`))];
      expect(byPolicy.warnings.split('\n').filter((line) => line.includes('posidle'))).toEqual(expected);
    },
  );

  test.each([
    ['Job', 'batch/v1', (template: object) => ({ template })],
    [
      'CronJob',
      'batch/v1',
      (template: object) => ({ schedule: '* * * * *', jobTemplate: { spec: { template } } }),
    ],
    ['Deployment', 'apps/v1', (template: object) => ({ selector: { matchLabels: LABELS }, template })],
  ])('says of a %s, too, why its Pods stay as they are', async (kind, apiVersion, around) => {
    const [{ spec }] = LEFT_ALONE['no other container beside Fluentd'] ?? [{ spec: {} }];
    const restartPolicy = kind === 'Deployment' ? 'Always' : 'Never';
    const template = (labels: object) => ({ metadata: { labels }, spec: { ...spec, restartPolicy } });
    const manifest = (labels: object) => ({
      apiVersion,
      kind,
      metadata: { name: 'x' },
      spec: around(template(labels)),
    });
    expect((await create(manifest(LABELS))).warnings).toMatch(
      /posidle is not added to the Pod: fluentd is the only container/,
    );
    if (kind !== 'Deployment') expect((await create(manifest({}))).warnings).not.toContain('posidle');
  });

  test('says of a Job, too, which sidecar ends after Fluentd', async () => {
    const { manifest, late } = PLACED['an init container behind a sidecar that writes logs'] ?? {};
    const template = { metadata: { labels: LABELS }, spec: { ...manifest?.spec, restartPolicy: 'Never' } };
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x' }, spec: { template } };
    expect((await create(job)).warnings).toContain(`: sidecar ${late} ends after fluentd: `);
  });

  test('adds posidle to a Fluentd that is added after the first look', async () => {
    const metadata = { name: 'posidle-test-later' };
    const apiVersion = `admissionregistration.k8s.io/${await policyVersion()}`;
    const fluentd = `{'name': 'fluentd', 'image': 'fluentd'}`;
    const expression = `[JSONPatch{op: 'add', path: '/spec/containers/-', value: ${fluentd}}]`;
    const pods = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
    const policy = {
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [pods],
        objectSelector: { matchLabels: { later: 'true' } },
      },
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    };
    const without = { metadata: {}, spec: { containers: [{ name: 'main', image: 'busybox:1.37' }] } };
    await apply(namespace, [
      { apiVersion, kind: 'MutatingAdmissionPolicy', metadata, spec: policy },
      { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata, spec: { policyName: metadata.name } },
    ]);
    try {
      const names = async () => {
        const { spec } = await create(podOf(without, { ...LABELS, later: 'true' }));
        const { containers, initContainers = [] } = spec as Record<string, { name: string }[] | undefined>;
        return [...initContainers, ...(containers ?? [])].map(({ name }) => name).join(' ');
      };
      await until('Fluentd is added', async () => (await names()).includes('fluentd'), { every: 500 });
      expect(await names()).toBe('posidle-install fluentd posidle main');
    } finally {
      await kubectl(['delete', 'mutatingadmissionpolicybinding,mutatingadmissionpolicy', metadata.name]);
    }
  });

  test('keeps a Pod valid in a namespace with the level `restricted`, a quota and a range', async () => {
    const strict = await createNamespace();
    try {
      await kubectl(['label', 'namespace', strict, 'pod-security.kubernetes.io/enforce=restricted']);
      const requests = { cpu: '50m', memory: '64Mi' };
      const limits = { cpu: '400m', memory: '128Mi' };
      const hard = {
        'requests.cpu': '1',
        'requests.memory': '1Gi',
        'limits.cpu': '2',
        'limits.memory': '1Gi',
      };
      const range = {
        type: 'Container',
        min: { cpu: '10m', memory: '8Mi' },
        default: limits,
        defaultRequest: requests,
        maxLimitRequestRatio: { cpu: '10' },
      };
      await apply(strict, [
        { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } },
        { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'r' }, spec: { limits: [range] } },
      ]);
      const securityContext = {
        runAsNonRoot: true,
        runAsUser: 999,
        seccompProfile: { type: 'RuntimeDefault' },
      };
      const own = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
      const annotations = { 'posidle/resources': 'requests.cpu=50m' };
      const { containers } = podOf(CHANGED['a plain Fluentd']).spec as { containers: object[] };
      for (const more of [{}, { resources: { requests, limits } }]) {
        const all = containers.map((container) => ({ ...container, securityContext: own, ...more }));
        const pod = podOf({ metadata: { annotations }, spec: { containers: all, securityContext } });
        expect((await create(pod, strict)).annotations['posidle/injected']).toBe('true');
      }
    } finally {
      await deleteNamespace(strict);
    }
  });

  test.concurrent('completes the demo with its label, and posidle says what README shows', async () => {
    const report = await playThese(kustomize('docker/kubernetes/demo'));
    expectDelivered(report, 'main-ended');
    const [, said = ''] = blocksIn('README.md', 'console');
    for (const line of said.split('\n'))
      expect(report.containers['posidle']?.log).toContain(line.replace(/^[\d:.]{12} /, ''));
  });

  test.concurrent("completes the founding article's Job, whose script knows nothing of posidle, with the label as its only change", async () => {
    const manifests = kustomize('test/pods/original');
    for (const { kind, spec } of manifests)
      if (kind === 'Job')
        Object.assign((spec as { template: object }).template, { metadata: { labels: LABELS } });
    expectDelivered(await playThese(manifests), 'main-ended');
  });

  test('keeps its names where an overlay names an own image, as docker/README shows', async () => {
    const [overlay = ''] = blocksIn('docker/README.md', 'yaml').filter((block) => /merge/.test(block));
    const base = relative(inDir(), 'docker/kubernetes/inject');
    writeFileSync(inDir('kustomization.yaml'), overlay.replace(/'https:.*'/, base));
    const rendered = manifestsIn(await kubectl(['kustomize', inDir()]));
    const metadata = { name: 'posidle', namespace: 'posidle' };
    const image = 'REGISTRY/posidle:0.1.0';
    expect(rendered).toContainEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { image } });
  });

  test('is the same as the policy of Kyverno, but for the image', async () => {
    const specIn = async (folder: string, ...kinds: readonly string[]): Promise<PolicySpec> => {
      const all = manifestsIn(await kubectl(['kustomize', `docker/kubernetes/${folder}`]));
      const found = all.filter(({ kind }) => kind.startsWith('Mutating'));
      expect(found.map(({ kind }) => kind)).toEqual(kinds);
      const { variables = [], ...rest } = (found[0]?.spec ?? {}) as PolicySpec;
      return { ...rest, variables: variables.slice(1) };
    };
    const kinds = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'];
    const { paramKind: _, ...native } = await specIn('inject', ...kinds);
    const { autogen: __, ...kyverno } = await specIn('inject-kyverno', 'MutatingPolicy');
    expect(kyverno).toEqual(native);
    expect(JSON.stringify(kyverno)).not.toContain('params');
  });

  test('changes no Pod while its image is not named, and says so', async () => {
    const image = await kubectl(['get', 'configmap', 'posidle', '-n', 'posidle', '-o', 'json']);
    await kubectl(['delete', 'configmap', 'posidle', '-n', 'posidle']);
    try {
      const said = async () => (await create(podOf(CHANGED['a plain Fluentd']))).warnings;
      await until('a warning', async () => (await said()).includes('no ConfigMap posidle'), { every: 500 });
    } finally {
      const { apiVersion, kind, data } = JSON.parse(image) as Manifest & { data: object };
      await apply('posidle', [{ apiVersion, kind, metadata: { name: 'posidle' }, data }]);
    }
  });

  interface PolicySpec {
    readonly variables?: readonly object[];
    readonly [field: string]: unknown;
  }

  function podOf(
    { metadata, spec }: PodManifest = { metadata: {}, spec: {} },
    labels: object = LABELS,
  ): Manifest & PodManifest {
    return { apiVersion: 'v1', kind: 'Pod', metadata: Object.assign({ name: 'p', labels }, metadata), spec };
  }

  /** The result of the API server, without the values that differ each time. */
  async function create(body: Manifest, into = namespace) {
    const response = await api(`${pathOf(body, into)}?dryRun=All`, { method: 'POST', body });
    const text = (await response.text()).replaceAll(/kube-api-access-\w+/g, 'token');
    const { spec, metadata } = JSON.parse(text) as PodManifest;
    const { annotations = {} } = metadata as { annotations?: Record<string, string> };
    return { spec: withoutToken(spec), annotations, warnings: warningsIn(response) };
  }
});

/** One a line (RFC 7234, 5.5). */
function warningsIn({ headers }: Response): string {
  const quoted = headers.get('warning')?.match(/(?<=299 - )"(?:[^"\\]|\\.)*"/g) ?? [];
  return quoted.map((one) => JSON.parse(one) as string).join('\n');
}

/** The place of the service account's volume depends on when it was added. */
function withoutToken(spec: object): object {
  const isToken = (value: unknown) => (value as { name?: string } | null)?.name === 'token';
  const text = JSON.stringify(spec, (_, value) =>
    Array.isArray(value) ? value.filter((one) => !isToken(one)) : value,
  );
  return JSON.parse(text) as object;
}

async function apply(namespace: string, items: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items };
  await kubectl(['apply', '-n', namespace, '-f', '-'], JSON.stringify(list));
}
