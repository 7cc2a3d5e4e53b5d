import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Manifest } from '../pods/kubernetes.ts';
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

export async function create(namespace: string, manifests: readonly Manifest[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests });
  await kubectl(['create', '--validate=strict', '-n', namespace, '-f', '-'], list);
}

/** Rejects if the Pod's disruption budget allows no eviction. */
export async function evict(namespace: string, name: string): Promise<void> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  await kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
}

/** A namespace of its own for one run. Pods can be made in it at once. */
export async function createNamespace(): Promise<string> {
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: 'posidle-test-' } };
  const name = await kubectl(
    ['create', '-f', '-', '-o', 'jsonpath={.metadata.name}'],
    JSON.stringify(manifest),
  );
  await kubectl(['wait', '--for=create', 'serviceaccount/default', '-n', name, '--timeout=60s']);
  return name;
}

export interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state: {
    readonly running?: object;
    readonly waiting?: { readonly reason: string };
    readonly terminated?: Terminated;
  };
  readonly lastState: { readonly terminated?: Terminated };
}

interface Terminated {
  readonly exitCode: number;
  readonly message?: string;
  readonly finishedAt: string | null;
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
  const words = ['get', 'pods', '-n', namespace, '-o', 'json', '--watch', '--output-watch-events'];
  const child = spawn(kubectlPath(), words, { stdio: ['ignore', 'pipe', 'inherit'] });
  end?.addEventListener('abort', () => child.kill());
  try {
    // One event a line.
    for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as PodEvent;
  } finally {
    child.kill();
  }
}
