import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpSink, SinkPhase } from '../support/http-sink.ts';

/** Seconds. */
const UP = [100, 200] as const;
const DOWN = [30, 60] as const;

/** A destination that is away for half a minute to a minute, every few minutes, in turn with an answer and without. */
export class Flapping {
  outages = 0;
  readonly #sink: HttpSink;
  readonly #end = new AbortController();

  constructor(sink: HttpSink) {
    this.#sink = sink;
    void this.#flap().catch(() => undefined);
  }

  goDown(): void {
    const phases: readonly SinkPhase[] = ['refusing', 'dead'];
    this.#sink.phase = phases[this.outages % phases.length] as SinkPhase;
    this.outages += 1;
  }

  /** From here on nothing but `goDown` and `comeBack` changes it. */
  settle(): void {
    this.#end.abort();
  }

  comeBack(): void {
    this.#sink.phase = 'up';
  }

  async #flap(): Promise<void> {
    for (;;) {
      await this.#wait(UP);
      this.goDown();
      await this.#wait(DOWN);
      this.comeBack();
    }
  }

  async #wait([least, most]: readonly [number, number]): Promise<void> {
    const { signal } = this.#end;
    await sleep(1_000 * (least + Math.random() * (most - least)), undefined, { signal });
  }
}
