import { statSync } from 'node:fs';
import type { Millis } from '../../core/text/units.ts';

/** Allows for two clocks of one node, and for file systems that keep whole seconds. */
const TOLERANCE: Millis = 1_000;
/** At most this much of the time between two looks counts, because a frozen node stops main as well. */
const MOST_A_LOOK: Millis = 2_000;
/** How often posidle warns that the heartbeat file is missing. */
const REMIND: Millis = 60_000;

/** The file that main makes when it is done. One from before `podStart` belongs to an earlier Pod, and counts only once it is touched. */
export class DoneFile {
  readonly #path: string;
  readonly #old: string | undefined;

  constructor(path: string, podStart: Millis | undefined) {
    const first = stampOf(path);
    this.#path = path;
    this.#old = first !== undefined && first.mtime < (podStart ?? 0) ? first.identity : undefined;
  }

  get isOld(): boolean {
    return this.#old !== undefined;
  }

  /** Whether it is there now. */
  look(): boolean {
    const now = stampOf(this.#path)?.identity;
    return now !== undefined && now !== this.#old;
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

interface Beat {
  readonly identity: string;
  /** How long the file has not changed, by posidle's own clock. */
  readonly standing: Millis;
  /** The file may be from before main's start. */
  readonly isOld: boolean;
}

/** A file that main refreshes while it runs. */
export class HeartbeatFile {
  readonly #heartbeat: Heartbeat;
  #beat: Beat | undefined;
  #wasThere = false;
  #lookedAt = performance.now();
  #missedAt = this.#lookedAt;

  constructor(heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat;
    const first = stampOf(heartbeat.path);
    const isOld = first !== undefined && first.mtime < (heartbeat.podStart ?? Number.POSITIVE_INFINITY);
    this.#beat = first && { identity: first.identity, standing: 0, isOld };
  }

  /** Whether main has ended, as of now. */
  look(): boolean {
    const identity = stampOf(this.#heartbeat.path)?.identity;
    const now = performance.now();
    const passed = Math.min(now - this.#lookedAt, MOST_A_LOOK);
    this.#lookedAt = now;
    if (identity === undefined) {
      this.#miss(now);
      return false;
    }
    const beat = this.#beat;
    this.#beat =
      beat?.identity === identity
        ? { ...beat, standing: beat.standing + passed }
        : { identity, standing: 0, isOld: false };
    return this.#hasStopped(this.#beat);
  }

  /** A removed file does not mean that main has ended: it may come back. */
  #miss(now: Millis): void {
    const hasGone = this.#beat !== undefined;
    if (!hasGone && now - this.#missedAt < REMIND) return;
    this.#missedAt = now;
    this.#wasThere ||= hasGone;
    this.#beat = undefined;
    const { path, warn } = this.#heartbeat;
    warn(
      this.#wasThere
        ? `the heartbeat file ${path} is gone. That does not mean that main has ended: posidle waits until the file is back`
        : `the heartbeat file ${path} has never been there: posidle waits until main makes it. --heartbeat-file must name ` +
            'the file that main refreshes, on a volume that posidle mounts too',
    );
  }

  #hasStopped({ standing, isOld }: Beat): boolean {
    const { age, startTimeout } = this.#heartbeat;
    if (!isOld) return standing >= age;
    return startTimeout !== 'off' && standing >= Math.max(age, startTimeout);
  }
}

/** `identity` changes when the file is replaced, written or touched. Undefined if it is missing or unreadable. */
function stampOf(path: string): { readonly identity: string; readonly mtime: Millis } | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat && { identity: `${stat.ino} ${stat.mtimeNs}`, mtime: Number(stat.mtimeMs) };
  } catch {
    return undefined;
  }
}
