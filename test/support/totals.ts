import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

/**
 * Beside vitest's own reporter: one line says what was skipped, and why; under CI=true that is a failure. TOTALS names a file that
 * gets "PASSED FAILED" of this run, and a line for each test that failed, with why: `.ci/run` adds up the one and ends with the other.
 */
export default class Totals implements Reporter {
  /** A run with a title filter omits the other tests on purpose. */
  #isPart = false;

  onInit(vitest: Vitest): void {
    this.#isPart = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    for (const test of tests) {
      const { log } = test.meta();
      if (log !== undefined) console.log(`${test.fullName}\n${log}`);
    }
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const skipped = tests.filter(
      (test) => test.result().state === 'skipped' && !(this.#isPart && noteOf(test) === undefined),
    );
    const broken = modules.filter((module) => module.errors().length > 0);
    const failures = [
      ...tests
        .filter((test) => test.result().state === 'failed')
        .map((test) => `${nameOf(test)}: ${reasonOf(test.result().errors)}`),
      ...broken.map((module) => `${module.relativeModuleId}: ${reasonOf(module.errors())}`),
    ];
    const isCi = process.env.CI === 'true';
    if (skipped.length > 0)
      console.log(
        `${skipped.length} skipped${isCi ? ', which is a failure here' : ''}: ${reasonsOf(skipped)}\n`,
      );
    if (isCi && skipped.length > 0) process.exitCode = 1;
    if (isCi) failures.push(...skipped.map(nameOf));
    if (process.env.TOTALS !== undefined)
      appendFileSync(
        process.env.TOTALS,
        [`${count('passed')} ${failures.length}`, ...failures.map((name) => `failed: ${name}`), ''].join(
          '\n',
        ),
      );
  }
}

/** Characters of a failure's reason: what is at the end of a long log is all that some readers see. */
const REASON = 2_000;
const reasonOf = (errors: readonly { readonly message: string }[] = []) =>
  errors.map(({ message }) => message.replaceAll(/\s+/g, ' ').slice(0, REASON)).join('; ');
const nameOf = (test: TestCase) => `${test.module.relativeModuleId} > ${test.fullName}`;

function reasonsOf(skipped: readonly TestCase[]): string {
  const counts = new Map<string, number>();
  for (const test of skipped) {
    const why = noteOf(test) ?? `no reason is given by ${test.module.relativeModuleId}`;
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts].map(([why, count]) => `${count} as ${why}`).join('; ');
}

function noteOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === 'skipped' ? result.note : undefined;
}
