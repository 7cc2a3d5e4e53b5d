/** The parts of the Kubernetes objects that the manifests use. */
interface Mount {
  name: string;
  mountPath: string;
  subPath?: string;
  readOnly?: boolean;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value: string }[];
  volumeMounts?: Mount[];
  restartPolicy?: 'Always';
  securityContext?: Record<string, unknown>;
  lifecycle?: { readonly [hook in 'postStart' | 'preStop']?: { exec: { command: string[] } } };
  resources?: unknown;
  livenessProbe?: unknown;
  ports?: unknown;
}

interface Volume {
  name: string;
  emptyDir?: object;
  configMap?: { name: string };
}

export interface PodSpec {
  restartPolicy: 'Never' | 'OnFailure' | 'Always';
  activeDeadlineSeconds?: number;
  terminationGracePeriodSeconds?: number;
  shareProcessNamespace?: boolean;
  securityContext?: Record<string, unknown>;
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  [field: string]: unknown;
}

export interface ConfigMap extends Manifest {
  kind: 'ConfigMap';
  data: Record<string, string>;
  /** In base64. */
  binaryData?: Record<string, string>;
}

export function configMapsIn(manifests: readonly Manifest[]): ConfigMap[] {
  return manifests.filter((manifest): manifest is ConfigMap => manifest.kind === 'ConfigMap');
}

/** The Pod that the controller of a Job or DaemonSet would make. */
export function podIn(manifests: readonly Manifest[]): PodSpec {
  return structuredClone(specIn(manifests));
}

/** The same, in its manifest. */
export function specIn(manifests: readonly Manifest[]): PodSpec {
  for (const { kind, spec } of manifests) {
    if (kind === 'Pod') return spec as PodSpec;
    if (kind === 'Job' || kind === 'DaemonSet')
      return (spec as { template: { spec: PodSpec } }).template.spec;
  }
  throw new Error('no Pod among the manifests');
}

export function named(spec: PodSpec, name: string): Container {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const found = all.find((container) => container.name === name);
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}
