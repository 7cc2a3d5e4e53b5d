import { inspect } from 'node:util';

// Takes vitest's place in the bundle: the same tests in one process, again and again.
export { expect } from 'vitest';

type Body = (...args: readonly unknown[]) => unknown;

interface Test {
  readonly title: string;
  readonly run: () => unknown;
  /** The mutants in whose places it has come. */
  readonly reached: Set<number>;
}

const tests: Test[] = [];
/** At first the mutants that are reached as the modules load: these count from a new start only. */
let reached: Set<number> | undefined = new Set<number>();
const AT_LOAD = reached;
/** Of the environment, if it counts as the modules load. */
let current = Number(process.env.MUTANT);

Object.assign(globalThis, {
  isMutant(id: number): boolean {
    reached?.add(id);
    return id === current;
  },
});

export function describe(_title: string, body: () => void): void {
  body();
}

const add = (title: string, run: () => unknown) => void tests.push({ title, run, reached: new Set() });

export function test(title: string, body: Body): void {
  add(title, () => body());
}

type Each = (title: string, args: readonly unknown[], body: Body) => unknown;

const eachBy =
  (addOne: Each) =>
  (rows: readonly unknown[]) =>
  (title: string, body: Body): void => {
    for (const row of rows) {
      const args: readonly unknown[] = Array.isArray(row) ? row : [row];
      addOne(`${title} ${inspect(args[0], { depth: 0 })}`, args, body);
    }
  };

describe.each = eachBy((_, args, body) => body(...args));
test.each = eachBy((title, args, body) => add(title, () => body(...args)));

/** Plays all with the mutant of the environment, and then one mutant after the other, as the parent asks. */
export async function serve(simulate: () => Promise<string | undefined>): Promise<void> {
  const first = await firstFailure(tests);
  process.send?.({ why: first ?? (current >= 0 ? await simulate() : undefined) });
  reached = undefined;
  process.on('message', async (id: number) => {
    current = id;
    const why = await firstFailure(tests.filter((one) => one.reached.has(id)));
    process.send?.({ why: why ?? (AT_LOAD.has(id) ? 'at load' : await simulate()) });
  });
}

async function firstFailure(some: readonly Test[]): Promise<string | undefined> {
  for (const one of some) {
    if (reached !== undefined) reached = one.reached;
    try {
      await one.run();
    } catch {
      return one.title;
    }
  }
  return undefined;
}
