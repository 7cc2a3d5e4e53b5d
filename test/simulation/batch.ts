import { Coverage } from './coverage.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';

/** Seeds in a row. */
export interface Batch {
  readonly from: number;
  readonly count: number;
}

/** How a batch went, which ends at its first broken promise. */
export interface Played {
  readonly reached: ReadonlyMap<string, number>;
  readonly failure: { readonly seed: number; readonly broken: string } | undefined;
}

export async function playBatch({ from, count }: Batch): Promise<Played> {
  const coverage = new Coverage();
  for (let seed = from; seed < from + count; seed += 1) {
    const { broken } = await play(planOf(seed), false, coverage);
    if (broken !== undefined) return { reached: coverage.counts, failure: { seed, broken } };
  }
  return { reached: coverage.counts, failure: undefined };
}
