/** Pods for both ways in which posidle is added: `posidle inject` and the policy of the API server. */
export interface PodManifest {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

const main = { name: 'main', image: 'busybox:1.37' };
const fluentd = { name: 'fluentd', image: 'fluent/fluentd:v1.18-debian' };
const sidecar = { ...fluentd, restartPolicy: 'Always' };
const hook = { exec: { command: ['true'] } };
const fromElsewhere = { name: 'RUBYOPT', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
const resources = { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '100m', memory: '128Mi' } };

function pod(spec: object, annotations?: Record<string, string>): PodManifest {
  return {
    metadata: annotations === undefined ? {} : { annotations },
    spec: { containers: [main, fluentd], ...spec },
  };
}

const withFluentd = (more: object) => pod({ containers: [main, { ...fluentd, ...more }] });
const annotated = (annotations: Record<string, string>) => pod({}, annotations);
const sizedAs = (list: string) => annotated({ 'posidle/resources': list });
const withSidecar = (more: object) => pod({ containers: [main], initContainers: [{ ...sidecar, ...more }] });

const HOLDS_UP = /would hold up the main container/;
const TWICE = 'requests.cpu=20m';
const NO_SIZES = /annotation posidle\/resources is no list like "requests\.cpu=20m /;
const ABOVE = /posidle\/resources makes a request greater than its limit/;

/** The Pods that stay unchanged, with the reasons. */
export const LEFT_ALONE: Readonly<Record<string, readonly [PodManifest, RegExp]>> = {
  'no container named fluentd': [
    withFluentd({ name: 'logs' }),
    /is named fluentd or emr-container-fluentd\. The annotation/,
  ],
  'a fluentd that is an init container and ends': [
    pod({ containers: [main], initContainers: [fluentd] }),
    /is named fluentd/,
  ],
  'a container of another name that is not there': [
    annotated({ 'posidle/container': 'logs' }),
    /is named logs\. /,
  ],
  Windows: [pod({ os: { name: 'windows' } }), /Windows/],
  'no other container beside Fluentd': [pod({ containers: [fluentd] }), /is the only container/],
  'a plain Fluentd with a postStart hook': [withFluentd({ lifecycle: { postStart: hook } }), HOLDS_UP],
  'a plain Fluentd with a startupProbe': [withFluentd({ startupProbe: hook }), HOLDS_UP],
  'a container named posidle': [
    pod({ containers: [main, fluentd, { ...main, name: 'posidle' }] }),
    /named posidle or posidle-install\. posidle may stand only directly behind fluentd/,
  ],
  'an init container named posidle-install': [
    pod({ initContainers: [{ ...main, name: 'posidle-install' }] }),
    /named posidle or posidle-install/,
  ],
  'another word for a strict posidle': [
    annotated({ 'posidle/strict': 'True' }),
    /posidle\/strict is neither "true" nor "false"/,
  ],
  'a volume named posidle': [
    pod({ volumes: [{ name: 'posidle', emptyDir: {} }] }),
    /a volume is named posidle/,
  ],
  'a volume at /posidle': [
    pod({
      containers: [main, { ...fluentd, volumeMounts: [{ name: 'mine', mountPath: '/posidle/sub' }] }],
      volumes: [{ name: 'mine', emptyDir: {} }],
    }),
    /has a volume at \/posidle/,
  ],
  'a RUBYOPT from elsewhere': [
    withFluentd({ env: [fromElsewhere] }),
    /takes RUBYOPT from elsewhere \(valueFrom\)\. Write its value in the manifest/,
  ],
  ...Object.fromEntries(
    [
      'limits.cpu=1,limits.memory=1Gi',
      'limits.pods=1',
      'cpu=1',
      'limits.cpu=1x',
      'limits.cpu=',
      '-',
      TWICE,
    ].map((list) => [`the resources ${list}`, [sizedAs(`requests.cpu=1 ${list}`), NO_SIZES] as const]),
  ),
  'a request above its own limit': [sizedAs('limits.cpu=0.5 requests.cpu=501m'), ABOVE],
  'a request above the usual limit': [sizedAs('requests.memory=0.1Gi'), ABOVE],
};

const sidecarNamed = (name: string, ...volumes: string[]) => ({
  ...main,
  name,
  restartPolicy: 'Always',
  volumeMounts: volumes.map((volume) => ({ name: volume, mountPath: `/${volume}` })),
});
const ends = { ...main, name: 'ends' };
const volumeMounts = [
  { name: 'logs', mountPath: '/var/log/app', subPath: 'app', readOnly: true },
  { name: 'conf', mountPath: '/fluentd/etc' },
];
const volumes = [
  { name: 'logs', emptyDir: {} },
  { name: 'conf', configMap: { name: 'conf' } },
  { name: 'other', emptyDir: {} },
];
const plainBehind = (...initContainers: object[]) =>
  pod({ containers: [main, { ...fluentd, volumeMounts }], initContainers, volumes });
const native = (...initContainers: object[]) => pod({ containers: [main], initContainers, volumes });

interface Placed {
  readonly manifest: PodManifest;
  /** The names of the init containers. */
  readonly order: string;
  /** The sidecar of which inject says that it ends too late. */
  readonly late?: string;
}

/** Pods with other native sidecars. */
export const PLACED: Readonly<Record<string, Placed>> = {
  'a sidecar that Fluentd may need, and that has the same configuration': {
    manifest: plainBehind(sidecarNamed('proxy', 'other', 'conf'), ends),
    order: 'posidle-install proxy ends fluentd posidle',
  },
  'a sidecar that Fluentd may need, and two that write logs': {
    manifest: plainBehind(
      ends,
      sidecarNamed('proxy', 'other'),
      sidecarNamed('writer', 'other', 'logs'),
      sidecarNamed('proxy2'),
      sidecarNamed('writer2', 'logs'),
    ),
    order: 'posidle-install ends proxy fluentd posidle writer proxy2 writer2',
  },
  'an init container behind a sidecar that writes logs': {
    manifest: plainBehind(sidecarNamed('writer', 'logs'), ends),
    order: 'posidle-install writer ends fluentd posidle',
    late: 'writer',
  },
  'a Fluentd that is a native sidecar behind two others': {
    manifest: native(
      sidecarNamed('proxy', 'other', 'conf'),
      sidecarNamed('writer', 'logs'),
      { ...sidecar, volumeMounts },
      sidecarNamed('writer2', 'logs'),
    ),
    order: 'posidle-install proxy writer fluentd posidle writer2',
    late: 'writer',
  },
  'a Fluentd that is a native sidecar before one that writes logs': {
    manifest: native({ ...sidecar, volumeMounts }, sidecarNamed('writer', 'logs')),
    order: 'posidle-install fluentd posidle writer',
  },
  'a Fluentd that is a native sidecar, and one of EMR': {
    manifest: pod({
      containers: [main, { ...fluentd, name: 'emr-container-fluentd' }],
      initContainers: [sidecar],
    }),
    order: 'posidle-install fluentd posidle',
  },
};

/** Those of posidle's containers. */
interface Resources {
  readonly requests: object;
  readonly limits: object;
}

const usual = { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } };
const storage = 'ephemeral-storage';
const withStorage = { ...usual.requests, [storage]: '16Mi' };

