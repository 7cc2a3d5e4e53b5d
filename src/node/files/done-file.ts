import { stampOf } from './stamp.ts';

const EVERY = 200;

/** Looks for a marker that main leaves when it is done; a directory that comes later is looked into as well. */
export class DoneFile {
  readonly #path: string;
  readonly #old: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `ignoreOld`: the marker that is there now does not count, until it is touched. */
  constructor(path: string, ignoreOld: boolean) {
    this.#path = path;
    this.#old = ignoreOld ? stampOf(path)?.identity : undefined;
  }

  /** Calls back once, as soon as the marker is there. */
  watch(found: () => void): void {
    const look = () => {
      const now = stampOf(this.#path)?.identity;
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
}
