import { EventEmitter, once } from 'node:events';
import { type ConfigMap, configMapsIn, type Manifest, type PodSpec, podIn } from '../pods/kubernetes.ts';
import { kustomize } from '../pods/kustomize.ts';
import { Destination } from './destination.ts';
import { create, createNamespace, kubectl, type Pod, podEvents } from './kubectl.ts';
import { named } from './placement.ts';

const LIMIT = 200_000;
/** Prints numbered lines that name their Pod. `logs FIRST LAST` appends them to the log. */
export const LOGS = `logs() { for line in $(seq "$1" "$2"); do echo "$(hostname) line $line" >>/var/log/app/job.log; done; }
`;
/** Ten lines, and ten more a while after SIGTERM. */
export const STOPS_SLOWLY = `${LOGS}trap 'sleep 10; logs 11 20; exit 0' TERM
logs 1 10; touch /tmp/written
while :; do sleep 0.2; done
`;
export const WRITTEN = 'until [ -e /tmp/written ]; do sleep 0.2; done';
const FILE_BUFFER = '@type file\n    path /var/log/fluentd/buffer\n    flush_interval 60s';

export interface Outcome {
  readonly outcome: string;
  readonly why?: string;
  readonly left?: { readonly count: number };
  readonly doubts?: { readonly worst: readonly { readonly kind: string }[] };
}

/** A Pod as it was seen last. */
interface Seen extends Pod {
  readonly isGone: boolean;
}

/** A namespace with a destination for its Pods' lines, and all that becomes of these Pods. */
export class Site {
  readonly pods = new Map<string, Seen>();
  readonly #changed = new EventEmitter();

  readonly namespace: string;
  readonly destination: Destination;

  private constructor(namespace: string, destination: Destination) {
    this.namespace = namespace;
    this.destination = destination;
  }

  static async use(work: (site: Site) => Promise<void>): Promise<void> {
    const destination = await Destination.start();
    const site = new Site(await createNamespace(), destination);
    const end = new AbortController();
    const following = site.#follow(end.signal);
    following.catch(() => undefined);
    try {
      await work(site);
    } catch (error) {
      console.error(await site.kubectl('describe', 'pods').catch(String));
      throw error;
    } finally {
      destination.stop();
      await kubectl(['delete', 'namespace', site.namespace, '--wait=false', '--grace-period=1']);
      end.abort();
      await following;
    }
  }

