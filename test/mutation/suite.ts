import { inspect } from 'node:util';

// Takes vitest's place in the bundle: the same tests in one process, without its start of several seconds.
export { expect } from 'vitest';

type Body = (...args: readonly unknown[]) => unknown;

const tests: { readonly title: string; readonly run: () => unknown }[] = [];

export function describe(_title: string, body: () => void): void {
  body();
}

export function test(title: string, body: Body): void {
  tests.push({ title, run: () => body() });
}

test.each =
  (rows: readonly unknown[]) =>
  (title: string, body: Body): void => {
    for (const row of rows) {
      const args: readonly unknown[] = Array.isArray(row) ? row : [row];
      tests.push({ title: `${title} ${inspect(args[0], { depth: 0 })}`, run: () => body(...args) });
    }
  };

/** The first failing test so far, or undefined. Runs each test once. */
export async function firstFailure(): Promise<string | undefined> {
  for (const { title, run } of tests.splice(0)) {
    try {
      await run();
    } catch {
      return title;
    }
  }
  return undefined;
}
