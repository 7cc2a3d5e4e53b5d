/** Pods for both ways in which posidle is added: `posidle inject` and the policy of the API server. */
export interface PodManifest {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

const main = { name: 'main', image: 'busybox:1.37' };
const fluentd = { name: 'fluentd', image: 'fluent/fluentd:v1.18-debian' };
const sidecar = { ...fluentd, restartPolicy: 'Always' };
const hook = { exec: { command: ['true'] } };
const resources = { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '100m', memory: '128Mi' } };

function pod(spec: object, annotations?: Record<string, string>): PodManifest {
  return {
    metadata: annotations === undefined ? {} : { annotations },
    spec: { containers: [main, fluentd], ...spec },
  };
}

const withFluentd = (more: object) => pod({ containers: [main, { ...fluentd, ...more }] });
const withSidecar = (more: object) => pod({ containers: [main], initContainers: [{ ...sidecar, ...more }] });

/** The Pods that stay unchanged, with the reasons. */
export const LEFT_ALONE: Readonly<Record<string, readonly [PodManifest, RegExp]>> = {
  'no container named fluentd': [
    pod({ containers: [main, { ...fluentd, name: 'logs' }] }),
    /is named fluentd\. The annotation/,
  ],
  'a fluentd that is an init container and ends': [
    pod({ containers: [main], initContainers: [fluentd] }),
    /is named fluentd/,
  ],
  'a container of another name that is not there': [
    pod({}, { 'posidle/container': 'logs' }),
    /is named logs/,
  ],
  Windows: [pod({ os: { name: 'windows' } }), /Windows/],
  'no other container beside Fluentd': [pod({ containers: [fluentd] }), /is the only container/],
  'a preStop hook': [withFluentd({ lifecycle: { preStop: hook } }), /has a preStop hook/],
  'a native sidecar with a preStop hook': [
    withSidecar({ lifecycle: { preStop: hook } }),
    /has a preStop hook/,
  ],
  'a plain Fluentd with a postStart hook': [
    withFluentd({ lifecycle: { postStart: hook } }),
    /would hold up the main container/,
  ],
  'a plain Fluentd with a startupProbe': [
    withFluentd({ startupProbe: hook }),
    /would hold up the main container/,
  ],
  'a container named posidle-gate': [
    pod({ containers: [main, fluentd, { ...main, name: 'posidle-gate' }] }),
    /named posidle-install or posidle-gate/,
  ],
  'an init container named posidle-install': [
    pod({ initContainers: [{ ...main, name: 'posidle-install' }] }),
    /named posidle-install or posidle-gate/,
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
    withFluentd({ env: [{ name: 'RUBYOPT', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
    /takes RUBYOPT from elsewhere/,
  ],
};

/** The Pods that get posidle. Each is valid and must stay valid. */
export const CHANGED: Readonly<Record<string, PodManifest>> = {
  'a plain Fluentd': pod({}),
  'a plain Fluentd before main': pod({ containers: [fluentd, main] }),
  'a native sidecar': withSidecar({}),
  'a native sidecar with a startupProbe and a postStart hook': withSidecar({
    startupProbe: hook,
    lifecycle: { postStart: hook },
  }),
  'init containers and other native sidecars': pod({
    containers: [main],
    initContainers: [
      { ...main, name: 'before' },
      sidecar,
      { ...main, name: 'proxy', restartPolicy: 'Always' },
    ],
  }),
  'a plain Fluentd behind init containers': pod({
    initContainers: [
      { ...main, name: 'before' },
      { ...main, name: 'proxy', restartPolicy: 'Always' },
    ],
  }),
  'a Fluentd of another name': pod(
    { containers: [main, { ...fluentd, name: 'logs' }] },
    { 'posidle/container': 'logs' },
  ),
  'no witness': pod(
    { containers: [main, { ...fluentd, env: [{ name: 'A', value: 'b' }] }] },
    { 'posidle/witness': 'no' },
  ),
  'no witness, and a RUBYOPT from elsewhere': pod(
    {
      containers: [
        main,
        { ...fluentd, env: [{ name: 'RUBYOPT', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
      ],
    },
    { 'posidle/witness': 'no' },
  ),
  'a RUBYOPT of its own': withFluentd({
    env: [
      { name: 'X', value: '1' },
      { name: 'RUBYOPT', value: '-W0' },
      { name: 'Y', value: '2' },
    ],
  }),
  'an empty RUBYOPT': withFluentd({ env: [{ name: 'RUBYOPT', value: '' }] }),
  'a longer grace period': pod({ terminationGracePeriodSeconds: 300 }),
  'a shorter grace period': pod({ terminationGracePeriodSeconds: 5 }),
  'a grace period of zero': pod({ terminationGracePeriodSeconds: 0 }),
  'ports, probes and a stdin': withFluentd({
    ports: [{ name: 'in', containerPort: 24224 }],
    livenessProbe: { ...hook, terminationGracePeriodSeconds: 9 },
    readinessProbe: hook,
    stdin: true,
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
  }),
  'volumes at other places': pod({
    containers: [main, { ...fluentd, volumeMounts: [{ name: 'mine', mountPath: '/posidle2' }] }],
    volumes: [{ name: 'mine', emptyDir: {} }],
  }),
  'another container with a volume at /posidle': pod({
    containers: [{ ...main, volumeMounts: [{ name: 'mine', mountPath: '/posidle' }] }, fluentd],
    volumes: [{ name: 'mine', emptyDir: {} }],
  }),
  resources: withFluentd({ resources }),
  'only requests': withFluentd({ resources: { requests: { cpu: '1m' } } }),
  'a limit of ephemeral storage': withFluentd({ resources: { limits: { 'ephemeral-storage': '60Mi' } } }),
  'resources of the whole Pod': pod({
    containers: [
      { ...main, resources },
      { ...fluentd, resources },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '100m', memory: '128Mi' } },
  }),
  'user namespaces and an fsGroup': pod({
    hostUsers: false,
    securityContext: { fsGroup: 2000, runAsUser: 999, runAsNonRoot: true },
  }),
  'shared processes and no service account': pod({
    shareProcessNamespace: true,
    automountServiceAccountToken: false,
  }),
  'a Job that must end in time': pod({ restartPolicy: 'Never', activeDeadlineSeconds: 60 }),
  'annotations and nothing else': pod({}, { other: 'yes' }),
};
