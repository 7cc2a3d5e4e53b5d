import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DrainRequest } from '../../core/progress/drain-request.ts';
import type { Millis } from '../../core/text/units.ts';
import { inWords } from './in-words.ts';

/** Allows for two clocks of one node, and for file systems that keep whole seconds. */
const TOLERANCE: Millis = 1_000;
/** At most this much of the time between two looks counts, because a frozen node stops main as well. */
const MOST_A_LOOK: Millis = 2_000;
/** How often posidle warns that the heartbeat file is missing. */
const REMIND: Millis = 60_000;

/** A file by which main says that it has ended. */
export interface TriggerFile {
  readonly by: DrainRequest['by'];
  /** Whether main has ended, as of now. */
  look(): boolean;
}

/** The file that main makes when it is done. One from before `podStart` belongs to an earlier Pod, and counts only once it is touched. */
export class DoneFile implements TriggerFile {
  readonly by = 'done-file';
  readonly #stamp: () => Stamp | undefined;
  readonly #old: string | undefined;
  #hasCome = false;

  constructor(path: string, podStart: Millis | undefined, warn: (text: string) => void) {
    this.#stamp = stampsOf('--done-file', path, warn);
    const first = this.#stamp();
    if (!existsSync(dirname(path)))
      warn(`--done-file: posidle sees no directory ${dirname(path)} yet. Is its volume mounted here?`);
    if (first === undefined || first.mtime >= (podStart ?? 0)) return;
    this.#old = first.identity;
    warn(`--done-file: ${path} is older than this Pod. It does not count until main touches it`);
  }

  look(): boolean {
    if (this.#hasCome) return true;
    const now = this.#stamp()?.identity;
    this.#hasCome = now !== undefined && now !== this.#old;
    return this.#hasCome;
  }
}

/**
 * The start of this Pod, or a little earlier; undefined outside Kubernetes. The runtime writes /etc/hostname when it makes the Pod's sandbox,
 * before any container starts (containerd, setupSandboxFiles; CRI-O, runPodSandbox). Docker writes it for each container.
 */
export function podStart(env: NodeJS.ProcessEnv = process.env, file = '/etc/hostname'): Millis | undefined {
  // The kubelet sets this variable in every container.
  if (env.KUBERNETES_SERVICE_HOST === undefined) return undefined;
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) - TOLERANCE;
}

interface Heartbeat {
  readonly path: string;
  /** Main counts as ended if its file was not refreshed for this long. */
  readonly age: Millis;
  /** Undefined outside of Kubernetes: then a file from before posidle may be an old one. */
  readonly podStart: Millis | undefined;
  /** If nobody refreshes an old file, it counts only after this time. */
  readonly startTimeout: Millis | 'off';
  readonly warn: (text: string) => void;
}

/** A file that main refreshes while it runs. */
export class HeartbeatFile implements TriggerFile {
  readonly by = 'heartbeat';
  readonly #heartbeat: Heartbeat;
  readonly #stamp: () => Stamp | undefined;
  #identity: string | undefined;
  /** The file may be from before main's start. */
  #isOld: boolean;
  /** How long the file has not changed, by posidle's own clock. */
  #standing: Millis = 0;
  #lookedAt = performance.now();
  #remindAt = this.#lookedAt + REMIND;

  constructor(heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat;
    this.#stamp = stampsOf('--heartbeat-file', heartbeat.path, heartbeat.warn);
    const first = this.#stamp();
    this.#identity = first?.identity;
    this.#isOld = first !== undefined && first.mtime < (heartbeat.podStart ?? Number.POSITIVE_INFINITY);
  }

  /** A removed file does not say that main has ended: it may come back. */
  look(): boolean {
    const { path, age, startTimeout, warn } = this.#heartbeat;
    const identity = this.#stamp()?.identity;
    const now = performance.now();
    const passed = Math.min(now - this.#lookedAt, MOST_A_LOOK);
    this.#lookedAt = now;
    const isSame = identity === this.#identity;
    this.#standing = isSame ? this.#standing + passed : 0;
    this.#isOld &&= isSame;
    if (identity === undefined) {
      if (this.#identity === undefined && now < this.#remindAt) return false;
      this.#identity = undefined;
      this.#remindAt = now + REMIND;
      warn(
        `posidle sees no heartbeat file ${path}. That does not mean that main has ended: posidle waits until main makes it. ` +
          '--heartbeat-file must name the file that main refreshes, on a volume that posidle mounts too',
      );
      return false;
    }
    this.#identity = identity;
    if (!this.#isOld) return this.#standing >= age;
    return startTimeout !== 'off' && this.#standing >= Math.max(age, startTimeout);
  }
}

/** `identity` changes when the file is replaced, written or touched. */
interface Stamp {
  readonly identity: string;
  readonly mtime: Millis;
}

/** Looks at the file. Undefined if it is missing, or if posidle cannot see it, which is told once. */
function stampsOf(option: string, path: string, warn: (text: string) => void): () => Stamp | undefined {
  let told: string | undefined;
  return () => {
    try {
      const { ino, mtimeNs, mtimeMs } = statSync(path, { bigint: true });
      return { identity: `${ino} ${mtimeNs}`, mtime: Number(mtimeMs) };
    } catch (error) {
      const why = inWords(error as NodeJS.ErrnoException);
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && why !== told)
        warn(`${option}: posidle cannot see ${path}: ${why}. Until it can, the file does not count`);
      told = why;
      return undefined;
    }
  };
}
