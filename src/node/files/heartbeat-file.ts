import { statSync } from 'node:fs';
import { formatDuration, type Millis } from '../../core/text/units.ts';

const EVERY: Millis = 200;
/** What stops posidle, a node that is frozen, stops main as well: of the time between two looks only so much counts. */
const MOST_A_LOOK: Millis = 1_000;

/** That the file is not there is told this often. */
const REMIND: Millis = 60_000;

export interface Heartbeat {
  readonly path: string;
  /** Main has ended when it has not refreshed its file for so long. */
  readonly age: Millis;
  /** A file that was there before posidle and is never refreshed may be an earlier Pod's: it counts only after so long. */
  readonly startTimeout: Millis | 'off';
}

export interface HeartbeatCalls {
  readonly ended: () => void;
  readonly warn: (text: string) => void;
}

/** The last beat that was seen. */
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
  readonly #calls: HeartbeatCalls;
  readonly #timer: NodeJS.Timeout;
  #beat: Beat | undefined;
  #wasThere = false;
  #lookedAt = performance.now();
  /** When its absence was told last. */
  #missedAt = this.#lookedAt;

  constructor(heartbeat: Heartbeat, calls: HeartbeatCalls) {
    this.#heartbeat = heartbeat;
    this.#calls = calls;
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
    this.#calls.ended();
  }

  /** Whoever removes the file may make it again: that main has ended is not known. */
  #miss(now: Millis): void {
    const hasGone = this.#beat !== undefined;
    if (!hasGone && now - this.#missedAt < REMIND) return;
    this.#missedAt = now;
    this.#wasThere ||= hasGone;
    this.#beat = undefined;
    const { path } = this.#heartbeat;
    this.#calls.warn(
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

/** What it waits for, in words. */
export function describeHeartbeat({ path, age }: Pick<Heartbeat, 'path' | 'age'>): string {
  return `${path} has not been refreshed for ${formatDuration(age)}`;
}

/** What changes when a file is made anew, written or touched. */
interface Stamp {
  readonly identity: string;
  /** Since the epoch, by the clock of whoever wrote it. */
  readonly mtime: Millis;
}

/** undefined: the file is not there, or cannot be looked at. */
export function stampOf(path: string): Stamp | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat && { identity: `${stat.ino} ${stat.mtimeNs}`, mtime: Number(stat.mtimeMs) };
  } catch {
    return undefined;
  }
}
