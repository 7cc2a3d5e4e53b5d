/** Makes the change of docker/kubernetes/inject/mutate.yaml to a manifest. A test compares both. */

import { rubyOption, SHARED_DIR } from '../witness/load.ts';
import { type Fields, fields, list, text } from './fields.ts';
import { FLUENTD_NAMES, fluentdBeside } from './not-found.ts';
import { isSidecar, type Pod, podOf } from './pod.ts';
import { endlessIn, reasonAgainst } from './reasons.ts';
import { sizesOf } from './sizes.ts';

export interface Injected {
  readonly document: unknown;
  readonly pods: readonly InjectedPod[];
}

export interface InjectedPod {
  readonly name: string;
  /** Why it stays unchanged. */
  readonly reason?: string | undefined;
  /** It is changed, and may still lose lines or not end. */
  readonly warnings?: readonly string[] | undefined;
}

/** The path to the Pod in each kind of manifest. */
const PATHS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', []],
  ['Job', ['spec', 'template']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template']],
  ['Deployment', ['spec', 'template']],
  ['StatefulSet', ['spec', 'template']],
  ['DaemonSet', ['spec', 'template']],
]);
const KINDS = [...PATHS.keys()].join(', ');
/** Others have kinds of the same names: batch.volcano.sh. */
const OF_KUBERNETES = /^($|v1$|batch\/|apps\/)/;
const GRACE = 120;
const RUBY_OPTION = rubyOption(SHARED_DIR);
const MOUNT = { name: 'posidle', mountPath: SHARED_DIR };
/** No container writes into a volume of these kinds. */
const READ_ONLY = ['configMap', 'secret', 'projected', 'downwardAPI'];

/** Where posidle looks, beside what it knows. */
export interface Where {
  /** To the Pod templates of a document of another kind. */
  readonly path?: readonly string[] | undefined;
  /** Fluentd's. */
  readonly container?: string | undefined;
}

/** Adds posidle to each Pod of a document, or gives the reason why it leaves a Pod unchanged. */
export function injectInto(document: unknown, image: string, where: Where = {}): Injected {
  const { apiVersion, kind, metadata, items } = fields(document);
  if (text(kind) === 'List') {
    const all = list(items).map((item) => injectInto(item, image, where));
    const changed = { ...fields(document), items: all.map((one) => one.document) };
    return { document: changed, pods: all.flatMap(({ pods }) => pods) };
  }
  const usual = PATHS.get(text(kind));
  const isKnown = usual !== undefined && OF_KUBERNETES.test(text(apiVersion));
  const path = isKnown ? usual : (where.path ?? usual);
  const names = where.container === undefined ? FLUENTD_NAMES : [where.container];
  const { name: own, generateName } = fields(metadata);
  const name =
    [text(kind), text(own ?? generateName)].filter(Boolean).join(' ') || 'a document without a kind';
  const pods: InjectedPod[] = [];
  const withoutPod = (): Injected => {
    const reason = fluentdBeside(document, names, where.path);
    return { document, pods: reason === undefined ? [] : [{ name, reason }] };
  };
  if (path === undefined) return withoutPod();
  const changed = changedAt(document, path, (found) => {
    const pod = podOf(found, names);
    if (pod.containers.length === 0) {
      if (isKnown) throw new Error(`${name} has no ${[...path, 'spec', 'containers'].join('.')}`);
      return found;
    }
    const reason = reasonAgainst(pod);
    if (reason !== undefined) {
      pods.push({ name, reason });
      return found;
    }
    const { at, warnings } = placeIn(pod);
    pods.push({ name, warnings: [...warnings, ...endlessIn(pod)] });
    return { ...fields(found), ...withPosidle(pod, at, image) };
  });
  if (pods.length === 0) return withoutPod();
  const isWhole = isKnown || pods.some((pod) => pod.reason !== undefined);
  const left = isWhole ? undefined : fluentdBeside(changed, names);
  if (left === undefined) return { document: changed, pods };
  const [last = { name }] = pods.splice(-1);
  const warnings = [...(last.warnings ?? []), `${left}, on this output`];
  return { document: changed, pods: [...pods, { ...last, warnings }] };
}

