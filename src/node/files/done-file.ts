import { type BigIntStats, statSync } from 'node:fs';

const EVERY = 200;

/** Looks for a marker that main leaves when it is done; a directory that comes later is looked into as well. */
export class DoneFile {
  readonly #path: string;
  readonly #old: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `ignoreOld`: the marker that is there now does not count. */
  constructor(path: string, ignoreOld: boolean) {
    this.#path = path;
    this.#old = ignoreOld ? this.#identity() : undefined;
  }

  /** Calls back once, as soon as the marker is there. */
  watch(found: () => void): void {
    const look = () => {
      const now = this.#identity();
      if (now === undefined || now === this.#old) return;
      this.close();
      found();
    };
    this.#timer = setInterval(look, EVERY);
    look();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Touching an old marker makes a new one of it. */
  #identity(): string | undefined {
    const stat = this.#stat();
    return stat && `${stat.ino} ${stat.mtimeNs}`;
  }

  #stat(): BigIntStats | undefined {
    try {
      return statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }
}
