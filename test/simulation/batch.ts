import { Coverage } from './coverage.ts';
import { play } from './lifetime.ts';
import { planOf } from './plan.ts';

/** Seeds in a row. */
export interface Batch {
  readonly from: number;
  readonly count: number;
}

/** How a batch went. */
export interface Played {
  readonly reached: ReadonlyMap<string, number>;
  readonly failures: readonly { readonly seed: number; readonly broken: string }[];
}

export async function playBatch({ from, count }: Batch): Promise<Played> {
  const coverage = new Coverage();
  const failures: Played['failures'][number][] = [];
  for (let seed = from; seed < from + count; seed += 1) {
    const { broken } = await play(planOf(seed), false, coverage);
    if (broken !== undefined) failures.push({ seed, broken });
  }
  return { reached: coverage.counts, failures };
}