  async #follow(end: AbortSignal): Promise<void> {
    for await (const { type, object } of podEvents(this.namespace, end)) {
      this.pods.set(object.metadata.uid, { ...object, isGone: type === 'DELETED' });
      this.#changed.emit('pod');
    }
  }

  kubectl(...words: readonly string[]): Promise<string> {
    return kubectl(['-n', this.namespace, ...words]);
  }

  exec(pod: string, container: string, command: string): Promise<string> {
    return this.kubectl('exec', pod, '-c', container, '--', 'sh', '-c', command);
  }

  async delete(pod: string, ...words: readonly string[]): Promise<void> {
    await this.kubectl('delete', 'pod', pod, '--wait=false', ...words);
  }

  /** As the kernel kills a container where memory is short. Only another Pod may kill its first process. */
  async killContainer(pod: string, container: string): Promise<void> {
    const [, id = ''] = statusOf(this.pod(pod), container)?.containerID?.split('://') ?? [];
    const all = 'cd /proc; for pid in [0-9]*; do grep -q "$0" $pid/cgroup && kill -KILL $pid; done; true';
    await this.kubectl('exec', 'killer', '--', 'sh', '-c', all, id);
  }

  /** A Pod that `killContainer` needs. */
  async createKiller(): Promise<void> {
    const container = { name: 'killer', image: 'busybox:1.37', command: ['sleep', '600'] };
    const spec = { hostPID: true, containers: [container], terminationGracePeriodSeconds: 1 };
    await create(this.namespace, [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'killer' }, spec } as Manifest,
    ]);
  }

  pod(name: string): Seen {
    const found = [...this.pods.values()].findLast(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`no Pod ${name}`);
    return found;
  }

  async evict(pod: string): Promise<void> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
    const path = `/api/v1/namespaces/${this.namespace}/pods/${pod}/eviction`;
    await kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
  }

  /** These, and fluent.conf. */
  async create(...manifests: readonly object[]): Promise<void> {
    await create(this.namespace, [this.#conf(), ...(manifests as Manifest[])]);
  }

  /** A file buffer: it goes with the Pod's volume if nobody empties it. */
  #conf(): ConfigMap {
    const [conf] = configMapsIn(kustomize('docker/kubernetes/pre-stop'));
    if (conf === undefined) throw new Error('the placement has no fluent.conf');
    const http = `@type http\n  endpoint ${this.destination.endpoint}\n  <format>\n    @type json\n  </format>`;
    const text = conf.data['fluent.conf'] ?? '';
    const sent = text
      .replace('@type stdout', http)
      .replace(/@type memory\n\s*flush_interval 10s/, FILE_BUFFER);
    return { ...conf, data: { 'fluent.conf': sent } };
  }

  /** Resolves when it is so; the Pods are looked at whenever one changes. */
  async until(what: string, isSo: (pods: readonly Seen[]) => boolean): Promise<void> {
    const signal = AbortSignal.timeout(LIMIT);
    try {
      while (!isSo([...this.pods.values()])) await once(this.#changed, 'pod', { signal });
    } catch {
      throw new Error(`not within ${LIMIT} ms: ${what}`);
    }
  }

  /** Its name, when it has containers that run. */
  async running(like = ''): Promise<string> {
    let name = '';
    await this.until('a Pod runs', (pods) => {
      const found = pods.find((pod) => pod.metadata.name.includes(like) && isRunning(pod));
      name = found?.metadata.name ?? '';
      return found !== undefined;
    });
    return name;
  }

  async ended(count = 1): Promise<void> {
    await this.until(`${count} Pods end`, (pods) => pods.filter(hasEnded).length >= count);
  }

  /** The words of all Fluentds, or of another container. */
  words(container = 'fluentd'): readonly Outcome[] {
    return [...this.pods.values()].flatMap((pod) => {
      const message = statusOf(pod, container)?.state.terminated?.message ?? '';
      return message.startsWith('{') ? [JSON.parse(message) as Outcome] : [];
    });
  }

  exitCodes(container = 'fluentd'): readonly (number | undefined)[] {
    return [...this.pods.values()].map((pod) => statusOf(pod, container)?.state.terminated?.exitCode);
  }

  /** The texts of the warnings. */
  events(): Promise<string> {
    return this.kubectl('get', 'events', '-o', 'jsonpath={range .items[*]}{.reason}: {.message}{"\\n"}{end}');
  }
}

export function statusOf({ status }: Pod, container: string) {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return all.find(({ name }) => name === container);
}

function isRunning(pod: Seen): boolean {
  return !pod.isGone && statusOf(pod, 'main')?.state.running !== undefined;
}

export function hasEnded({ isGone, status }: Seen): boolean {
  return isGone || ['Succeeded', 'Failed'].includes(status.phase);
}

/** The Pod of the placement pre-stop with this main, and what is changed. */
export function hooked(main: string, change: (spec: PodSpec) => void = () => undefined): PodSpec {
  const spec = podIn(kustomize('docker/kubernetes/pre-stop'));
  named(spec, 'main').args = [main];
  change(spec);
  return spec;
}

export function podOf(main: string, change?: (spec: PodSpec) => void): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: hooked(main, change) };
}

export function jobOf(main: string, job: object, change?: (spec: PodSpec) => void): object {
  const template = { spec: hooked(main, change) };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { ...job, template } };
}

/** A Deployment or a StatefulSet. */
export function setOf(kind: string, replicas: number, main: string): object {
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { ...hooked(main), restartPolicy: 'Always' } };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'a' },
    spec: {
      ...(kind === 'StatefulSet' && { serviceName: 'a' }),
      replicas,
      selector: { matchLabels: labels },
      template,
    },
  };
}
