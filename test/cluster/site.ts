import type { Manifest } from '../pods/kubernetes.ts';
import { Destination } from './destination.ts';
import {
  type ContainerStatus,
  create,
  createNamespace,
  deleteNamespace,
  kubectl,
  type Pod,
  podEvents,
} from './kubectl.ts';
import { type Found, type Seen, Watched } from './watched.ts';

/** A namespace with a destination for its Pods' lines, and all that becomes of these Pods. */
export class Site {
  readonly #watched = new Watched();
  readonly namespace: string;
  readonly destination: Destination;

  private constructor(namespace: string, destination: Destination) {
    this.namespace = namespace;
    this.destination = destination;
  }

  static async use<T>(work: (site: Site) => Promise<T>): Promise<T> {
    const destination = await Destination.start();
    const site = new Site(await createNamespace(), destination);
    const end = new AbortController();
    const following = site.#watched.follow(podEvents(site.namespace, end.signal));
    try {
      return await work(site);
    } catch (error) {
      console.error(await site.#describe());
      throw error;
    } finally {
      destination.stop();
      await deleteNamespace(site.namespace);
      end.abort();
      await following;
    }
  }

  kubectl(...words: readonly string[]): Promise<string> {
    return kubectl(['-n', this.namespace, ...words]);
  }

  async #describe(): Promise<string> {
    const words = ['--all-containers', '--prefix', '--tail=30', '--ignore-errors'];
    const logs = this.pods().map(({ metadata }) => this.kubectl('logs', metadata.name, ...words));
    const all = await Promise.allSettled([this.kubectl('describe', 'pods'), ...logs]);
    return all.map((one) => (one.status === 'fulfilled' ? one.value : one.reason)).join('\n');
  }

  create(...manifests: readonly Manifest[]): Promise<void> {
    return create(this.namespace, manifests);
  }

  pods(): readonly Seen[] {
    return this.#watched.all();
  }

  until<T>(what: string, look: (pods: readonly Seen[]) => T): Promise<Found<T>> {
    return this.#watched.until(what, () => look(this.pods()));
  }
}

export function statusOf({ status }: Pod, container: string): ContainerStatus | undefined {
  return statusesOf({ status }).find(({ name }) => name === container);
}

export function statusesOf({ status }: Pick<Pod, 'status'>): readonly ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

export function hasEnded({ isGone, status }: Seen): boolean {
  return isGone || ['Succeeded', 'Failed'].includes(status.phase);
}
