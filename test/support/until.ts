import { setTimeout as sleep } from 'node:timers/promises';

export interface Deadline {
  within?: number;
  every?: number;
}

/** Polls until `condition` gives something truthy, and gives that; past the deadline it throws with `what`. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { within = 30_000, every = 20 }: Deadline = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + within;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (performance.now() > end) throw new Error(`not within ${within} ms: ${what}`);
    await sleep(every);
  }
}
