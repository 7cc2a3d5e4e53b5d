import { Worker } from 'node:worker_threads';
import { type Batch, type Played, playBatch } from './batch.ts';

/** Plays batches in so many threads at once, or in this one where one is enough. */
export class Crew {
  readonly #workers: readonly Worker[];

  /** `script`: what a thread runs. */
  constructor(jobs: number, script: URL) {
    this.#workers = jobs > 1 ? Array.from({ length: jobs }, () => new Worker(script)) : [];
  }

  /** Hands out batches until there are no more. */
  async play(next: () => Batch | undefined, done: (played: Played) => void): Promise<void> {
    const players = this.#workers.map((worker) => (batch: Batch) => ask(worker, batch));
    await Promise.all(
      (players.length > 0 ? players : [playBatch]).map(async (player) => {
        for (let batch = next(); batch !== undefined; batch = next()) done(await player(batch));
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