/** Pods that state resources, for Fluentd or for posidle. */
export const SIZED: Readonly<Record<string, readonly [PodManifest, Resources | undefined]>> = {
  'no resources': [pod({}), usual],
  'requests of CPU and memory': [
    withFluentd({ resources: { requests: { cpu: '1m', memory: '1Gi' }, limits: { memory: '1Gi' } } }),
    usual,
  ],
  'a limit of CPU': [withFluentd({ resources }), { ...usual, limits: { cpu: '500m', memory: '64Mi' } }],
  'a request of ephemeral storage': [
    withFluentd({ resources: { requests: { [storage]: '1Gi' } } }),
    { ...usual, requests: withStorage },
  ],
  'a limit of ephemeral storage': [
    withFluentd({ resources: { limits: { [storage]: '60Mi' } } }),
    { requests: withStorage, limits: { ...usual.limits, [storage]: '64Mi' } },
  ],
  'a limit of ephemeral storage that is not for Fluentd': [
    pod({ containers: [{ ...main, resources: { limits: { [storage]: '60Mi' } } }, fluentd] }),
    usual,
  ],
  'resources of the whole Pod': [
    pod({
      containers: [
        { ...main, resources },
        { ...fluentd, resources },
      ],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '100m', memory: '128Mi' } },
    }),
    undefined,
  ],
  'resources of the whole Pod, and resources for posidle': [
    pod(
      { resources: { requests: { cpu: '100m' }, limits: { cpu: '1' } } },
      { 'posidle/resources': 'limits.cpu=200m requests.cpu=5m' },
    ),
    { requests: { cpu: '5m' }, limits: { cpu: '200m' } },
  ],
  'resources for posidle': [
    sizedAs(' requests.cpu=20m  limits.cpu=1.5 limits.memory=128Mi '),
    { requests: { cpu: '20m', memory: '16Mi' }, limits: { cpu: '1.5', memory: '128Mi' } },
  ],
  'resources for posidle in place of those for a limit of Fluentd': [
    pod(
      { containers: [main, { ...fluentd, resources }] },
      { 'posidle/resources': `limits.cpu=2 requests.${storage}=1Mi requests.cpu=2000m limits.memory=65536k` },
    ),
    { requests: { cpu: '2000m', memory: '16Mi', [storage]: '1Mi' }, limits: { cpu: '2', memory: '65536k' } },
  ],
  'an empty list of resources for posidle': [sizedAs(''), usual],
};

