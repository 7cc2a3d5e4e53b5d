import { readFile } from 'node:fs/promises';
import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { injectInto } from '../../../src/core/inject/inject.ts';
import type { Container } from '../../pods/kubernetes.ts';
import { CHANGED, LEFT_ALONE, PLACED, type PodManifest, SIZED } from '../../support/inject-cases.ts';

const IMAGE = 'registry/posidle:1';
const injected = (manifest: object, kind = 'Pod') => injectInto({ kind, ...manifest }, IMAGE);

function initsIn(document: unknown): readonly Container[] {
  return (document as PodManifest).spec.initContainers as Container[];
}

/** posidle's own containers. */
const ownIn = (document: unknown) => initsIn(document).filter(({ name }) => name?.startsWith('posidle'));

const PLAIN = CHANGED['a plain Fluentd'] as PodManifest;
/** The same with posidle, as a template. */
const { kind: _, ...PLAIN_INJECTED } = injected(PLAIN).document as { kind: string };

describe('inject', () => {
  test.each(Object.entries(LEFT_ALONE))('leaves a Pod alone with %s, and says why', (_, [manifest, why]) => {
    const document = { kind: 'Pod', ...manifest };
    const { document: after, pods } = injectInto(document, IMAGE);
    expect(after).toBe(document);
    expect(pods).toEqual([{ name: 'Pod', reason: expect.stringMatching(why) }]);
  });

  test('makes exactly this of a Pod', () => {
    const fluentd = { name: 'fluentd', env: [{ name: 'RUBYOPT', value: '-W0' }], lifecycle: { preStop: {} } };
    const spec = { terminationGracePeriodSeconds: 200, containers: [{ name: 'main' }, fluentd] };
    const own = {
      image: IMAGE,
      securityContext: {
        runAsNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
      volumeMounts: [{ name: 'posidle', mountPath: '/posidle' }],
    };
    expect(injected({ spec }).document).toEqual({
      kind: 'Pod',
      metadata: { annotations: { 'posidle/injected': 'true' } },
      spec: {
        initContainers: [
          { name: 'posidle-install', command: ['/opt/posidle/install', '/posidle'], ...own },
          {
            name: 'fluentd',
            restartPolicy: 'Always',
            env: [{ name: 'RUBYOPT', value: '-I/posidle/ruby -renumerator -W0' }],
            lifecycle: { preStop: {} },
            volumeMounts: [{ name: 'posidle', mountPath: '/posidle' }],
          },
          {
            name: 'posidle',
            restartPolicy: 'Always',
            command: ['/opt/posidle/asleep'],
            env: [{ name: 'POSIDLE_GRACE', value: '200s' }],
            lifecycle: { preStop: { exec: { command: ['/opt/posidle/asleep', 'ending'] } } },
            ...own,
          },
        ],
        containers: [{ name: 'main' }],
        volumes: [{ name: 'posidle', emptyDir: {} }],
        terminationGracePeriodSeconds: 200,
      },
    });
  });

  test.each(Object.entries(CHANGED))(
    'puts posidle directly behind the Fluentd of a Pod with %s',
    (_, manifest) => {
      const { document, pods } = injected(manifest);
      const { metadata, spec } = document as PodManifest;
      expect(pods).toMatchObject([{ name: 'Pod' }]);
      expect(pods[0]?.reason).toBeUndefined();
      expect(metadata.annotations).toEqual({ ...manifest.metadata.annotations, 'posidle/injected': 'true' });
      const inits = initsIn(document);
      const at = inits.findIndex(({ name }) => name === 'posidle');
      expect(inits[0]?.name).toBe('posidle-install');
      expect(inits[at - 1]).toMatchObject({
        restartPolicy: 'Always',
        image: expect.stringContaining('fluentd'),
        env: expect.arrayContaining([
          { name: 'RUBYOPT', value: expect.stringMatching(/^-I\/posidle\/ruby /) },
        ]),
      });
      const isStrict = manifest.metadata.annotations?.['posidle/strict'] === 'true';
      expect(inits[at]?.env).toEqual([
        { name: 'POSIDLE_GRACE', value: `${spec.terminationGracePeriodSeconds}s` },
        ...(isStrict ? [{ name: 'POSIDLE_STRICT', value: 'true' }] : []),
      ]);
    },
  );

  test.each(Object.entries(PLACED))('finds the place of Fluentd in a Pod with %s', (_, placed) => {
    const { manifest, order, late } = placed;
    const { document, pods } = injected(manifest);
    const names = initsIn(document).map(({ name }) => name);
    expect(names.join(' ')).toBe(order);
    const ends = `sidecar ${late} ends after fluentd: nobody reads its last lines. In initContainers, list it after fluentd`;
    expect(pods[0]?.warnings).toEqual(late ? [ends] : []);
  });

  test.each(Object.entries(SIZED))(
    'gives both of its containers their resources in a Pod with %s',
    (_, sized) => {
      const [manifest, resources] = sized;
      const own = ownIn(injected(manifest).document);
      expect(own.map((container) => container.resources)).toEqual([resources, resources]);
    },
  );

  test.each([
    [{ runAsUser: 0 }, false],
    [{ runAsUser: 1 }, true],
    [{ fsGroup: 0 }, true],
    [undefined, true],
  ])('lets its containers be root only if the Pod must be: %j', (securityContext, runAsNonRoot) => {
    const own = ownIn(injected({ spec: { ...PLAIN.spec, securityContext } }).document);
    expect(own).toMatchObject(Array(2).fill({ securityContext: { runAsNonRoot } }));
  });

  test('names the Fluentd that it takes in each reason and warning', () => {
    const { pods } = injected({ spec: { containers: [{ name: 'emr-container-fluentd' }] } });
    expect(pods[0]?.reason).toMatch(/^emr-container-fluentd is the only container/);
  });

  test.each([
    ['Job', (template: object) => ({ spec: { template } })],
    ['Deployment', (template: object) => ({ spec: { replicas: 2, template } })],
    ['CronJob', (template: object) => ({ spec: { jobTemplate: { spec: { template } } } })],
  ])('finds the Pod of a %s, also in a List', (kind, around) => {
    const config = { kind: 'ConfigMap', data: {} };
    const list = (template: object) => {
      return { kind: 'List', items: [config, { kind, metadata: { name: 'x' }, ...around(template) }] };
    };
    const { document, pods } = injectInto(list(PLAIN), IMAGE);
    expect(document).toEqual(list(PLAIN_INJECTED));
    expect(pods).toEqual([{ name: `${kind} x`, warnings: [] }]);
  });

  test('changes nothing a second time', () => {
    const { document } = injected(CHANGED['a native sidecar'] ?? {});
    const pods = [{ name: 'Pod', reason: 'posidle is there already' }];
    expect(injectInto(document, IMAGE)).toEqual({ document, pods });
  });

  test.each([undefined, 'text', [], { kind: 'ConfigMap' }])('finds no Pod in %j', (document) => {
    expect(injectInto(document, IMAGE)).toEqual({ document, pods: [] });
  });

  test("finds the Pod templates of another kind at the path that the user names, in a list each one's", () => {
    const spark = (template: object) => {
      return { kind: 'SparkApplication', metadata: { name: 's' }, spec: { driver: { template } } };
    };
    const volcano = (template: object) => ({
      ...{ apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', metadata: { name: 'v' } },
      spec: { tasks: [{ template }, { template }, {}] },
    });
    const driver = injectInto(spark(PLAIN), IMAGE, { path: ['spec', 'driver', 'template'] });
    const pods = [{ name: 'SparkApplication s', warnings: [] }];
    expect(driver).toEqual({ document: spark(PLAIN_INJECTED), pods });
    const tasks = injectInto(volcano(PLAIN), IMAGE, { path: ['spec', 'tasks', 'template'] });
    expect(tasks.document).toEqual(volcano(PLAIN_INJECTED));
    expect(tasks.pods).toHaveLength(2);
    const leftAlone = (other: object, path?: readonly string[]) => {
      const { document, pods } = injectInto(other, IMAGE, { path });
      expect(document).toBe(other);
      return pods.map(({ reason }) => reason);
    };
    const use = 'Fluentd is at spec.driver.template.spec.containers: use --path spec.driver.template';
    expect(leftAlone(spark(PLAIN))).toEqual([use]);
    const typo = ['spec', 'driver', 'templat'];
    expect(leftAlone(spark(PLAIN), typo)).toEqual([`no Pod template is at ${typo.join('.')}. ${use}`]);
    expect(leftAlone(volcano(PLAIN))).toEqual([expect.stringMatching(/: use --path spec\.tasks\.template$/)]);
  });

  test('names a Fluentd that stands in no Pod template, but nothing else of that name', () => {
    const fluentd = { name: 'fluentd', image: 'fluentd' };
    const spark = { kind: 'SparkApplication', spec: { driver: { sidecars: [fluentd] } } };
    const reason =
      'Fluentd is at spec.driver.sidecars, in no Pod template: let its Pods have the label posidle: "true"';
    expect(injectInto(spark, IMAGE).pods).toEqual([{ name: 'SparkApplication', reason }]);
    const service = { kind: 'Service', spec: { ports: [{ name: 'fluentd', port: 24224 }] } };
    expect(injectInto(service, IMAGE).pods).toEqual([]);
  });

  test('takes the container that the user names, but for a Pod whose annotation names another', () => {
    const containers = ['main', 'logs', 'agent'].map((name) => ({ name, image: name }));
    const options = { container: 'logs' };
    const order = (metadata: object) => {
      const { document } = injectInto({ kind: 'Pod', metadata, spec: { containers } }, IMAGE, options);
      return initsIn(document).map(({ name }) => name);
    };
    expect(order({})).toEqual(['posidle-install', 'logs', 'posidle']);
    expect(order({ annotations: { 'posidle/container': 'agent' } })).toContain('agent');
    const spark = { kind: 'App', spec: { template: { spec: { containers } } } };
    expect(injectInto(spark, IMAGE, options).pods[0]?.reason).toMatch(/use --path spec\.template$/);
  });

  test.each([
    ['Never', { name: 'istio-proxy' }, true],
    ['OnFailure', { name: 'istio-proxy' }, true],
    ['Always', { name: 'istio-proxy' }, false],
    ['Never', { name: 'audit', image: 'fluent/fluentd' }, true],
  ])(
    'warns of a proxy or another Fluentd that runs on in a Pod that ends: %s, %o',
    (restartPolicy, other, warns) => {
      const spec = { restartPolicy, containers: [{ name: 'main' }, { name: 'fluentd' }, other] };
      const warning = `container ${other.name} keeps the Pod from ending. Make it a native sidecar`;
      expect(injected({ spec }).pods[0]?.warnings).toEqual(warns ? [warning] : []);
    },
  );

  test('asks whether a container with an image of Fluentd is meant, and refuses Fluent Bit', () => {
    const reasonOf = (name: string, image: string) =>
      injected({ spec: { containers: [{ name: 'main' }, { name, image }] } }).pods[0]?.reason;
    expect(reasonOf('logs', 'r/fluentd:v1.18')).toMatch(/--container: logs\?$/);
    expect(reasonOf('logs', 'r/agent')).toMatch(/--container$/);
    expect(reasonOf('fluentd', 'fluent/fluent-bit:4')).toMatch(/is Fluent Bit/);
  });

  test('tells of a Fluentd that is still elsewhere when the one at --path is done', () => {
    const template = { spec: { containers: [{ name: 'main' }, { name: 'fluentd', image: 'f' }] } };
    const app = { kind: 'App', spec: { driver: { template }, executor: { template } } };
    const first = injectInto(app, IMAGE, { path: ['spec', 'driver', 'template'] });
    expect(first.pods[0]?.warnings).toEqual([
      expect.stringMatching(/use --path spec\.executor\.template, on this output$/),
    ]);
    const second = injectInto(first.document, IMAGE, { path: ['spec', 'executor', 'template'] });
    expect(second.pods).toEqual([{ name: 'App', warnings: [] }]);
  });

  test('names a Pod by what its name is, if that is a name', () => {
    const metadata = { name: { '{ .Release.Name }': null } };
    const { pods } = injected({ metadata, spec: { containers: [{}] } });
    expect(pods[0]?.name).toBe('Pod');
  });

  const NO_CONTAINERS = [{}, { spec: null }, { spec: { template: { spec: { containers: 'none' } } } }];
  test.each(NO_CONTAINERS)('refuses a Job without containers: %j', (job) => {
    const why = 'Job x has no spec.template.spec.containers';
    expect(() => injected({ metadata: { name: 'x' }, ...job }, 'Job')).toThrow(why);
  });
});

test('warn.yaml has the variables of mutate.yaml', async () => {
  const variablesIn = async (file: string) => {
    const [policy] = loadAll(await readFile(`docker/kubernetes/inject/${file}`, 'utf8'));
    return (policy as { spec: { variables: { name: string; expression: string }[] } }).spec.variables;
  };
  const part = (variables: readonly { name: string }[]) =>
    variables.slice(
      variables.findIndex(({ name }) => name === 'notes'),
      variables.findIndex(({ name }) => name === 'at') + 1,
    );
  const repeated = part(await variablesIn('warn.yaml'));
  expect(repeated.map(({ name }) => name)).toContain('reason');
  expect(repeated).toEqual(part(await variablesIn('mutate.yaml')));
});
