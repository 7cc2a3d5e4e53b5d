import type { Pod, PodEvent } from './kubectl.ts';

const LIMIT = 240_000;

type Missing = false | null | undefined;
export type Found<T> = Exclude<T, Missing>;

/** A Pod as it was seen last. */
export interface Seen extends Pod {
  readonly isGone: boolean;
}

/** The Pods of a namespace, as its events show them. */
export class Watched {
  readonly #pods = new Map<string, Seen>();
  readonly #checks = new Set<() => void>();
  #end: Error | undefined;

  all(): readonly Seen[] {
    return [...this.#pods.values()];
  }

  /** Reads the events until there are no more. */
  async follow(events: AsyncIterable<PodEvent>): Promise<void> {
    try {
      for await (const { type, object } of events) {
        this.#pods.set(object.metadata.uid, { ...object, isGone: type === 'DELETED' });
        this.#check();
      }
      this.#end = new Error('kubectl no longer watches the Pods');
    } catch (error) {
      this.#end = error as Error;
    }
    this.#check();
  }

  /** Resolves with the first value that is there. `look` sees the Pods after each event: a state that soon passes is not missed. */
  until<T>(what: string, look: (pods: readonly Seen[]) => T): Promise<Found<T>> {
    let check: () => void = () => undefined;
    const found = new Promise<Found<T>>((resolve, reject) => {
      check = () => {
        try {
          const value = look(this.all());
          if (value !== undefined && value !== null && value !== false) resolve(value as Found<T>);
          else if (this.#end !== undefined) reject(new Error(`${what}: ${this.#end.message}`));
        } catch (error) {
          reject(error);
        }
      };
      setTimeout(() => reject(new Error(`not within ${LIMIT} ms: ${what}`)), LIMIT).unref();
    });
    this.#checks.add(check);
    check();
    return found.finally(() => this.#checks.delete(check));
  }

  #check(): void {
    for (const check of this.#checks) check();
  }
}
