import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Millis } from '../../core/text/units.ts';
import { stampOf } from './heartbeat-file.ts';

/** Where the system tells of changes: it does not tell of those that another node makes on a network volume. */
const AT_REST = 1_000;
/** For so long after a change, and where the system does not tell: mostly main's last lines come just before the marker. */
const RESTLESS = 1_000;
const EVERY = 200;
/** Two clocks of one node, and a file system that keeps whole seconds. */
const TOLERANCE: Millis = 1_000;

/** Looks for a marker that main leaves when it is done; a directory that comes later is looked into as well. */
export class DoneFile {
  readonly #path: string;
  readonly #old: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watch: FSWatcher | undefined;
  /** Until then it is looked for, and the system not asked: a busy directory costs one event a second, not one a write. */
  #restlessUntil = 0;
  #found: () => void = () => {};

  /** A marker that was made before `podStart` is an earlier Pod's: it does not count until it is touched. */
  constructor(path: string, podStart: Millis | undefined) {
    this.#path = path;
    const stamp = stampOf(path);
    this.#old = stamp !== undefined && stamp.mtime < (podStart ?? 0) ? stamp.identity : undefined;
  }

  get isOld(): boolean {
    return this.#old !== undefined;
  }

  /** Calls back once, as soon as the marker is there. */
  watch(found: () => void): void {
    this.#found = found;
    this.#look();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watch?.close();
    this.#watch = undefined;
  }

  /** Asks the system first: what comes after the look is told. */
  #look(): void {
    const isTold = this.#isTold();
    const now = stampOf(this.#path)?.identity;
    if (now === undefined || now === this.#old) {
      this.#timer = setTimeout(() => this.#look(), isTold ? AT_REST : EVERY);
      return;
    }
    this.close();
    this.#found();
  }

  #isTold(): boolean {
    if (this.#watch !== undefined) return true;
    if (performance.now() < this.#restlessUntil) return false;
    try {
      this.#watch = watch(dirname(this.#path), () => this.#changed());
      this.#watch.on('error', () => this.#changed());
      return true;
    } catch {
      this.#restlessUntil = performance.now() + RESTLESS;
      return false;
    }
  }

  #changed(): void {
    this.close();
    this.#restlessUntil = performance.now() + RESTLESS;
    this.#look();
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
