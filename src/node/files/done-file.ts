import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Millis } from '../../core/text/units.ts';
import { stampOf } from './heartbeat-file.ts';

/** How often it is looked for where the system tells of changes: of another node's on a network volume it does not. */
const TOLD: Millis = 1_000;
/** And where it does not, or has just told of another change: a busy directory costs five events a second, not one a write. */
const UNTOLD: Millis = 200;
/** Two clocks of one node, and a file system that keeps whole seconds. */
const TOLERANCE: Millis = 1_000;

/** Looks for a marker that main leaves when it is done; a directory that comes later is looked into as well. */
export class DoneFile {
  readonly isOld: boolean;
  readonly #path: string;
  readonly #old: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watch: FSWatcher | undefined;

  /** A marker that was made before `podStart` is an earlier Pod's: it does not count until it is touched. */
  constructor(path: string, podStart: Millis | undefined) {
    this.#path = path;
    const stamp = stampOf(path);
    this.isOld = stamp !== undefined && stamp.mtime < (podStart ?? 0);
    this.#old = this.isOld ? stamp?.identity : undefined;
  }

  /** Calls back once, as soon as the marker is there. */
  watch(found: () => void): void {
    this.#look(found, true);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watch?.close();
    this.#watch = undefined;
  }

  #look(found: () => void, mayAsk: boolean): void {
    // First: what comes after the look is told.
    if (mayAsk) this.#askSystem(() => this.#look(found, false));
    const now = stampOf(this.#path)?.identity;
    if (now === undefined || now === this.#old) {
      const wait = this.#watch === undefined ? UNTOLD : TOLD;
      this.#timer = setTimeout(() => this.#look(found, true), wait);
      return;
    }
    this.close();
    found();
  }

  #askSystem(told: () => void): void {
    const tell = () => {
      this.close();
      told();
    };
    try {
      this.#watch ??= watch(dirname(this.#path), tell).on('error', tell);
    } catch {
      // The directory is not there yet, or the system watches no more.
    }
  }
}

/**
 * When this Pod began, or a little earlier; undefined outside Kubernetes. The runtime writes /etc/hostname when it makes the Pod's
 * sandbox, before any container starts (containerd, setupSandboxFiles; CRI-O, runPodSandbox). Docker writes it for each container.
 */
export function podStart(env: NodeJS.ProcessEnv = process.env, file = '/etc/hostname'): Millis | undefined {
  // The kubelet sets it in every container.
  if (env.KUBERNETES_SERVICE_HOST === undefined) return undefined;
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) - TOLERANCE;
}
