/** Makes the change of docker/kubernetes/inject/mutate.yaml to a manifest. A test compares both. */

import { rubyOption, SHARED_DIR } from '../witness/load.ts';

type Fields = Readonly<Record<string, unknown>>;
/** A Pod, or a Pod template. */
interface Pod {
  readonly metadata: Fields;
  readonly spec: Fields;
}

export interface Injected {
  readonly document: unknown;
  readonly pods: readonly { readonly name: string; readonly reason: string | undefined }[];
}

/** The path to the Pod in each kind of manifest. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  Pod: [],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
};
const KINDS = Object.keys(PATHS).join(', ');
const GRACE = 120;
const RUBY_OPTION = rubyOption(SHARED_DIR);
const MOUNT = { name: 'posidle', mountPath: SHARED_DIR };
const OURS = /^\/posidle(\/|$)/;

/** Adds posidle to each Pod of a document, or gives the reason why it leaves a Pod unchanged. */
export function injectInto(document: unknown, image: string): Injected {
  const { kind, metadata, items } = fields(document);
  if (text(kind) === 'List') {
    const all = list(items).map((item) => injectInto(item, image));
    const changed = { ...fields(document), items: all.map((one) => one.document) };
    return { document: changed, pods: all.flatMap(({ pods }) => pods) };
  }
  const path = PATHS[text(kind)];
  if (path === undefined) return { document, pods: [] };
  const name = `${text(kind)} ${text(fields(metadata).name)}`;
  const found = path.reduce<unknown>((at, key) => fields(at)[key], document);
  const pod = { metadata: fields(fields(found).metadata), spec: fields(fields(found).spec) };
  if (list(pod.spec.containers).length === 0)
    throw new Error(`${name} has no ${[...path, 'spec', 'containers'].join('.')}`);
  const reason = reasonAgainst(pod);
  const changed =
    reason === undefined
      ? replaced(document, path, { ...fields(found), ...withPosidle(pod, image) })
      : document;
  return { document: changed, pods: [{ name, reason }] };
}

export const NO_POD = `no Pod is described here. posidle looks for ${KINDS}, also in a List`;

/** Why posidle leaves a Pod unchanged: the change must not make it invalid or delay main. */
function reasonAgainst({ metadata, spec }: Pod): string | undefined {
  const notes = fields(metadata.annotations);
  const name = nameIn(notes);
  const plain = list(spec.containers).find((one) => text(one.name) === name);
  const all = [...list(spec.containers), ...list(spec.initContainers)];
  const fluentd =
    plain ??
    list(spec.initContainers).find((one) => text(one.name) === name && text(one.restartPolicy) === 'Always');
  if ('posidle/injected' in notes) return 'posidle is there already';
  if (fluentd === undefined)
    return `no container or native sidecar is named ${name}. The annotation posidle/container names another one`;
  if (text(fields(spec.os).name) === 'windows') return 'it is for Windows';
  if (plain && list(spec.containers).length === 1) return `${name} is the only container`;
  const { preStop, postStart } = fields(fluentd.lifecycle);
  if (preStop) return `${name} has a preStop hook`;
  if (plain && (postStart || plain.startupProbe))
    return `${name} has a postStart hook or a startupProbe. As a native sidecar it would hold up the main container`;
  if (plain && (plain.restartPolicy || plain.restartPolicyRules))
    return `${name} has a restartPolicy of its own`;
  if (all.some((one) => ['posidle-install', 'posidle-gate'].includes(text(one.name))))
    return 'a container is named posidle-install or posidle-gate';
  if (list(spec.volumes).some((one) => text(one.name) === 'posidle')) return 'a volume is named posidle';
  const places = [...list(fluentd.volumeMounts), ...list(fluentd.volumeDevices)];
  if (places.some(({ mountPath, devicePath }) => OURS.test(text(mountPath ?? devicePath))))
    return `${name} has a volume at /posidle`;
  if (hasWitness(notes) && list(fluentd.env).some((one) => text(one.name) === 'RUBYOPT' && one.valueFrom))
    return `${name} takes RUBYOPT from elsewhere (valueFrom). The annotation posidle/witness: "no" leaves it alone`;
  return undefined;
}

