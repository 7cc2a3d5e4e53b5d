import { play } from '../simulation/lifetime.ts';
import { planOf } from '../simulation/plan.ts';

const LIFETIMES = 200;

/** The first promise that is broken; undefined if none is. */
export async function simulate(): Promise<string | undefined> {
  for (let seed = 1; seed <= LIFETIMES; seed += 1) {
    const { broken } = await play(planOf(seed));
    if (broken !== undefined) return `simulation: ${broken.split('\n')[0]}`;
  }
  return undefined;
}
