import type { Millis } from '../../src/core/text/units.ts';

interface Due {
  readonly at: Millis;
  readonly order: number;
  readonly run: () => void;
}

/** Virtual time: what is due runs when time passes, and time passes only when somebody waits. */
export class Clock {
  now: Millis = 0;
  /** How far the wall clock has been moved. */
  jumped: Millis = 0;
  readonly #heap: Due[] = [];
  #order = 0;

  get wall(): Millis {
    return this.now + this.jumped;
  }

  /** When the next thing is due. */
  get nextAt(): Millis {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  in(wait: Millis, run: () => void): void {
    this.at(this.now + wait, run);
  }

  at(at: Millis, run: () => void): void {
    this.#order += 1;
    const heap = this.#heap;
    const due = { at: Math.max(at, this.now), order: this.#order, run };
    let index = heap.push(due) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Due;
      if (!isBefore(due, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = due;
  }

  /** Runs what is due until the instant, or until `stop` says so. */
  pass(until: Millis, stop: () => boolean = () => false): void {
    for (let first = this.#heap[0]; first !== undefined && first.at <= until; first = this.#heap[0]) {
      if (stop()) return;
      this.#take();
      this.now = Math.max(this.now, first.at);
      first.run();
    }
    if (!stop()) this.now = Math.max(this.now, until);
  }

  #take(): void {
    const heap = this.#heap;
    const last = heap.pop() as Due;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Due, heap[child] as Due)) child += 1;
      if (!isBefore(heap[child] as Due, last)) break;
      heap[index] = heap[child] as Due;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