/** The Pods that get posidle. Each is valid and must stay valid. */
export const CHANGED: Readonly<Record<string, PodManifest>> = {
  'a plain Fluentd': pod({}),
  'a plain Fluentd before main': pod({ containers: [fluentd, main] }),
  'a native sidecar': withSidecar({}),
  'a native sidecar with a startupProbe and hooks': withSidecar({
    startupProbe: hook,
    lifecycle: { postStart: hook, preStop: hook },
  }),
  'a Fluentd of another name': pod(
    { containers: [main, { ...fluentd, name: 'logs' }] },
    { 'posidle/container': 'logs' },
  ),
  'the Fluentd of EMR': withFluentd({ name: 'emr-container-fluentd' }),
  'a RUBYOPT of its own': withFluentd({
    env: [
      { name: 'X', value: '1' },
      { name: 'RUBYOPT', value: '-W0' },
      { name: 'Y', value: '2' },
    ],
  }),
  'an empty RUBYOPT': withFluentd({ env: [{ name: 'RUBYOPT', value: '' }] }),
  'a longer grace period': pod({ terminationGracePeriodSeconds: 300 }),
  'a grace period of zero': pod({ terminationGracePeriodSeconds: 0 }),
  'ports, probes, a preStop hook and a stdin': withFluentd({
    ports: [{ name: 'in', containerPort: 24224 }],
    livenessProbe: { ...hook, terminationGracePeriodSeconds: 9 },
    readinessProbe: hook,
    lifecycle: { preStop: hook },
    stdin: true,
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
  }),
  'volumes at other places': pod({
    containers: [
      { ...main, volumeMounts: [{ name: 'mine', mountPath: '/posidle' }] },
      { ...fluentd, volumeMounts: [{ name: 'mine', mountPath: '/posidle2' }] },
    ],
    volumes: [{ name: 'mine', emptyDir: {} }],
  }),
  'root as the user of the Pod': pod({ securityContext: { runAsUser: 0 } }),
  'root as the user of Fluentd': withFluentd({ securityContext: { runAsUser: 0 } }),
  'user namespaces and an fsGroup': pod({
    hostUsers: false,
    securityContext: { fsGroup: 2000, runAsUser: 999, runAsNonRoot: true },
  }),
  'shared processes, no service account and a Job that must end in time': pod({
    shareProcessNamespace: true,
    automountServiceAccountToken: false,
    restartPolicy: 'Never',
    activeDeadlineSeconds: 60,
  }),
  'the annotation of a strict posidle': annotated({ 'posidle/strict': 'true' }),
  'the annotation of a posidle that is not strict': annotated({ 'posidle/strict': 'false', other: 'yes' }),
  ...Object.fromEntries(Object.entries(PLACED).map(([title, { manifest }]) => [title, manifest])),
  ...Object.fromEntries(Object.entries(SIZED).map(([title, [manifest]]) => [title, manifest])),
};
