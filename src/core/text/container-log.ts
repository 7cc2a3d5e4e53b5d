/** Whose log a file on a Kubernetes node is. */
export interface ContainerLog {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** What tells one log of a container from its others: the container's id, or the file's name. */
interface Named extends ContainerLog {
  readonly which: string;
}

/** No name may hold an underscore (kubelet/kuberuntime/legacy.go, logSymlink). */
const LINK = /\/containers\/([^/_]+)_([^/_]+)_([^/_]+)-([0-9a-f]{64})\.log$/;
/** kubelet/kuberuntime/helpers.go, BuildPodLogsDirectory. */
const FILE = /\/pods\/([^/_]+)_([^/_]+)_[^/_]+\/([^/_]+)\/([^/]+)$/;

/** The names in `/var/log/containers/…` or `/var/log/pods/…`; undefined: it is no such path. */
export function containerLogOf(path: string): ContainerLog | undefined {
  const found = named(path);
  return found && { namespace: found.namespace, pod: found.pod, container: found.container };
}

/** `default/my-app-0/app 1a2b3c4`, and how much of it tells the Pod. */
export function podNameOf(path: string): { readonly name: string; readonly keep: number } | undefined {
  const found = named(path);
  if (found === undefined) return undefined;
  const { namespace, pod, container, which } = found;
  const start = `${namespace}/${pod}`;
  return { name: `${start}/${container} ${which}`, keep: start.length };
}

/** A text that names such logs, with their Pods in place of their paths. */
export function withPodNames(text: string): string {
  return text.replace(/\/\S+\/(containers|pods)\/\S+\.log/g, (path) => podNameOf(path)?.name ?? path);
}

function named(path: string): Named | undefined {
  if (!path.includes('_')) return undefined;
  const [, pod, namespace, container, id] = LINK.exec(path) ?? [];
  if (pod !== undefined && namespace !== undefined && container !== undefined)
    return { namespace, pod, container, which: id?.slice(0, 7) ?? '' };
  const [, owner, name, inner, file] = FILE.exec(path) ?? [];
  if (owner === undefined || name === undefined || inner === undefined) return undefined;
  return { namespace: owner, pod: name, container: inner, which: file ?? '' };
}
