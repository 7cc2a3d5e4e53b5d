import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Manifest } from '../pods/kubernetes.ts';
import { until } from '../support/until.ts';
import { kubectlPath } from './connect.ts';

const LIMIT = 256 << 20;

/** The output of kubectl. Rejects with its error message if it fails. */
export function kubectl(args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(kubectlPath(), [...args], { maxBuffer: LIMIT }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`));
    });
    child.stdin?.on('error', () => undefined).end(input);
  });
}

interface Call {
  readonly method?: 'POST' | 'DELETE';
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

/** Asks the API server through `kubectl proxy`: each call of kubectl takes 0.2 s of CPU. Rejects if it refuses. */
export async function api(path: string, { method, body, signal }: Call = {}): Promise<Response> {
  const response = await fetch(`${process.env.KUBECTL_PROXY}${path}`, {
    ...(method && { method }),
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(signal && { signal }),
  });
  if (response.ok) return response;
  const { message } = (await response.json()) as { message: string };
  throw new Error(`${method ?? 'GET'} ${path}: ${message}`);
}

/** Where the API server has the objects of this kind. */
export function pathOf(
  { apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>,
  namespace: string,
): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}/namespaces/${namespace}/${kind.toLowerCase()}s`;
}

export async function create(namespace: string, manifests: readonly Manifest[]): Promise<void> {
  for (const body of manifests)
    await api(`${pathOf(body, namespace)}?fieldValidation=Strict`, { method: 'POST', body });
}

/** Rejects if the Pod's disruption budget allows no eviction. */
export async function evict(namespace: string, name: string): Promise<void> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
  await api(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { method: 'POST', body });
}

/** A namespace of its own for one run. Pods can be made in it at once. */
export async function createNamespace(): Promise<string> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'posidle-test-' } };
  const made = await api('/api/v1/namespaces', { method: 'POST', body });
  const { name } = ((await made.json()) as Pod).metadata;
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  const isThere = () =>
    api(account).then(
      () => true,
      () => false,
    );
  await until('the namespace has its service account', isThere, { within: 60_000 });
  return name;
}

export async function deleteNamespace(name: string): Promise<void> {
  await api(`/api/v1/namespaces/${name}`, { method: 'DELETE', body: { gracePeriodSeconds: 1 } });
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly state: {
    readonly running?: object;
    readonly waiting?: { readonly reason: string };
    readonly terminated?: { readonly exitCode: number; readonly message?: string };
  };
}

export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly restartPolicy: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface PodEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Pod;
}

/** Each change of the namespace's Pods, until the caller stops reading. */
export async function* podEvents(namespace: string, end?: AbortSignal): AsyncGenerator<PodEvent> {
  const { body } = await api(`/api/v1/namespaces/${namespace}/pods?watch=true`, { signal: end });
  try {
    // One event a line.
    const lines = createInterface(Readable.fromWeb(body as ReadableStream));
    for await (const line of lines) yield JSON.parse(line) as PodEvent;
  } catch (error) {
    if (!end?.aborted) throw error;
  }
}