export function noPod(otherPath = '--path'): string {
  return `no Pod is described here. posidle looks for ${KINDS}, also in a List, and at ${otherPath} in other kinds. --container is for a Fluentd with another name`;
}

/** The kubelet stops the last sidecar first, so Fluentd goes before the sidecars whose last lines it may read. It still starts behind each init container that ends. */
function placeIn({ spec, name, fluentd = {}, isPlain, inits }: Pod) {
  const readOnly = list(spec.volumes).filter((volume) => READ_ONLY.some((kind) => volume[kind]));
  const volumesOf = (one: Fields) => list(one.volumeMounts).map((mount) => text(mount.name));
  const ignored = readOnly.map((volume) => text(volume.name));
  const read = volumesOf(fluentd).filter((volume) => !ignored.includes(volume));
  const isSource = (one: Fields) => isSidecar(one) && volumesOf(one).some((volume) => read.includes(volume));
  const lastThatEnds = inits.findLastIndex((one) => !isSidecar(one));
  const behind = inits.findIndex((one, index) => index > lastThatEnds && isSource(one));
  const plainAt = behind < 0 ? inits.length : behind;
  const at = isPlain ? plainAt : inits.indexOf(fluentd);
  const before = inits.slice(0, at).find(isSource);
  if (before === undefined) return { at, warnings: [] };
  const warning = `sidecar ${text(before.name)} ends after ${name}: nobody reads its last lines. In initContainers, list it after ${name}`;
  return { at, warnings: [warning] };
}

function withPosidle(pod: Pod, at: number, image: string): Fields {
  const { metadata, spec, notes, fluentd = {}, isPlain, containers, inits } = pod;
  const grace = Math.max(GRACE, Number(text(spec.terminationGracePeriodSeconds)) || 0);
  const resources = sizesOf(pod);
  const hasSizes = Object.values(resources).some((sizes) => Object.keys(sizes).length > 0);
  const own = {
    securityContext: securityContextIn(spec),
    ...(hasSizes && { resources }),
    volumeMounts: [MOUNT],
  };
  const initContainers = [
    { name: 'posidle-install', image, command: ['/opt/posidle/install', '/posidle'], ...own },
    ...inits.slice(0, at),
    {
      ...fluentd,
      restartPolicy: 'Always',
      env: withRubyOption(list(fluentd.env)),
      volumeMounts: [...list(fluentd.volumeMounts), MOUNT],
    },
    {
      name: 'posidle',
      restartPolicy: 'Always',
      image,
      command: ['/opt/posidle/asleep'],
      env: [
        { name: 'POSIDLE_GRACE', value: `${grace}s` },
        ...(text(notes['posidle/strict']) === 'true' ? [{ name: 'POSIDLE_STRICT', value: 'true' }] : []),
      ],
      lifecycle: { preStop: { exec: { command: ['/opt/posidle/asleep', 'ending'] } } },
      ...own,
    },
    ...inits.slice(isPlain ? at : at + 1),
  ];
  return {
    metadata: { ...metadata, annotations: { ...notes, 'posidle/injected': 'true' } },
    spec: {
      ...spec,
      terminationGracePeriodSeconds: grace,
      initContainers,
      containers: containers.filter((one) => one !== fluentd),
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

/** The kubelet starts no container that is root and must not be. As any other user it meets the Pod Security level `restricted`. */
function securityContextIn(spec: Fields): Fields {
  const user = text(fields(spec.securityContext).runAsUser);
  return {
    runAsNonRoot: user === '' || Number(user) !== 0,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/** Of a list on the path, each item. */
function changedAt(whole: unknown, path: readonly string[], change: (part: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (Array.isArray(whole)) return whole.map((item) => changedAt(item, path, change));
  if (key === undefined) return change(whole);
  const part = fields(whole)[key];
  const changed = changedAt(part, rest, change);
  return changed === part ? whole : { ...fields(whole), [key]: changed };
}
