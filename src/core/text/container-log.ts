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

/** `default/my-app-0/app 1a2b3c4`. The end tells the logs of one container apart. */
export function podNameOf(path: string): string | undefined {
  const names = namesIn(path);
  return names && `${names.namespace}/${names.pod}/${names.container} ${names.which}`;
}

function namesIn(path: string): Readonly<Record<string, string>> | undefined {
  return path.includes('_') ? (LINK.exec(path) ?? FILE.exec(path))?.groups : undefined;
}
