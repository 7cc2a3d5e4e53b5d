/** Whose log a file on a Kubernetes node is. */
export interface ContainerLog {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/**
 * kubelet/kuberuntime/legacy.go, logSymlink. No name may hold an underscore, or anything but these letters (RFC 1123). From the root on:
 * in a directory of their own others may call a file as they like.
 */
const LINK =
  /^\/var\/log\/containers\/(?<pod>[a-z0-9.-]+)_(?<namespace>[a-z0-9-]+)_(?<container>[a-z0-9-]+)-(?<which>[0-9a-f]{7})[0-9a-f]{57}\.log$/;
/** kubelet/kuberuntime/helpers.go, BuildPodLogsDirectory. */
const FILE =
  /^\/var\/log\/pods\/(?<namespace>[a-z0-9-]+)_(?<pod>[a-z0-9.-]+)_[^/_]+\/(?<container>[a-z0-9-]+)\/(?<which>[^/]+)$/;

/** The names in `/var/log/containers/…` or `/var/log/pods/…`; undefined: it is no such path. */
export function containerLogOf(path: string): ContainerLog | undefined {
  const { namespace, pod, container } = namesIn(path) ?? {};
  return namespace === undefined || pod === undefined || container === undefined
    ? undefined
    : { namespace, pod, container };
}

/** `default/my-app-0/app 1a2b3c4`, and how much of it tells the Pod. The end tells the logs of one container apart. */
export function podNameOf(path: string): { readonly name: string; readonly keep: number } | undefined {
  const names = namesIn(path);
  if (names === undefined) return undefined;
  const start = `${names.namespace}/${names.pod}`;
  return { name: `${start}/${names.container} ${names.which}`, keep: start.length };
}

/** A text that names such logs, with their Pods in place of their paths. */
export function withPodNames(text: string): string {
  return text.replace(/\/var\/log\/\S+/g, (word) => {
    const end = word.lastIndexOf('.log') + '.log'.length;
    const name = podNameOf(word.slice(0, end))?.name;
    return name === undefined ? word : name + word.slice(end);
  });
}

function namesIn(path: string): Readonly<Record<string, string>> | undefined {
  return path.includes('_') ? (LINK.exec(path) ?? FILE.exec(path))?.groups : undefined;
}
