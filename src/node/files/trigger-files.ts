import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Millis } from '../../core/text/units.ts';

/** The time between two looks. It polls, because file events miss the changes of other nodes on a network volume. */
const EVERY: Millis = 1_000;
/** Allows for two clocks of one node, and for file systems that keep whole seconds. */
const TOLERANCE: Millis = 1_000;
/** At most this much of the time between two looks counts, because a frozen node stops main as well. */
const MOST_A_LOOK: Millis = 2_000;
/** How often posidle warns that the heartbeat file is missing. */
const REMIND: Millis = 60_000;

/** Watches for the file that main makes when it is done. A file from before `podStart` belongs to an earlier Pod, and counts only once it is touched. */
export class DoneFile {
  readonly isOld: boolean;
  readonly #timer: NodeJS.Timeout;
  /** Only brings the next look forward. */
  #watching: FSWatcher | undefined;

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
    const unwatch = () => {
      this.#watching?.close();
      this.#watching = undefined;
    };
    const watchAndLook = () => {
      try {
        // Until one change, since a busy directory reports thousands a second. chokidar would first list all its files.
        this.#watching ??= watch(dirname(path), { persistent: false }, () => {
          unwatch();
          look();
        }).on('error', unwatch);
      } catch {
        // It is not there yet, or the system refuses more watches.
      }
      look();
    };
    this.#timer = setInterval(watchAndLook, EVERY);
    watchAndLook();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watching?.close();
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
  readonly ended: () => void;
  readonly warn: (text: string) => void;
}

interface Beat {
  readonly identity: string;
  /** How long the file has not changed, by posidle's own clock. */
  readonly standing: Millis;
  /** The file may be from before main's start. */
  readonly isOld: boolean;
}

/** Watches a file that main refreshes while it runs. */
export class HeartbeatFile {
  readonly #heartbeat: Heartbeat;
  readonly #timer: NodeJS.Timeout;
  #beat: Beat | undefined;
  #wasThere = false;
  #lookedAt = performance.now();
  #missedAt = this.#lookedAt;

  constructor(heartbeat: Heartbeat) {
    this.#heartbeat = heartbeat;
    const first = stampOf(heartbeat.path);
    const isOld = first !== undefined && first.mtime < (heartbeat.podStart ?? Number.POSITIVE_INFINITY);
    this.#beat = first && { identity: first.identity, standing: 0, isOld };
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