function withPosidle({ metadata, spec }: Pod, image: string): Pod {
  const notes = fields(metadata.annotations);
  const name = nameIn(notes);
  const [containers, inits] = [list(spec.containers), list(spec.initContainers)];
  const isFluentd = (one: Fields) => text(one.name) === name;
  const plain = containers.find(isFluentd);
  const at = plain ? inits.length : inits.findIndex(isFluentd);
  const grace = Math.max(GRACE, Number(text(spec.terminationGracePeriodSeconds)) || 0);
  const fluentd = plain ?? inits[at] ?? {};
  const own = ownContainer(image, spec, fluentd, [...containers, ...inits]);
  const env = hasWitness(notes) ? { env: withRubyOption(list(fluentd.env)) } : {};
  const preStop = { exec: { command: ['/posidle/posidle', 'drain', '--grace', `${grace}s`] } };
  const lifecycle = { ...fields(fluentd.lifecycle), preStop };
  const volumeMounts = [...list(fluentd.volumeMounts), MOUNT];
  const initContainers = [
    { name: 'posidle-install', command: ['/opt/posidle/install', '/posidle'], ...own },
    ...inits.slice(0, at),
    { ...fluentd, restartPolicy: 'Always', ...env, lifecycle, volumeMounts },
    {
      name: 'posidle-gate',
      restartPolicy: 'Always',
      command: ['/opt/posidle/gate'],
      lifecycle: { preStop: { exec: { command: ['/opt/posidle/gate', 'ending'] } } },
      ...own,
    },
    ...inits.slice(at + 1),
  ];
  return {
    metadata: { ...metadata, annotations: { ...notes, 'posidle/injected': 'true' } },
    spec: {
      ...spec,
      terminationGracePeriodSeconds: grace,
      initContainers,
      containers: containers.filter((one) => !isFluentd(one)),
      volumes: [...list(spec.volumes), { name: 'posidle', emptyDir: {} }],
    },
  };
}

function withRubyOption(env: readonly Fields[]): readonly Fields[] {
  const at = env.findLastIndex(({ name }) => text(name) === 'RUBYOPT');
  if (at < 0) return [...env, { name: 'RUBYOPT', value: RUBY_OPTION }];
  const value = `${RUBY_OPTION} ${text(env[at]?.value)}`.trim();
  return env.with(at, { ...env[at], value });
}

/** The fields that installer and gate share. They meet the Pod Security level `restricted`. */
function ownContainer(image: string, spec: Fields, fluentd: Fields, all: readonly Fields[]): Fields {
  const { requests, limits } = fields(fluentd.resources);
  const storage = all.some((one) => 'ephemeral-storage' in fields(fields(one.resources).limits))
    ? { 'ephemeral-storage': '200Mi' }
    : {};
  const resources = {
    requests: { cpu: '20m', memory: '16Mi', ...storage },
    limits: { cpu: '200m', memory: '64Mi', ...storage },
  };
  return {
    image,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65534,
      runAsGroup: 65534,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumeMounts: [MOUNT],
    ...(!spec.resources && (requests || limits) ? { resources } : {}),
  };
}

function nameIn(notes: Fields): string {
  return text(notes['posidle/container'] ?? 'fluentd');
}

function hasWitness(notes: Fields): boolean {
  return text(notes['posidle/witness']) !== 'no';
}

function replaced(whole: unknown, [key, ...rest]: readonly string[], part: unknown): unknown {
  return key === undefined ? part : { ...fields(whole), [key]: replaced(fields(whole)[key], rest, part) };
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !(value instanceof String) ? (value as Fields) : {};
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function text(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}
