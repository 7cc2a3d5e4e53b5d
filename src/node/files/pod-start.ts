import { statSync } from 'node:fs';
import type { Millis } from '../../core/text/units.ts';

/** Two clocks of one node, and a file system that keeps whole seconds. */
const TOLERANCE: Millis = 1_000;

/**
 * When this Pod began, or a little earlier; undefined outside Kubernetes. The runtime writes /etc/hostname when it makes the Pod's
 * sandbox, before any container starts (containerd, setupSandboxFiles; CRI-O, runPodSandbox). Docker writes it for each container.
 */
export function podStart(env: NodeJS.ProcessEnv = process.env, file = '/etc/hostname'): Millis | undefined {
  // The kubelet sets it in every container.
  if (env.KUBERNETES_SERVICE_HOST === undefined) return undefined;
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) - TOLERANCE;
}
