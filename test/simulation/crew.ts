import { Worker } from 'node:worker_threads';
import type { Batch, Played } from './batch.ts';

/** Plays batches in so many threads at once. */
export class Crew {
  readonly #workers: readonly Worker[];

  /** `script`: what a thread runs. */
  constructor(jobs: number, script: URL) {
    this.#workers = Array.from({ length: jobs }, () => new Worker(script));
  }

  /** Hands out batches until there are no more. */
  async play(next: () => Batch | undefined, done: (played: Played) => void): Promise<void> {
    await Promise.all(
      this.#workers.map(async (worker) => {
        for (let batch = next(); batch !== undefined; batch = next()) done(await ask(worker, batch));
      }),
    );
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

function ask(worker: Worker, batch: Batch): Promise<Played> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (played: Played) => {
      worker.off('error', reject);
      resolve(played);
    });
    worker.postMessage(batch);
  });
}
