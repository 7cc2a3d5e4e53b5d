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

type Each = (title: string, args: readonly unknown[], body: Body) => unknown;

const eachBy =
  (add: Each) =>
  (rows: readonly unknown[]) =>
  (title: string, body: Body): void => {
    for (const row of rows) {
      const args: readonly unknown[] = Array.isArray(row) ? row : [row];
      add(`${title} ${inspect(args[0], { depth: 0 })}`, args, body);
    }
  };

describe.each = eachBy((_, args, body) => body(...args));
test.each = eachBy((title, args, body) => tests.push({ title, run: () => body(...args) }));

export { test as it };

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
