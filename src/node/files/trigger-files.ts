import { statSync } from 'node:fs';
import type { Millis } from '../../core/text/units.ts';

/** Between two looks: no word of the system is waited for, which tells nothing of another node's changes on a network volume. */
const EVERY: Millis = 100;
/** Two clocks of one node, and a file system that keeps whole seconds. */
const TOLERANCE: Millis = 1_000;
/** What stops posidle, a node that is frozen, stops main as well: of the time between two looks only so much counts. */
const MOST_A_LOOK: Millis = 1_000;
/** That the heartbeat file is not there is told this often. */
const REMIND: Millis = 60_000;

/** Looks for a marker that main leaves when it is done. One that was made before `podStart` is an earlier Pod's: it does not count until it is touched. */
export class DoneFile {
  readonly isOld: boolean;
  readonly #timer: NodeJS.Timeout;

  constructor(path: string, found: () => void, podStart: Millis | undefined) {
    const first = stampOf(path);
    this.isOld = first !== undefined && first.mtime < (podStart ?? 0);
    const old = this.isOld ? first?.identity : undefined;
    const look = () => {
      const now = stampOf(path)?.identity;
      if (now === undefined || now === old) return;
      this.close();
      found();
    };
    this.#timer = setInterval(look, EVERY);
    look();
  }

  close(): void {
    clearInterval(this.#timer);
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

interface Heartbeat {
  readonly path: string;
  /** Main has ended when it has not refreshed its file for so long. */
  readonly age: Millis;
  /** A file that was there before posidle and is never refreshed may be an earlier Pod's: it counts only after so long. */
  readonly startTimeout: Millis | 'off';
  readonly ended: () => void;
  readonly warn: (text: string) => void;
}

interface Beat {
  readonly identity: string;
  /** For how long it has been the last one, by posidle's own clock. */
  readonly standing: Millis;
  /** It was there before posidle. */
  readonly isOld: boolean;
}

/** Looks at a file that main refreshes as long as it lives. */
export class HeartbeatFile {
  readonly #heartbeat: Heartbeat;
  readonly #timer: NodeJS.Timeout;
  #beat: Beat | undefined;
  #wasThere = false;
  #lookedAt = performance.now();
  #missedAt = this.#lookedAt;

  constructor(heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat;
    const identity = stampOf(heartbeat.path)?.identity;
    this.#beat = identity === undefined ? undefined : { identity, standing: 0, isOld: true };
    this.#timer = setInterval(() => this.#look(), EVERY);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const identity = stampOf(this.#heartbeat.path)?.identity;
    const now = performance.now();
    const passed = Math.min(now - this.#lookedAt, MOST_A_LOOK);
    this.#lookedAt = now;
    if (identity === undefined) {
      this.#miss(now);
      return;
    }
    const beat = this.#beat;
    this.#beat =
      beat?.identity === identity
        ? { ...beat, standing: beat.standing + passed }
        : { identity, standing: 0, isOld: false };
    if (!this.#hasStopped(this.#beat)) return;
    this.close();
    this.#heartbeat.ended();
  }

  /** Whoever removes the file may make it again: that main has ended is not known. */
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
        : `the heartbeat file ${path} has never been there: posidle waits until main makes it. \`heartbeatFile\` must name ` +
            'the file that main refreshes, on a volume that posidle mounts too',
    );
  }

  #hasStopped({ standing, isOld }: Beat): boolean {
    const { age, startTimeout } = this.#heartbeat;
    if (!isOld) return standing >= age;
    return startTimeout !== 'off' && standing >= Math.max(age, startTimeout);
  }
}

/** `identity` changes when a file is made anew, written or touched; undefined: it is not there, or cannot be looked at. */
function stampOf(path: string): { readonly identity: string; readonly mtime: Millis } | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat && { identity: `${stat.ino} ${stat.mtimeNs}`, mtime: Number(stat.mtimeMs) };
  } catch {
    return undefined;
  }
}
